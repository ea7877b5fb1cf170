"""Where memories came from: sources, import batches, and what a batch changed."""

from django.db import models


class Source(models.Model):
    """A place that memories are imported from: one claude-mem database, one git repository, ..."""

    format = models.TextField(help_text="name of the reader, such as claude-mem or git")
    location = models.TextField(help_text="absolute path")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["format", "location"], name="source_unique_format_location")]

    def __str__(self) -> str:
        return f"{self.format}: {self.location}"


class ImportBatch(models.Model):
    """One run of an import. Everything it added can be undone together."""

    class Status(models.TextChoices):
        RUNNING = "running"
        COMPLETE = "complete"
        FAILED = "failed"
        UNDONE = "undone"

    source = models.ForeignKey(Source, on_delete=models.PROTECT, related_name="batches")
    started_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.RUNNING)
    report = models.JSONField(
        default=dict, blank=True, help_text="counts, and every kind of skipped row with an example"
    )
    error = models.TextField(blank=True, default="")

    class Meta:
        verbose_name_plural = "import batches"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(status__in=["running", "complete", "failed", "undone"]),
                name="import_batch_status_known",
            )
        ]

    def __str__(self) -> str:
        return f"import {self.pk} of {self.source}"


class ImportUpdate(models.Model):
    """What a batch changed in a row that was there before, so that undoing the batch can put it back."""

    batch = models.ForeignKey(ImportBatch, on_delete=models.CASCADE, related_name="updates")
    model = models.CharField(max_length=20, help_text="kind of the memory, or session")
    row_id = models.BigIntegerField()
    before = models.JSONField(help_text="field values before the change")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["batch", "model", "row_id"], name="import_update_unique_row")]

    def __str__(self) -> str:
        return f"{self.model} {self.row_id} in batch {self.batch_id}"
