"""Pages of lists that are counted anew each time: the next page begins after the last row of the one before."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

_PLACE = re.compile(r"(-?\d{1,18})~(\d{1,18})", re.ASCII)


class Ranked(Protocol):
    """A row of a list that is ordered by rank, then by name; ids tell rows of the same rank and name apart."""

    @property
    def rank(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def id(self) -> int: ...


T = TypeVar("T", bound=Ranked)


@dataclass(frozen=True, slots=True)
class Place:
    """A row as it stood when it was shown: its rank and its id."""

    rank: int
    id: int

    def __str__(self) -> str:
        return f"{self.rank}~{self.id}"


def read_place(text: str) -> Place | None:
    """Return the place that an address names, None for the beginning; raises ValueError when it is damaged."""
    if not text:
        return None
    found = _PLACE.fullmatch(text)
    if not found:
        raise ValueError(f"after: “{text[:40]}” is not a place in the list; open the first page of it")
    return Place(int(found[1]), int(found[2]))


def in_order(rows: Sequence[T]) -> list[T]:
    """Return rows in the order of their list."""
    return sorted(rows, key=_key)


def page_after(rows: Sequence[T], place: Place | None, size: int) -> tuple[list[T], Place | None, int]:
    """Return the rows after a place, the place after which more come (None at the end), and how many come there.

    `rows` are in order. A row that is no longer there lets the page begin with the first row of its rank, so that rows
    may come twice but none is left out.
    """
    start = 0
    if place is not None:
        name, id = next(((row.name, row.id) for row in rows if row.id == place.id), ("", -1))
        start = bisect_right(rows, (place.rank, name, id), key=_key)
    shown = list(rows[start : start + size])
    more = len(rows) - start - len(shown)
    return shown, Place(shown[-1].rank, shown[-1].id) if shown and more else None, more


def _key(row: Ranked) -> tuple[int, str, int]:
    return row.rank, row.name, row.id
