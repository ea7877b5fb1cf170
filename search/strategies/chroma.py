"""ChromaSearchStrategy: memories that come near in meaning, whatever their words."""

import random
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np
from django.db.models import Max
from numpy.typing import NDArray

from memweb.memories.kinds import Kind
from memweb.memories.models import memory_model
from search.closets.ranking import closet_boosts
from search.fusion.question import Term
from search.keyword.plan import Plan
from search.keyword.rows import Key, Row, read_rows
from search.strategies.sqlite import SQLiteSearchStrategy
from search.vectors.embedders.tokens import has_words
from search.vectors.embedding import Embedded
from search.vectors.late_interaction import max_similarities
from search.vectors.nearest import Neighbour, nearest, query_embedder, similarities, token_states

# Of so many memories that a filter leaves, every vector is compared; more are asked of Chroma and then filtered.
COMPARED = 10_000
COMPARED_AT_MOST = 200_000
# A filter that keeps this share of some memories is wide: listing what it leaves would cost more than fetching more.
WIDE = 0.2
SAMPLED = 100
# More is fetched in steps of this factor, up to so many.
FETCHED_MORE = 5
FETCHED = 10_000
# Measured: nonsense reaches this cosine similarity with some memory.
PIECES_OF_NONSENSE = 2
WEAK_SIMILARITY = {"bge-small-en-v1.5-int8": 0.67}


class ChromaSearchStrategy:
    """Answers one text by vectors, among the memories that fulfil the plans.

    `problem` says in words why something other than Chroma answered, where that was not by choice. Raises
    EmbedderUnavailable when made without an embedder that works.
    """

    name = "chroma"

    def __init__(self, text: str, plans: Mapping[Kind, Plan], *, is_filtered: bool) -> None:
        self._text = text
        self._plans = plans
        self._is_filtered = is_filtered
        self._embedder = query_embedder()
        self.query: Embedded = self._embedder.embed_query(text)
        self.used_chroma = False
        self.problem: str | None = None

    def near(self, limit: int) -> list[Neighbour]:
        """Return the nearest memories that fulfil the plans, nearest first.

        Selective filters are answered exactly. Otherwise more is fetched than wanted, until the page is full; and when
        even very much is not enough, the filter is answered exactly after all.
        """
        if self._is_filtered and not self._is_wide:
            allowed = self._ids(COMPARED)
            if allowed is not None:
                return self.near_among(allowed, limit)
        rows: dict[Key, Row] = {}
        fetched = limit
        while True:
            found = self._nearest(fetched, None)
            rows |= read_rows([key for one in found if (key := (one.kind, one.id)) not in rows], self._plans)
            kept = [one for one in found if (row := rows.get((one.kind, one.id))) and row.is_wanted]
            if len(kept) >= limit or len(found) < fetched:
                return kept[:limit]
            if fetched >= FETCHED:
                allowed = self._ids(COMPARED_AT_MOST) if self._is_filtered else None
                return kept if allowed is None else self.near_among(allowed, limit)
            fetched *= FETCHED_MORE

    def near_among(self, ids: Mapping[Kind, Sequence[int]], limit: int) -> list[Neighbour]:
        """Return the nearest of these memories, nearest first, by comparing all of their vectors."""
        return self._nearest(limit, ids)

    def is_weak(self, similarity: float | None) -> bool:
        """Return whether a memory comes no nearer than memories do that have nothing to do with the text."""
        return similarity is None or similarity < WEAK_SIMILARITY.get(self._embedder.name, 0.0)

    @cached_property
    def is_readable(self) -> bool:
        """Whether the text has words, in a script that the model was trained on: what it makes of others is chance."""
        return self._embedder.reads(self._text)

    @cached_property
    def is_in_pieces(self) -> bool:
        """Whether the model knows few words of the text whole: it then sees letters, and means nothing by them."""
        return self._tokens >= PIECES_OF_NONSENSE * len(self._text.split())

    @property
    def notes(self) -> list[str]:
        """What a person should know of how the text was read."""
        if not has_words(self._text):
            return ["There is no letter or digit in the search, so what is found by its meaning is chance."]
        if not self.is_readable:
            return [f"{self._embedder.name} cannot read this search, so what is found by its meaning is chance."]
        if self._tokens > self._embedder.max_tokens:
            return [f"{self._embedder.name} reads only the beginning of so long a search; its words all count."]
        return []

    @cached_property
    def _tokens(self) -> int:
        return self._embedder.count_tokens(self._text)

    def similarities(self, keys: Sequence[Key]) -> dict[Key, float]:
        """Return the cosine similarity of each memory that has a vector."""
        return similarities(self.query.vectors[0], keys, embedder=self._embedder.name)

    def max_similarities(self, keys: Sequence[Key]) -> NDArray[np.float32]:
        """Return MaxSim of each memory, nan for those without token states."""
        if self.query.states is None:
            return np.full(len(keys), np.nan, np.float32)
        states = token_states(keys, embedder=self._embedder.name)
        width = self.query.states[0].shape[1]
        nothing = np.zeros((0, width), np.int8)
        return max_similarities(
            self.query.states[0], [np.concatenate(states[key]) if key in states else nothing for key in keys]
        )

    def closet_boosts(self, terms: Sequence[Term], keys: Sequence[Key]) -> dict[Key, float]:
        """Return how much closets lift some of these memories."""
        vector = self.query.vectors[0]
        return closet_boosts(vector, terms, keys, embedder=self._embedder.name, is_weak=self.is_weak)

    @cached_property
    def _is_wide(self) -> bool:
        """Whether the filter keeps many of some memories chosen without regard to it."""
        sample: list[Key] = []
        for kind in self._plans:
            last = memory_model(kind).objects.aggregate(last=Max("pk"))["last"] or 0
            # Not at even steps, which whatever wrote the rows may have had too; the same at every search.
            choose = random.Random(last)  # noqa: S311
            sample += [(kind, choose.randint(1, last)) for _ in range(SAMPLED if last else 0)]
        rows = read_rows(dict.fromkeys(sample), self._plans).values()
        return sum(row.is_wanted for row in rows) >= max(1, WIDE * len(rows))

    def _ids(self, most: int) -> dict[Kind, list[int]] | None:
        """Return the ids that the filters leave; None when there are more of a kind than `most`."""
        found = SQLiteSearchStrategy(self._plans).find(most)
        if any(one.is_capped for one in found.values()):
            return None
        return {kind: one.ids for kind, one in found.items() if one.ids}

    def _nearest(self, limit: int, allowed: Mapping[Kind, Sequence[int]] | None) -> list[Neighbour]:
        answer = nearest(self.query.vectors[0], limit, allowed, embedder=self._embedder.name)
        self.used_chroma = self.used_chroma or answer.source == "chroma"
        self.problem = self.problem or answer.problem
        return answer.neighbours
