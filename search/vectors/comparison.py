"""Exact comparison: the cosine of one vector with all stored ones, or with those of some memories."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from memweb.memories.kinds import Kind
from search.vectors.embedding import Vectors

Key = tuple[Kind, int]
Positions = NDArray[np.int64]

# Stands in `VectorRows.kinds` for a row that must not be found: removed, or without a vector.
HIDDEN = 0
_CODES = {kind: ord(kind.letter) for kind in Kind}
_KINDS = {code: kind for kind, code in _CODES.items()}
# Past this part of all rows, computing with every row is faster than gathering those that are wanted.
_WORTH_GATHERING = 1 / 3
# From so many rows on, the threads that multiply matrices gain more than they wait for each other on a busy machine.
_WORTH_ALL_CORES = 30_000
# Rows between two checks: some milliseconds, and enough for all cores.
_ROWS_AT_ONCE = 40_000
# Looking up an id costs as much as marking so many memories; marks take a byte for each id up to the last.
_LOOKED_UP_EACH = 10
_MOST_MARKED = 20_000_000


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory near a vector: the cosine of its best chunk, and which chunk that is."""

    kind: Kind
    id: int
    similarity: float
    chunk: int


def kind_code(letter: str) -> int:
    """Return what stands for a kind in `VectorRows.kinds`; HIDDEN for a letter that is no kind's."""
    return ord(letter) if len(letter) == 1 and ord(letter) in _KINDS else HIDDEN


@dataclass(frozen=True)
class VectorRows:
    """Stored vectors and whose they are, in the order of their embedding ids. Never changed, so threads may share it.

    `ids` and `memories` are int64, `kinds` uint8, `chunks` integers, all of length n; `vectors` is (n, dimension)
    float32 with rows of length 1. `check` is called right before vectors are touched; it raises an OSError when that
    must not be done.
    """

    ids: NDArray[np.int64]
    kinds: NDArray[np.uint8]
    memories: NDArray[np.int64]
    chunks: NDArray[np.integer]
    vectors: Vectors
    check: Callable[[], None] = field(default=lambda: None, compare=False)

    def nearest(
        self, vector: Vectors, limit: int, allowed: Mapping[Kind, Sequence[int]] | None = None
    ) -> list[Neighbour]:
        """Return the memories nearest to a vector of length 1, best first; with `allowed`, only of these ids."""
        if limit <= 0:
            return []
        if allowed is None:
            scores = self._all_scores(vector)
            scores[self._hidden] = -np.inf
            return self._best(scores, None, limit)
        positions = self._positions(allowed)
        return self._best(self._scores(vector, positions), positions, limit)

    def similarities(self, vector: Vectors, keys: Sequence[Key]) -> dict[Key, float]:
        """Return the cosine of the best chunk of each of these memories that has a vector."""
        ids: dict[Kind, list[int]] = {}
        for kind, id in keys:
            ids.setdefault(kind, []).append(id)
        positions = self._positions(ids)
        found: dict[Key, float] = {}
        columns = (self.kinds[positions], self.memories[positions], self._scores(vector, positions))
        for code, memory, score in zip(*(column.tolist() for column in columns), strict=True):
            key = _KINDS[code], memory
            if score > found.get(key, -np.inf):
                found[key] = score
        return found

    def nearest_of(self, vector: Vectors, embedding_ids: Sequence[int], limit: int) -> list[Neighbour]:
        """Return the memories of some embeddings, nearest first; unknown and removed embeddings are left out."""
        wanted = np.unique(np.asarray(embedding_ids, np.int64))
        places = np.searchsorted(self.ids, wanted)
        inside = places < len(self.ids)
        positions = places[inside][self.ids[places[inside]] == wanted[inside]]
        positions = positions[self.kinds[positions] != HIDDEN]
        return self._best(self._scores(vector, positions), positions, limit)

    @cached_property
    def shown(self) -> int:
        """How many rows can be found."""
        return len(self.ids) - len(self._hidden)

    @cached_property
    def _hidden(self) -> Positions:
        return np.flatnonzero(self.kinds == HIDDEN)

    @cached_property
    def _by_memory(self) -> dict[Kind, tuple[NDArray[np.int64], Positions]]:
        """For each kind the memory id of every row, ascending, and the position of that row."""
        found = {}
        for kind, code in _CODES.items():
            positions = np.flatnonzero(self.kinds == code)
            memories = self.memories[positions]
            order = np.argsort(memories, kind="stable")
            found[kind] = memories[order], positions[order]
        return found

    def _positions(self, allowed: Mapping[Kind, Sequence[int]]) -> Positions:
        """Return the rows of these memories, in order where they are to be gathered."""
        found = [self._of_kind(kind, np.asarray(ids, np.int64)) for kind, ids in allowed.items()]
        positions = np.concatenate(found) if found else np.zeros(0, np.int64)
        return np.sort(positions) if self._is_worth_gathering(positions) else positions

    def _of_kind(self, kind: Kind, wanted: NDArray[np.int64]) -> Positions:
        memories, positions = self._by_memory[kind]
        last = int(memories[-1]) if len(memories) else 0
        if len(wanted) * _LOOKED_UP_EACH > len(memories) and last < _MOST_MARKED:
            # Of many ids, marks are faster than looking up each.
            marks = np.zeros(last + 1, bool)
            marks[wanted[(wanted >= 0) & (wanted <= last)]] = True
            return positions[marks[memories]]
        wanted = np.unique(wanted)
        first = np.searchsorted(memories, wanted, "left")
        counts = np.searchsorted(memories, wanted, "right") - first
        # first[0], first[0] + 1, ... for each memory with several chunks: starts, plus a count that begins anew.
        steps = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return positions[np.repeat(first, counts) + steps]

    def _is_worth_gathering(self, positions: Positions) -> bool:
        return len(positions) <= len(self.ids) * _WORTH_GATHERING

    def _scores(self, vector: Vectors, positions: Positions) -> Vectors:
        if self._is_worth_gathering(positions):
            self.check()
            return _products(np.take(self.vectors, positions, axis=0), vector)
        return self._all_scores(vector)[positions]

    def _all_scores(self, vector: Vectors) -> Vectors:
        scores = np.empty(len(self.vectors), np.float32)
        for start in range(0, len(scores), _ROWS_AT_ONCE):
            part = slice(start, start + _ROWS_AT_ONCE)
            self.check()
            scores[part] = _products(self.vectors[part], vector)
        return scores

    def _best(self, scores: Vectors, positions: Positions | None, limit: int) -> list[Neighbour]:
        """Return the best memories by scores, which belong to these positions (None: to all rows)."""
        wanted = limit
        while True:
            count = min(wanted, len(scores))
            if count == 0:
                return []
            places = np.argpartition(scores, len(scores) - count)[-count:]
            rows = places if positions is None else positions[places]
            order = np.lexsort((rows, -scores[places]))
            found = self._grouped(rows[order], scores[places[order]])
            if len(found) >= limit or count == len(scores):
                return found[:limit]
            wanted *= 4  # several chunks of the same memories took the places

    def _grouped(self, rows: Positions, scores: Vectors) -> list[Neighbour]:
        found: dict[tuple[int, int], Neighbour] = {}
        columns = (self.kinds[rows], self.memories[rows], self.chunks[rows], scores)
        for code, memory, chunk, score in zip(*(column.tolist() for column in columns), strict=True):
            if (code, memory) not in found and code != HIDDEN:
                found[code, memory] = Neighbour(_KINDS[code], memory, score, chunk)
        return list(found.values())


def _products(vectors: Vectors, vector: Vectors) -> Vectors:
    """Return the product of each row with a vector: of many rows with all cores, of few without waiting for a core."""
    if len(vectors) > _WORTH_ALL_CORES:
        return vectors @ vector
    found: Vectors = np.einsum("ij,j->i", vectors, vector)
    return found
