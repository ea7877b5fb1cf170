"""Stored vectors: what embedding made of each text. Chroma is an index over these rows and can be thrown away."""

from django.db import models

from memweb.memories.kinds import Kind
from search.saved.models import SavedSearch

__all__ = [
    "ClosetGroup",
    "ClosetLine",
    "ClosetPointer",
    "Embedding",
    "EmbeddingModel",
    "EmbeddingTask",
    "SavedSearch",
    "TokenStates",
]

_KINDS = [(kind.letter, str(kind)) for kind in Kind]


class EmbeddingModel(models.Model):
    """A model whose vectors are stored. At most one is searched; another may be built beside it."""

    name = models.TextField(unique=True, help_text="name and version of the embedder, the way texts are cut included")
    dimension = models.PositiveSmallIntegerField()
    state_width = models.PositiveSmallIntegerField(
        default=0, help_text="numbers of each token state; 0: there are none"
    )
    is_searched = models.BooleanField(default=False)
    removals = models.BigIntegerField(default=0, help_text="grows whenever vectors are removed, never when added")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["is_searched"], condition=models.Q(is_searched=True), name="one_searched_embedding_model"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Embedding(models.Model):
    """The vector of one chunk of one memory. Never changed: another text means another row, so an id names a vector.

    A memory without any text to embed has one row with an empty vector, so that it is not looked at again and again.
    """

    model = models.ForeignKey(EmbeddingModel, on_delete=models.CASCADE, related_name="embeddings", db_index=False)
    kind = models.CharField(max_length=1, choices=_KINDS)
    memory_id = models.BigIntegerField()
    chunk = models.PositiveSmallIntegerField(default=0)
    text_hash = models.BinaryField(max_length=16, help_text="BLAKE2b of the embedded text")
    vector = models.BinaryField(help_text="float16, little-endian, of length 1; empty when there is nothing to embed")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["model", "kind", "memory_id", "chunk"], name="one_vector_for_each_chunk")
        ]

    def __str__(self) -> str:
        return f"{self.kind}{self.memory_id}.{self.chunk}"


class TokenStates(models.Model):
    """The token states of one embedded chunk, for late interaction: int8, one row of a fixed width for each token."""

    embedding = models.OneToOneField(Embedding, on_delete=models.CASCADE, primary_key=True, related_name="states")
    states = models.BinaryField()

    class Meta:
        verbose_name_plural = "token states"

    def __str__(self) -> str:
        return f"token states of {self.embedding_id}"


class EmbeddingTask(models.Model):
    """A memory that was written or removed since its vectors were last looked at; filled by triggers."""

    kind = models.CharField(max_length=1, choices=_KINDS)
    memory_id = models.BigIntegerField()
    changes = models.PositiveIntegerField(
        default=0, help_text="0 for a memory that is new; grows whenever it is changed or removed"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["kind", "memory_id"], name="one_task_for_each_memory")]
        indexes = [models.Index(fields=["id"], condition=models.Q(changes__gt=0), name="embedding_task_changed")]

    def __str__(self) -> str:
        return f"{self.kind}{self.memory_id}"


class ClosetGroup(models.Model):
    """Drawers that closet lines are made of together: those of a session, or of a file where they have no session.

    Triggers count its changes. `model` names what embedded its lines, and the way in which they are made.
    """

    key = models.CharField(max_length=24, primary_key=True, help_text="s and the session's id, or f and the file's")
    changes = models.PositiveBigIntegerField(default=1)
    built = models.BigIntegerField(default=-1, help_text="the changes that its lines know of")
    model = models.TextField(default="")

    class Meta:
        indexes = [
            models.Index(fields=["key"], condition=~models.Q(built=models.F("changes")), name="closet_group_changed")
        ]

    def __str__(self) -> str:
        return self.key


class ClosetLine(models.Model):
    """A text that tells what some drawers are about, with its vector. It lifts these drawers and is never found."""

    group = models.ForeignKey(ClosetGroup, on_delete=models.CASCADE, related_name="lines", db_index=False)
    text = models.TextField()
    text_hash = models.BinaryField(max_length=16, help_text="BLAKE2b of the text")
    vector = models.BinaryField(help_text="float16, little-endian, of length 1")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["group", "text_hash"], name="one_closet_line_for_each_text")]

    def __str__(self) -> str:
        return self.text


class ClosetPointer(models.Model):
    """That a closet line points at a drawer."""

    line = models.ForeignKey(ClosetLine, on_delete=models.CASCADE, related_name="pointers")
    drawer_id = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["drawer_id", "line"], name="one_closet_pointer_for_each_drawer")]

    def __str__(self) -> str:
        return f"{self.line_id} -> d{self.drawer_id}"
