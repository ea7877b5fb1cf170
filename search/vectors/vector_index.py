"""What an index of vectors is, and the place where it lies: the interfaces that Chroma fulfils."""

from collections.abc import Sequence
from typing import Protocol

from search.vectors.embedding import Vectors
from search.vectors.index_state import Action

# Collections of this name are memweb's; an index with others belongs to another program.
OUR_PREFIX = "memweb-"


class VectorIndex(Protocol):
    """An index of vectors by id. Every method raises IndexDamaged or IndexUnavailable."""

    def ids(self) -> set[int]: ...

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Add vectors, or replace those of known ids."""

    def remove(self, ids: Sequence[int]) -> None: ...

    def nearest(self, vectors: Vectors, limit: int) -> list[list[tuple[int, float]]]:
        """Return for each vector the nearest ids with their cosine similarity, nearest first."""

    def stored(self, ids: Sequence[int]) -> dict[int, Vectors]:
        """Return the vectors of those ids that the index holds."""


class IndexStore(Protocol):
    """Where the index lies, and how it is opened and thrown away."""

    @property
    def needs_new_process(self) -> bool:
        """Whether only a new process may begin with an empty index: this one has opened the old one."""

    def prepare(self, action: Action | None) -> str | None:
        """Do what was asked for before anything is opened; return in words what had to be set aside."""

    def open(self, name: str, model: str, others: Sequence[str]) -> VectorIndex:
        """Return the index of that name, made when missing; the others, of models no longer searched, are dropped."""

    def is_in_place(self) -> bool:
        """Whether what was opened is still what lies there: a folder may be removed or replaced while it is in use."""

    def note_opened(self) -> None:
        """Note that the index was opened and answered."""

    def condemn(self, reason: str, detail: str) -> None:
        """See to it that the index as it is now is not opened again; `detail` is what its library said."""
