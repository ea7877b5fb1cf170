"""BM25 over collection statistics, field weights, bonuses for exact phrases and identifiers, and their explanation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from rank_bm25 import BM25Okapi

from search.keyword.expression import AnyPhrase, RowTerms, phrase_text
from search.keyword.statistics import Collection

# How much one occurrence counts by where it stands, and by how exactly it is what was typed.
TITLE_WEIGHT, BODY_WEIGHT, VARIANT_WEIGHT = 3.0, 1.0, 0.5
EXACT_WEIGHT, OTHER_FORM_WEIGHT, BEGINNING_WEIGHT = 1.0, 0.6, 0.25

COUNTED_FORMS = 8

PHRASE_IN_TITLE_BONUS = 0.5
PHRASE_BONUS = 0.25
IDENTIFIER_BONUS = 0.2


@dataclass(frozen=True, slots=True)
class Score:
    """Score of one candidate: BM25, the factor of its bonuses, the words of the query it holds.

    `terms` holds what each of these words gives to BM25.
    """

    value: float
    bm25: float
    bonuses: tuple[str, ...]
    words: tuple[str, ...]
    factor: float = 1.0
    terms: tuple[tuple[str, float], ...] = ()

    @property
    def parts(self) -> tuple[tuple[str, float], ...]:
        """What the score adds up from: BM25, what its bonuses add, what missing words take off."""
        with_bonuses = self.bm25 * self.factor
        parts = (
            ("BM25", self.bm25),
            ("bonuses", with_bonuses - self.bm25),
            ("missing words", self.value - with_bonuses),
        )
        return tuple((name, value) for name, value in parts if abs(value) > 1e-9)


class CollectionBM25(BM25Okapi):
    """Okapi BM25 of candidates whose document frequencies and mean length come from the whole collection.

    Candidates are given as one dictionary each, from the number of a word to its weighted frequency.
    """

    def __init__(
        self,
        frequencies: Sequence[Mapping[int, float]],
        lengths: Sequence[float],
        average_length: float,
        idf: Mapping[int, float],
        *,
        k1: float = 1.2,
        b: float = 0.75,
    ) -> None:
        self.k1, self.b, self.epsilon = k1, b, 0.0
        self.corpus_size = len(frequencies)
        self.avgdl = average_length
        self.doc_freqs = list(frequencies)
        self.doc_len = list(lengths)
        self.idf = dict(idf)


def idf(holding: int, documents: int) -> float:
    """Return log(1 + (N - n + 0.5) / (n + 0.5)) (Robertson and Zaragoza 2009, in Lucene's form): never negative."""
    return log(1 + (max(documents, holding) - holding + 0.5) / (holding + 0.5))


def score_rows(rows: Sequence[RowTerms], words: Sequence[AnyPhrase], collection: Collection) -> list[Score]:
    """Return the score of each row, in the same order; zero for a row that holds none of the words."""
    if not rows or not words:
        return [Score(0.0, 0.0, (), ()) for _ in rows]
    query = _QueryForms(words)
    frequencies = [query.frequencies(row) for row in rows]
    lengths = [row.title.count(" ") + row.body.count(" ") - 2 for row in rows]
    total = max(collection.documents, len(rows))
    rarity = {number: idf(min(collection.frequencies.get(word, 0), total), total) for number, word in enumerate(words)}
    scorer = CollectionBM25(frequencies, lengths, collection.average_length, rarity)
    by_term = np.array([scorer.get_scores([number]) for number in rarity]).T.tolist()
    return [query.score(values, row, found) for values, row, found in zip(by_term, rows, frequencies, strict=True)]


class _QueryForms:
    """The words of a query as they stand in the padded columns, worked out once for all rows."""

    def __init__(self, words: Sequence[AnyPhrase]) -> None:
        self._labels = [word.label for word in words]
        self._forms = [
            [
                (phrase_text(alternative), OTHER_FORM_WEIGHT if place else EXACT_WEIGHT)
                for place, alternative in enumerate(word.alternatives[:COUNTED_FORMS])
                if not alternative.prefix
            ]
            for word in words
        ]
        self._prefixes = [[phrase_text(one) for one in word.alternatives if one.prefix] for word in words]
        # A prefix that was opened into words has dozens of them: looked up in a set instead of counted one by one.
        self._more = [
            {one.atoms[0] for one in word.alternatives[COUNTED_FORMS:] if len(one.atoms) == 1} for word in words
        ]
        # Words of several atoms are identifiers, paths, versions: worth more when they stand there just so.
        self._compounds = [phrase_text(word.alternatives[0]) for word in words if len(word.alternatives[0].atoms) > 1]
        atoms = [atom for word in words for atom in word.alternatives[0].atoms]
        self._whole = f" {' '.join(atoms)} " if len(words) > 1 else ""

    def frequencies(self, row: RowTerms) -> dict[int, float]:
        """Return how often a row holds each word (by number), weighted by field and exactness; only words it holds."""
        title, body, variants = row.title.count, row.body.count, row.variants.count
        found: dict[int, float] = {}
        for number, forms in enumerate(self._forms):
            best = 0.0
            for text, weight in forms:
                count = TITLE_WEIGHT * title(text) + BODY_WEIGHT * body(text) + VARIANT_WEIGHT * variants(text)
                if count * weight > best:
                    best = count * weight
            if not best:
                best = self._begun(number, row)
            if best:
                found[number] = best
        return found

    def _begun(self, number: int, row: RowTerms) -> float:
        """Return what words count that only begin like the word: less than the word itself ever does."""
        texts, more = self._prefixes[number], self._more[number]
        columns = (row.title, row.body, row.variants)
        if any(text in column for text in texts for column in columns):
            return BEGINNING_WEIGHT
        if more and not (more.isdisjoint(row.title.split()) and more.isdisjoint(row.body.split())):
            return BEGINNING_WEIGHT
        return 0.0

    def score(self, by_term: Sequence[float], row: RowTerms, found: dict[int, float]) -> Score:
        """Return the score of a row: BM25, times its bonuses, times the share of the words that it holds."""
        bm25 = sum(by_term)
        factor = 1.0
        bonuses: tuple[str, ...] = ()
        if self._whole and self._whole in row.title:
            factor += PHRASE_IN_TITLE_BONUS
            bonuses = ("exact phrase in the title",)
        elif self._whole and self._whole in row.body:
            factor += PHRASE_BONUS
            bonuses = ("exact phrase",)
        if self._compounds:
            exact = sum(text in row.title or text in row.body for text in self._compounds)
            if exact:
                factor += IDENTIFIER_BONUS * exact / len(self._compounds)
                bonuses = (*bonuses, "exactly as typed")
        held = tuple([self._labels[number] for number in found])
        terms = tuple([(self._labels[number], by_term[number]) for number in found])
        return Score(bm25 * factor * len(found) / len(self._labels), bm25, bonuses, held, factor, terms)
