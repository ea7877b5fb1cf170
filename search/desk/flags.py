"""What detectors say of memories."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from memweb.memories.kinds import Ref
from memweb.memories.models import Memory


class Queue(StrEnum):
    """Why somebody should look; each is a queue of the desk."""

    DUPLICATES = "duplicates"
    SECRETS = "secrets"
    DOUBTFUL = "doubtful"
    STALE = "stale"


@dataclass(frozen=True, slots=True)
class Flag:
    """A reason to look at the memory `ref`.

    `rule` names the reason within its queue, such as "empty title". `field` is the value of the memory (as in
    `curation.values`) that shows it, `start` and `end` count code points in its text (`differences.as_text`); both 0
    where it is no single place. `other` is the second memory of a pair, `score` how sure it is, from 0 to 1.
    """

    queue: Queue
    rule: str
    ref: Ref
    field: str = ""
    start: int = 0
    end: int = 0
    other: Ref | None = None
    score: float = 1.0


Detector = Callable[[Sequence[Memory]], Iterator[Flag]]
"""Yields what there is to say of memories of one kind, read with `for_indexing`; it may query others, a fixed number
of statements for each call."""
