"""BM25 over collection statistics, field weights, bonuses for exact phrases and identifiers, and their explanation."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from rank_bm25 import BM25Okapi

from search.keyword.expression import AnyPhrase, RowTerms, phrase_text
from search.keyword.statistics import Collection

# How much one occurrence counts by where it stands, and by how exactly it is what was typed.
TITLE_WEIGHT, BODY_WEIGHT, VARIANT_WEIGHT = 3.0, 1.0, 0.5
EXACT_WEIGHT, OTHER_FORM_WEIGHT = 1.0, 0.6

PHRASE_IN_TITLE_BONUS = 0.5
PHRASE_BONUS = 0.25
IDENTIFIER_BONUS = 0.2


@dataclass(frozen=True, slots=True)
class Score:
    """Score of one candidate: BM25, the factor of its bonuses, and the words of the query it holds."""

    value: float
    bm25: float
    bonuses: tuple[str, ...]
    words: tuple[str, ...]


class CollectionBM25(BM25Okapi):  # type: ignore[misc]
    """Okapi BM25 of candidates whose document frequencies and lengths come from the whole collection.

    Candidates are given as one dictionary each, from word number to weighted term frequency. The idf is
    log(1 + (N - n + 0.5) / (n + 0.5)) (Robertson and Zaragoza 2009, in Lucene's form), which is never negative.
    """

    def __init__(
        self,
        frequencies: Sequence[dict[int, float]],
        lengths: Sequence[int],
        collection: Collection,
        words: Sequence[AnyPhrase],
    ) -> None:
        self.k1, self.b, self.epsilon = 1.2, 0.75, 0.0
        self.corpus_size = len(frequencies)
        self.avgdl = collection.average_length
        self.doc_freqs = list(frequencies)
        self.doc_len = list(lengths)
        total = max(collection.documents, len(frequencies))
        self.idf = {
            number: log(1 + (total - held + 0.5) / (held + 0.5))
            for number, word in enumerate(words)
            if (held := min(collection.frequencies.get(word, 0), total)) >= 0
        }


def score_rows(rows: Sequence[RowTerms], words: Sequence[AnyPhrase], collection: Collection) -> list[Score]:
    """Return the score of each row, in the same order; zero for a row that holds none of the words."""
    if not rows or not words:
        return [Score(0.0, 0.0, (), ()) for _ in rows]
    frequencies = [weighted_frequencies(row, words) for row in rows]
    lengths = [row.title.count(" ") + row.body.count(" ") - 2 for row in rows]
    bm25 = CollectionBM25(frequencies, lengths, collection, words).get_scores(list(range(len(words))))
    whole = _whole_query(words)
    return [
        _with_bonuses(float(value), row, found, words, whole)
        for value, row, found in zip(np.asarray(bm25), rows, frequencies, strict=True)
    ]


def weighted_frequencies(row: RowTerms, words: Sequence[AnyPhrase]) -> dict[int, float]:
    """Return how often a row holds each word (by number), weighted by field and by exactness; only words it holds."""
    found: dict[int, float] = {}
    for number, word in enumerate(words):
        best = 0.0
        for place, alternative in enumerate(word.alternatives):
            text = phrase_text(alternative)
            count = (
                TITLE_WEIGHT * row.title.count(text)
                + BODY_WEIGHT * row.body.count(text)
                + VARIANT_WEIGHT * row.variants.count(text)
            )
            best = max(best, count * (EXACT_WEIGHT if place == 0 else OTHER_FORM_WEIGHT))
        if best:
            found[number] = best
    return found


def _whole_query(words: Sequence[AnyPhrase]) -> str:
    """Return the query's atoms as one phrase; empty for a single word."""
    if len(words) < 2:
        return ""
    return " " + " ".join(atom for word in words for atom in word.alternatives[0].atoms) + " "


def _with_bonuses(bm25: float, row: RowTerms, found: dict[int, float], words: Sequence[AnyPhrase], whole: str) -> Score:
    factor, bonuses = 1.0, []
    if whole and whole in row.title:
        factor += PHRASE_IN_TITLE_BONUS
        bonuses.append("exact phrase in the title")
    elif whole and whole in row.body:
        factor += PHRASE_BONUS
        bonuses.append("exact phrase")
    identifiers = [number for number, word in enumerate(words) if len(word.alternatives[0].atoms) > 1]
    exact = [number for number in identifiers if number in found and _holds_exactly(row, words[number])]
    if exact:
        factor += IDENTIFIER_BONUS * len(exact) / len(identifiers)
        bonuses.append("exactly as typed")
    held = tuple(word.label for number, word in enumerate(words) if number in found)
    return Score(bm25 * factor * len(found) / len(words), bm25, tuple(bonuses), held)


def _holds_exactly(row: RowTerms, word: AnyPhrase) -> bool:
    text = phrase_text(word.alternatives[0])
    return text in row.title or text in row.body
