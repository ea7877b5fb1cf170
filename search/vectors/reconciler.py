"""Makes the vector index equal to the stored vectors: adds what is missing, removes ghosts, replaces what is stale.

An Embedding never changes, so its row id names a vector, and sets of ids say nearly everything. What they cannot say is
asked of the index itself: whether its vectors are those of the rows (a backup may have been put in the database's
place), and whether queries reach them (an index that lost part of itself counts on as if nothing had happened).
"""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np
from django.db.models import Max
from django.db.models.functions import Length

from search.models import Embedding, EmbeddingModel
from search.vectors.embedding import Vectors
from search.vectors.index_problems import IndexDamaged, IndexUnavailable
from search.vectors.index_state import Check
from search.vectors.vector_index import VectorIndex

# A batch blocks queries while it is written; its size follows what the last one took.
BATCH_SECONDS, BATCH_SECONDS_BESIDE_QUERIES = 0.2, 0.03
SMALLEST_BATCH, LARGEST_BATCH = 5, 500
CHECK_BATCH = 100
SAMPLE = 64
NEIGHBOURS = 10
# float16 rows and float32 indexes of the same vector differ by less; other vectors by far more.
STALE_BELOW = 0.998
# Of a sound graph nearly every vector is reached. More than this lost means that the graph is not whole.
MOST_UNREACHABLE = 0.05


@dataclass(frozen=True, slots=True)
class Counts:
    """How index and rows differ, by what was last seen of the rows."""

    held: int
    missing: int
    ghosts: int
    followed: int
    removals: int

    @property
    def is_equal(self) -> bool:
        return not self.missing and not self.ghosts


class Reconciler:
    """Keeps one index equal to the stored vectors of one model. Not for several threads at once.

    `is_queried`: somebody asks the index meanwhile, so batches should be small.
    """

    def __init__(self, index: VectorIndex, model: EmbeddingModel) -> None:
        self.index = index
        self.model = model
        self._held = index.ids()
        self._missing: dict[int, None] = {}
        self._ghosts: dict[int, None] = {}
        self._followed = 0
        self._removals = -1
        self._batch = 50
        self.is_queried = False

    @property
    def counts(self) -> Counts:
        return Counts(len(self._held), len(self._missing), len(self._ghosts), self._followed, self._removals)

    def look(self) -> Counts:
        """See what changed in the rows since the last time; cheap when nothing did."""
        rows = Embedding.objects.filter(model=self.model)
        removals = EmbeddingModel.objects.filter(pk=self.model.pk).values_list("removals", flat=True).first()
        if removals is None:
            raise IndexUnavailable("the model of the vector index is no longer there")
        highest = rows.aggregate(highest=Max("pk"))["highest"] or 0
        if self._removals != removals or highest < self._followed:
            present = set(rows.values_list("pk", flat=True).iterator(10_000))
            self._ghosts = dict.fromkeys(sorted(self._held - present))
            for gone in [id for id in self._missing if id not in present]:
                del self._missing[gone]
        if highest > self._followed:
            filled = rows.filter(pk__gt=self._followed, pk__lte=highest).annotate(size=Length("vector"))
            new = filled.filter(size__gt=0).order_by("pk").values_list("pk", flat=True)
            self._missing |= dict.fromkeys(id for id in new.iterator(10_000) if id not in self._held)
        self._followed, self._removals = highest, removals
        return self.counts

    def reconcile(self, seconds: float) -> Counts:
        """Work for so long on the differences, in small batches, and return what is left."""
        end = time.monotonic() + seconds
        self.look()
        while self._ghosts and time.monotonic() < end:
            self._remove(list(islice(self._ghosts, CHECK_BATCH)))
        while self._missing and time.monotonic() < end:
            self._add(list(islice(self._missing, self._batch)))
        return self.counts

    def probe(self) -> None:
        """Ask the index for vectors that it must know; raise IndexDamaged when it does not."""
        ids = sorted(self._held.difference(self._ghosts))
        spread = {ids[int(place)] for place in np.linspace(0, len(ids) - 1, SAMPLE)} if ids else set()
        sample = sorted(spread.union(ids[-SAMPLE:]))
        stale, unreachable = self._compare(sample)
        if len(unreachable) > MOST_UNREACHABLE * len(sample):
            raise IndexDamaged(f"{len(unreachable)} of {len(sample)} vectors tried are not found by queries")
        if len(stale) > MOST_UNREACHABLE * len(sample):
            raise IndexDamaged(f"{len(stale)} of {len(sample)} vectors tried are not those of the database")
        self._add([*stale, *unreachable])

    def check(self) -> Iterator[Check]:
        """Compare every vector with its row, in small steps that each yield what was found so far.

        What is stale or cannot be reached is put in order, unless it is so much that the index must be made anew:
        IndexDamaged, after the last step.
        """
        self.look()
        ids = sorted(self._held.difference(self._ghosts))
        found = Check(len(ids))
        for start in range(0, len(ids), CHECK_BATCH):
            batch = [id for id in ids[start : start + CHECK_BATCH] if id in self._held]
            stale, unreachable = self._compare(batch)
            if len(unreachable) + len(stale) <= MOST_UNREACHABLE * len(batch):
                self._add([*stale, *unreachable])
            found = replace(
                found,
                done=min(start + CHECK_BATCH, len(ids)),
                stale=found.stale + len(stale),
                unreachable=found.unreachable + len(unreachable),
            )
            yield found
        if found.unreachable + found.stale > MOST_UNREACHABLE * found.total:
            raise IndexDamaged(
                f"{found.unreachable:,} of {found.total:,} vectors are not found by queries, {found.stale:,} are stale"
            )

    def _compare(self, ids: Sequence[int]) -> tuple[list[int], list[int]]:
        """Return which ids have other vectors than their rows, and which are not found by their own vector."""
        known, vectors = self._read(ids)
        if not known:
            return [], []
        stored = self.index.stored(known)
        answers = self.index.nearest(vectors, min(NEIGHBOURS, len(self._held)))
        stale, unreachable = [], []
        for id, vector, answer in zip(known, vectors, answers, strict=True):
            own = stored.get(id)
            if own is not None and float(own @ vector) < STALE_BELOW * float(np.linalg.norm(own)):
                stale.append(id)
            # Equal vectors may crowd one another out of the answer, which then holds nothing else.
            elif own is None or not any(found == id for found, _ in answer):
                is_crowded = len(answer) == NEIGHBOURS and answer[-1][1] >= STALE_BELOW
                if own is None or not is_crowded:
                    unreachable.append(id)
        return stale, unreachable

    def _add(self, ids: Sequence[int]) -> None:
        started = time.monotonic()
        known, vectors = self._read(ids)
        again = [id for id in known if id in self._held]
        if again:
            # Only a removal takes a vector out of the graph that is there but cannot be reached.
            self.index.remove(again)
        if known:
            self.index.add(known, vectors)
        self._held.update(known)
        for id in ids:
            self._missing.pop(id, None)
        if len(ids) == self._batch:
            aim = BATCH_SECONDS_BESIDE_QUERIES if self.is_queried else BATCH_SECONDS
            wanted = self._batch * aim / max(time.monotonic() - started, 0.001)
            self._batch = int(min(max(wanted, self._batch / 2, SMALLEST_BATCH), self._batch * 2, LARGEST_BATCH))

    def _remove(self, ids: Sequence[int]) -> None:
        self.index.remove(ids)
        self._held.difference_update(ids)
        for id in ids:
            del self._ghosts[id]

    def _read(self, ids: Sequence[int]) -> tuple[list[int], Vectors]:
        """Return those of the ids that still have a row, with their vectors (n, dimension)."""
        rows = Embedding.objects.filter(pk__in=ids).order_by("pk").values_list("pk", "vector")
        filled = [(id, vector) for id, vector in rows if len(vector) == 2 * self.model.dimension]
        vectors = np.array([np.frombuffer(vector, "<f2") for _, vector in filled], np.float32)
        return [id for id, _ in filled], vectors.reshape(len(filled), self.model.dimension)
