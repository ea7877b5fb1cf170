"""The four kinds of memories."""

from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db import models

from memweb.memories.kinds import Kind
from memweb.memories.models.base import Memory, field_texts
from memweb.memories.models.labels import Concept, FilePath, FileRole

HEADING_LENGTH = 200


class Observation(Memory):
    """What an agent noted while it worked."""

    kind = Kind.OBSERVATION
    title_fields = ("title",)
    body_fields = ("subtitle", "narrative", "facts", "text")

    type = models.TextField(blank=True, default="", help_text="such as bugfix, feature, decision, discovery")
    title = models.TextField(blank=True, default="")
    subtitle = models.TextField(blank=True, default="")
    narrative = models.TextField(blank=True, default="")
    text = models.TextField(blank=True, default="")
    facts = models.JSONField(default=list, blank=True)
    concepts = models.ManyToManyField(Concept, through="ObservationConcept", blank=True, related_name="observations")
    files = models.ManyToManyField(FilePath, through="ObservationFile", blank=True, related_name="observations")

    class Meta(Memory.Meta):
        indexes = [
            *Memory.Meta.indexes,
            models.Index(fields=["type", "created_at", "id"], name="observation_type_time"),
        ]

    def clean(self) -> None:
        super().clean()
        if not isinstance(self.facts, list):
            raise ValidationError({"facts": 'Facts are a list, such as ["one", "two"].'})

    @property
    def heading(self) -> str:
        texts = (self.title, self.subtitle, self.narrative, self.text)
        return first_line(*texts) or first_line(*field_texts(self.facts)) or "(empty observation)"

    def label_texts(self) -> list[str]:
        if not self.pk:
            return []
        concepts = [concept.name for concept in self.concepts.all()]
        return [*super().label_texts(), *concepts, *(file.path for file in self.files.all())]

    def label_ids(self) -> dict[str, list[int]]:
        if not self.pk:
            return {}
        concept_ids = [concept.pk for concept in self.concepts.all()]
        return {**super().label_ids(), "concept_ids": concept_ids, "file_ids": [file.pk for file in self.files.all()]}


class SessionSummary(Memory):
    """What an agent said of a session when it ended."""

    kind = Kind.SUMMARY
    title_fields = ("request",)
    body_fields = ("investigated", "learned", "completed", "next_steps", "notes")

    request = models.TextField(blank=True, default="")
    investigated = models.TextField(blank=True, default="")
    learned = models.TextField(blank=True, default="")
    completed = models.TextField(blank=True, default="")
    next_steps = models.TextField(blank=True, default="")
    notes = models.TextField(blank=True, default="")
    files = models.ManyToManyField(FilePath, through="SummaryFile", blank=True, related_name="summaries")

    class Meta(Memory.Meta):
        verbose_name_plural = "session summaries"

    @property
    def heading(self) -> str:
        texts = (self.request, self.completed, self.learned, self.investigated, self.next_steps, self.notes)
        return first_line(*texts) or "(empty summary)"

    def label_texts(self) -> list[str]:
        return [*super().label_texts(), *(file.path for file in self.files.all())] if self.pk else []

    def label_ids(self) -> dict[str, list[int]]:
        return {**super().label_ids(), "file_ids": [file.pk for file in self.files.all()]} if self.pk else {}


class UserPrompt(Memory):
    """What a person asked an agent."""

    kind = Kind.PROMPT
    body_fields = ("text",)

    text = models.TextField(blank=True, default="")

    @property
    def heading(self) -> str:
        return first_line(self.text) or "(empty prompt)"


class Drawer(Memory):
    """A verbatim passage: a chunk of a file or of a conversation."""

    kind = Kind.DRAWER
    body_fields = ("text",)

    text = models.TextField(blank=True, default="")
    room = models.TextField(blank=True, default="", help_text="a topic inside the project")
    speaker = models.TextField(blank=True, default="")
    file = models.ForeignKey(FilePath, null=True, blank=True, on_delete=models.PROTECT, related_name="drawers")
    chunk_index = models.IntegerField(null=True, blank=True)

    class Meta(Memory.Meta):
        indexes = [
            *Memory.Meta.indexes,
            models.Index(fields=["file", "chunk_index"], name="drawer_file_chunk"),
            models.Index(fields=["room", "created_at", "id"], name="drawer_room_time"),
        ]

    @property
    def heading(self) -> str:
        return first_line(self.text) or "(empty passage)"

    def label_texts(self) -> list[str]:
        paths = [self.file.path] if self.file else []
        return [*super().label_texts(), *paths, *filter(None, (self.room, self.speaker))]

    def label_ids(self) -> dict[str, list[int]]:
        return {**super().label_ids(), "file_ids": [self.file_id] if self.file_id else []}


class FileLink(models.Model):
    """That a memory mentions a file, and what the agent did to it."""

    file = models.ForeignKey(FilePath, on_delete=models.PROTECT, related_name="%(class)ss")
    role = models.CharField(max_length=10, choices=FileRole.choices)

    memory_field: ClassVar[str]

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.file} ({self.role})"


class ObservationFile(FileLink):
    observation = models.ForeignKey(Observation, on_delete=models.CASCADE, related_name="file_links", db_index=False)
    memory_field = "observation"

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["observation", "file", "role"], name="observation_file_unique"),
            models.CheckConstraint(
                condition=models.Q(role__in=["read", "modified"]), name="observation_file_role_known"
            ),
        ]


class SummaryFile(FileLink):
    summary = models.ForeignKey(SessionSummary, on_delete=models.CASCADE, related_name="file_links", db_index=False)
    memory_field = "summary"

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["summary", "file", "role"], name="summary_file_unique"),
            models.CheckConstraint(condition=models.Q(role__in=["read", "modified"]), name="summary_file_role_known"),
        ]


class ObservationConcept(models.Model):
    """That an observation has a concept."""

    observation = models.ForeignKey(Observation, on_delete=models.CASCADE, related_name="concept_links", db_index=False)
    concept = models.ForeignKey(Concept, on_delete=models.CASCADE, related_name="observation_links")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["observation", "concept"], name="observation_concept_unique")]

    def __str__(self) -> str:
        return f"{self.observation_id}: {self.concept}"


MEMORY_MODELS: dict[Kind, type[Memory]] = {
    Kind.DRAWER: Drawer,
    Kind.OBSERVATION: Observation,
    Kind.PROMPT: UserPrompt,
    Kind.SUMMARY: SessionSummary,
}


def memory_model(kind: Kind) -> type[Any]:
    """Return the model of a kind."""
    return MEMORY_MODELS[kind]


def first_line(*texts: str) -> str:
    """Return the first non-empty line of the first text that has one, shortened to a heading."""
    for text in texts:
        for line in text.splitlines():
            if line.strip():
                line = line.strip()
                return line if len(line) <= HEADING_LENGTH else line[: HEADING_LENGTH - 1].rstrip() + "…"
    return ""
