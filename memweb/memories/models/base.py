"""What all four kinds of memories have in common."""

from datetime import datetime
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import models, transaction
from django.urls import reverse

from memweb.memories.indexing import IndexedText, build_terms, label_ids_in, scope_tokens
from memweb.memories.kinds import Kind, Ref
from memweb.memories.models.imports import ImportBatch, Source
from memweb.memories.models.labels import Tag
from memweb.memories.models.projects import Project, Session
from memweb.memories.queries import TERM_COLUMNS, MemoryManager

FIRST_YEAR, LAST_YEAR = 1900, 2199


class State(models.TextChoices):
    """Whether a memory takes part in ordinary search."""

    ACTIVE = "active"
    ARCHIVED = "archived"
    TRASHED = "trashed"


class TimeQuality(models.TextChoices):
    """How far `created_at` can be trusted."""

    EXACT = "exact"
    CORRECTED = "corrected", "unit corrected"
    DOUBTFUL = "doubtful"
    UNKNOWN = "unknown"


class TermField(models.TextField):
    """A derived column of index terms, computed whenever the row is saved, bulk_create included."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.update(default="", editable=False, blank=True)
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        for key in ("default", "editable", "blank"):
            kwargs.pop(key, None)
        return name, path, args, kwargs

    def pre_save(self, model_instance: models.Model, add: bool) -> str:
        # The first of the four columns computes all of them; the others find theirs ready.
        if self.attname == TERM_COLUMNS[0] and isinstance(model_instance, Memory):
            model_instance.compute_terms()
        return str(getattr(model_instance, self.attname))


class Memory(models.Model):
    """Anything remembered. Subclasses are the four kinds; each has its own table and keyword index."""

    kind: ClassVar[Kind]
    title_fields: ClassVar[tuple[str, ...]] = ()
    body_fields: ClassVar[tuple[str, ...]] = ()

    # Without indexes of their own: the composite ones below begin with these columns.
    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="%(class)ss", db_index=False)
    session = models.ForeignKey(
        Session, null=True, blank=True, on_delete=models.SET_NULL, related_name="%(class)ss", db_index=False
    )
    created_at = models.DateTimeField(null=True, blank=True, help_text="UTC; empty when the time is unknown")
    time_quality = models.CharField(max_length=10, choices=TimeQuality.choices, default=TimeQuality.EXACT)
    prompt_number = models.IntegerField(null=True, blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.ACTIVE)
    is_noise = models.BooleanField(default=False, help_text="written by a machine for itself; hidden by default")
    pinned = models.BooleanField(default=False)
    superseded_by = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="supersedes"
    )
    note = models.TextField(blank=True, default="", help_text="the curator's note")
    # Null says that nobody called it wrong: a column without a default is added without making the table anew.
    wrong_reason = models.TextField(  # noqa: DJ001
        null=True, blank=True, help_text="why a person marked it as wrong"
    )
    tags = models.ManyToManyField(Tag, blank=True, related_name="%(class)ss")
    agent = models.TextField(blank=True, default="", help_text="type of the agent or the author")
    agent_id = models.TextField(blank=True, default="")
    model = models.TextField(blank=True, default="", help_text="language model that wrote it")
    discovery_tokens = models.BigIntegerField(null=True, blank=True, help_text="tokens spent to find it out")

    source = models.ForeignKey(
        Source, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", db_index=False
    )
    source_row = models.TextField(blank=True, default="", editable=False, help_text="which row or line of the source")
    source_key = models.CharField(
        max_length=64,
        null=True,
        blank=True,
        unique=True,
        editable=False,
        help_text="hash of what identifies it at its source",
    )
    content_hash = models.CharField(
        max_length=64, blank=True, default="", editable=False, help_text="hash of all that was imported"
    )
    source_data = models.JSONField(default=dict, blank=True, help_text="cells of the source that fit no field")
    import_batch = models.ForeignKey(
        ImportBatch, null=True, blank=True, on_delete=models.SET_NULL, related_name="%(class)ss"
    )
    updated_at = models.DateTimeField(auto_now=True)

    title_terms = TermField()
    body_terms = TermField()
    variant_terms = TermField()
    scope_terms = TermField()

    objects = MemoryManager()

    class Meta:
        abstract = True
        get_latest_by = "created_at"
        indexes = [
            models.Index(fields=["created_at", "id"], name="%(class)s_time"),
            models.Index(fields=["project", "created_at", "id"], name="%(class)s_project_time"),
            models.Index(fields=["session", "created_at", "id"], name="%(class)s_session_time"),
            models.Index(fields=["source", "source_row"], name="%(class)s_source_row"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=["active", "archived", "trashed"]), name="%(class)s_state_known"
            ),
            models.CheckConstraint(
                condition=models.Q(created_at__isnull=False) | models.Q(time_quality="unknown"),
                name="%(class)s_unknown_time_is_said",
            ),
            models.CheckConstraint(
                condition=models.Q(superseded_by__isnull=True) | ~models.Q(superseded_by=models.F("id")),
                name="%(class)s_not_superseded_by_itself",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.ref} {self.heading}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if kwargs.get("update_fields") is None:
            if self.get_deferred_fields().intersection(TERM_COLUMNS):
                # Django leaves deferred columns out of the statement; set, they are written again.
                self.compute_terms()
            super().save(*args, **kwargs)
            return
        kwargs["update_fields"] = {*kwargs["update_fields"], "updated_at"} - {*TERM_COLUMNS}
        with transaction.atomic():
            super().save(*args, **kwargs)
            self._refresh_terms()

    def get_absolute_url(self) -> str:
        return reverse("memory", args=[str(self.ref)])

    def clean(self) -> None:
        super().clean()
        # A form gives no text where there is no reason; a memory is wrong for one.
        self.wrong_reason = self.wrong_reason or None
        if self.created_at is not None:
            check_year(self.created_at)

    def _refresh_terms(self) -> None:
        """Compute the terms from the row: what this instance holds besides the saved fields may be older or unsaved."""
        row = type(self).objects.for_indexing().get(pk=self.pk)
        row.compute_terms()
        terms = {name: getattr(row, name) for name in TERM_COLUMNS}
        type(self).objects.filter(pk=self.pk).update(**terms)
        for name, value in terms.items():
            setattr(self, name, value)

    @property
    def ref(self) -> Ref:
        return Ref(self.kind, self.pk)

    @property
    def heading(self) -> str:
        """One line that stands for the memory in lists; never empty."""
        raise NotImplementedError

    @property
    def flags(self) -> list[str]:
        """States that few memories are in, as the filter `is:` names them."""
        flags = [] if self.state == State.ACTIVE else [str(self.state)]
        if self.is_noise:
            flags.append("noise")
        if self.superseded_by_id is not None:  # type: ignore[attr-defined]
            flags.append("superseded")
        if self.wrong_reason is not None:
            flags.append("wrong")
        if self.pinned:
            flags.append("pinned")
        if self.time_quality in {TimeQuality.DOUBTFUL, TimeQuality.UNKNOWN}:
            flags.append("doubtful")
        return flags

    def label_texts(self) -> list[str]:
        """Names of what is attached (concepts, files, tags), searchable like text."""
        return [tag.name for tag in self.tags.all()] if self.pk else []

    def label_ids(self) -> dict[str, list[int]]:
        """Ids of what is attached, by the names that `scope_tokens` uses."""
        return {"tag_ids": [tag.pk for tag in self.tags.all()]} if self.pk else {}

    def scope(self, label_ids: dict[str, list[int]]) -> list[str]:
        """Return the filter tokens that this memory has with these labels."""
        return scope_tokens(
            project_id=self.project_id,
            session_id=self.session_id,
            platform=self.session.platform if self.session else "",
            type=getattr(self, "type", ""),
            created_at=models.DateTimeField().to_python(self.created_at),
            flags=self.flags,
            **label_ids,
        )

    def indexed_text(self) -> IndexedText:
        """Return everything the keyword index holds of this memory."""
        title = " ".join(filter(None, (str(getattr(self, name)) for name in self.title_fields)))
        body = [text for name in self.body_fields for text in field_texts(getattr(self, name))]
        return IndexedText(title, [*body, self.note, *self.label_texts()], self.scope(self.label_ids()))

    def compute_terms(self) -> None:
        """Set the four derived columns from the present texts and attachments."""
        terms = build_terms(self.indexed_text())
        self.title_terms, self.body_terms = terms.title, terms.body
        self.variant_terms, self.scope_terms = terms.variants, terms.scope

    def compute_scope(self) -> None:
        """Set only the filter tokens, where neither texts nor labels changed; the labels are taken from the tokens."""
        self.scope_terms = " ".join(self.scope(label_ids_in(self.scope_terms)))


def check_year(moment: datetime) -> None:
    """Raise ValidationError for a time that nobody can have remembered anything at, and that pages cannot show."""
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise ValidationError(
            {"created_at": f"The year {moment.year} is not between {FIRST_YEAR} and {LAST_YEAR}; correct the time."}
        )


def field_texts(value: object) -> list[str]:
    """Return the texts of a field: a text itself, a list of facts one by one."""
    if isinstance(value, list):
        return [text for item in value for text in field_texts(item)]
    return [str(value)] if value not in (None, "") else []
