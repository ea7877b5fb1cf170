"""BM25 in windows: a drawer is scored with the words of the drawers before and after it.

Passages of a conversation answer each other, so the words of a question often stand beside its answer. The frequency
of a term t at place i is E(t, i) = sum over k from -3 to 3 of decay^|k| tf(t, i + k), within one session; lengths are
summed likewise. A window of one place is plain Okapi BM25 (Robertson and Zaragoza 2009).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memweb.memories.kinds import Kind
from search.analysis.stems import stem
from search.fusion.question import Term
from search.fusion.sequences import Sequences
from search.keyword.rows import Key, Row
from search.keyword.statistics import Collection
from search.ranking import BODY_WEIGHT, TITLE_WEIGHT, CollectionBM25, idf

REACH = 3
DECAY = 0.6
K1, B = 0.9, 0.4

_WEIGHTS = [DECAY**distance for distance in range(REACH + 1)]
_NOTHING: tuple[dict[int, float], int] = ({}, 0)


@dataclass(frozen=True, slots=True)
class WordScores:
    """BM25 by term, (terms, keys), and the terms (by number) that a row holds itself, without its window."""

    by_term: NDArray[np.float64]
    held: list[tuple[int, ...]]

    @property
    def bm25(self) -> NDArray[np.float64]:
        """BM25 of each key."""
        total: NDArray[np.float64] = self.by_term.sum(axis=0)
        return total


class WordScorer:
    """Scores rows by the terms of one question."""

    def __init__(self, terms: Sequence[Term], collection: Collection, rows: Mapping[Key, Row]) -> None:
        self._terms = terms
        self._average = collection.average_length
        self._idf = {
            number: idf(collection.frequencies.get(term.expression, 0), collection.documents)
            for number, term in enumerate(terms)
        }
        self._numbers = _Numbers({term.stem: number for number, term in enumerate(terms) if term.stem})
        # A row holds the stem of each of its words, so one look tells whether its words must be gone through.
        self._stems = [f" {term.stem} " for term in terms if term.stem]
        # Most terms are stems alone: only the others need a look of their own at every row.
        self._further = [(number, term) for number, term in enumerate(terms) if term.phrase or term.date]
        self._rows = rows
        self._counted: dict[Key, tuple[dict[int, float], int]] = {}

    def score(self, keys: Sequence[Key], sequences: Sequences) -> WordScores:
        """Return the scores of these keys, in their order."""
        held = [tuple(sorted(self._count(key)[0])) for key in keys]
        if not keys or not self._terms:
            return WordScores(np.zeros((len(self._terms), len(keys))), held)
        frequencies: list[dict[int, float]] = []
        lengths: list[float] = []
        total = 0.0
        for kind, id in keys:
            found: dict[int, float] = {}
            length = 0.0
            for neighbour, distance in sequences.around(id, REACH) if kind is Kind.DRAWER else ((id, 0),):
                counts, atoms = self._count((kind, neighbour))
                weight = _WEIGHTS[distance]
                for number, count in counts.items():
                    found[number] = found.get(number, 0.0) + weight * count
                length += weight * atoms
                total += weight if atoms else 0.0
            frequencies.append(found)
            lengths.append(length)
        average = max(self._average, 1.0) * total / len(keys)
        bm25 = CollectionBM25(frequencies, lengths, average or 1.0, self._idf, k1=K1, b=B)
        return WordScores(np.array([bm25.get_scores([number]) for number in range(len(self._terms))]), held)

    def _count(self, key: Key) -> tuple[dict[int, float], int]:
        """Return how often a row holds each term, and its length in atoms; nothing for a row that was not read."""
        known = self._counted.get(key)
        if known is not None:
            return known
        found_row = self._rows.get(key)
        if found_row is None:
            return _NOTHING
        row = found_row.terms
        found: dict[int, float] = {}
        if any(stem in row.body or stem in row.title or stem in row.variants for stem in self._stems):
            for column, weight in ((row.title, TITLE_WEIGHT), (row.body, BODY_WEIGHT)):
                for number in map(self._numbers.__getitem__, column.split()):
                    if number is not None:
                        found[number] = found.get(number, 0.0) + weight
        for number, term in self._further:
            if term.phrase:
                times = TITLE_WEIGHT * row.title.count(term.phrase) + BODY_WEIGHT * row.body.count(term.phrase)
                if times:
                    found[number] = times
            if term.date and f" {term.date} " in row.scope:
                found[number] = found.get(number, 0.0) + BODY_WEIGHT
        self._counted[key] = found, row.title.count(" ") + row.body.count(" ") - 2
        return self._counted[key]


class _Numbers(dict[str, int | None]):
    """Atom -> number of the term whose stem it has; every atom is stemmed once."""

    def __init__(self, stems: Mapping[str, int]) -> None:
        super().__init__()
        self._stems = stems

    def __missing__(self, atom: str) -> int | None:
        number = self[atom] = self._stems.get(stem(atom))
        return number
