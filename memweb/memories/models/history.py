"""What people changed, so that it can be told, taken back, and kept when a source is imported again."""

from django.conf import settings
from django.db import models

from memweb.memories.kinds import Kind, Ref
from memweb.memories.models.imports import ImportBatch, Source


class ChangeSet(models.Model):
    """One act: a verb applied to one memory or many, by a person or an import."""

    made_at = models.DateTimeField(auto_now_add=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    actor = models.TextField(help_text="name of the user, or of the import, at that time")
    verb = models.CharField(max_length=20)
    summary = models.TextField(help_text="what was done, in one sentence")
    reason = models.TextField(blank=True, default="")
    undoes = models.OneToOneField("self", null=True, blank=True, on_delete=models.SET_NULL, related_name="undone_by")
    import_batch = models.OneToOneField(ImportBatch, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        indexes = [models.Index(fields=["made_at", "id"], name="changeset_time")]

    def __str__(self) -> str:
        return self.summary


class Change(models.Model):
    """What a change set did to one memory: the values that differ, before and after (`curation.values` names them).

    `before` is null for a memory that was made, `after` for one that was purged; then nothing of its texts is kept.
    """

    change_set = models.ForeignKey(ChangeSet, on_delete=models.CASCADE, related_name="changes")
    kind = models.CharField(max_length=20)
    memory_id = models.BigIntegerField()
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)

    class Meta:
        indexes = [models.Index(fields=["kind", "memory_id", "id"], name="change_memory")]
        constraints = [
            models.UniqueConstraint(fields=["change_set", "kind", "memory_id"], name="change_unique_memory_in_set")
        ]

    def __str__(self) -> str:
        return f"{self.ref} in {self.change_set_id}"

    @property
    def ref(self) -> Ref:
        return Ref(Kind(self.kind), self.memory_id)


class PurgedRow(models.Model):
    """A row of a source whose memory was purged: an import leaves it out. Holds hashes only, no texts."""

    kind = models.CharField(max_length=20)
    source = models.ForeignKey(Source, null=True, blank=True, on_delete=models.CASCADE, related_name="+")
    source_row = models.TextField(blank=True, default="")
    source_key = models.CharField(max_length=64, unique=True)
    purged_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        indexes = [models.Index(fields=["source", "source_row"], name="purgedrow_source_row")]

    def __str__(self) -> str:
        return f"{self.source_row} of {self.source_id}"


class ImportConflict(models.Model):
    """A memory that people edited here and that changed at its source as well; a person decides which holds."""

    kind = models.CharField(max_length=20)
    memory_id = models.BigIntegerField()
    batch = models.ForeignKey(ImportBatch, null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    theirs = models.JSONField(help_text="values at the source that were not taken over")
    noticed_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "memory_id"], name="import_conflict_unique_memory")]

    def __str__(self) -> str:
        return f"{self.ref} differs from its source"

    @property
    def ref(self) -> Ref:
        return Ref(Kind(self.kind), self.memory_id)


class LabelAlias(models.Model):
    """A former name of a concept or a file path: later imports that bring it get the present one."""

    class Label(models.TextChoices):
        CONCEPT = "concept"
        FILE = "file"

    label = models.CharField(max_length=10, choices=Label.choices)
    name = models.TextField()
    present_name = models.TextField()

    class Meta:
        verbose_name_plural = "label aliases"
        constraints = [
            models.UniqueConstraint(fields=["label", "name"], name="label_alias_unique_name"),
            models.CheckConstraint(condition=models.Q(label__in=["concept", "file"]), name="label_alias_label_known"),
        ]

    def __str__(self) -> str:
        return f"{self.name} → {self.present_name}"
