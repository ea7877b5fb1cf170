"""The fused ranking of one question: candidates by words and by vectors, scored by both, the best by token states."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from memweb.memories.kinds import Kind
from search.fusion.combination import reciprocal_ranks, unit_range
from search.fusion.question import Question, Term
from search.fusion.sequences import Sequences, read_sequences
from search.fusion.windows import REACH, WordScorer
from search.keyword.expression import AnyOf, Expression
from search.keyword.plan import Plan
from search.keyword.rows import Key, Row, read_rows
from search.keyword.statistics import Collection
from search.ranking import Score
from search.strategies.chroma import ChromaSearchStrategy
from search.strategies.sqlite import SQLiteSearchStrategy

POOL = 100
RESCORED = 100
# FTS5 scores every memory that holds a word, so rarer words are asked first, up to so many memories.
SCORED_MEMORIES = 20_000
# What closets count: the nearest line lifts its drawers by 0.4 times this, where the best word score counts 0.4.
CLOSET_WEIGHT = 0.1
# Names of the parts of a score, as people see them.
WORDS, MEANING, CLOSET, WORD_BY_WORD = "words", "meaning", "closet", "word by word"


@dataclass(frozen=True, slots=True)
class FusedScore:
    """Why a candidate stands where it does: what was measured, and the `parts` that it adds up from, weighted.

    `terms` holds what each term of the question gives to `bm25`.
    """

    value: float
    bm25: float
    words: tuple[str, ...]
    similarity: float | None
    vector_rank: int | None
    max_similarity: float | None
    closet_boost: float = 0.0
    parts: tuple[tuple[str, float], ...] = ()
    terms: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Candidates:
    """Memories that may answer a question, with what words and vectors say of each.

    `bm25`, `by_term` and `held` (the terms that a memory holds, by number) follow the order of `keys`; `by_term` is
    (terms, keys): what each term gives to BM25.
    """

    keys: list[Key]
    rows: Mapping[Key, Row]
    bm25: NDArray[np.float64]
    by_term: NDArray[np.float64]
    held: list[tuple[int, ...]]
    vector_ranks: Mapping[Key, int]


def rank_fused(
    question: Question,
    plans: Mapping[Kind, Plan],
    collection: Collection,
    keyword_best: Sequence[tuple[Key, Score]],
    semantic: ChromaSearchStrategy,
    last_ids: Mapping[Kind, int] | None = None,
) -> list[tuple[Key, FusedScore]]:
    """Return the memories that fulfil `plans` (the required part of a request) and answer best, best first.

    `collection` holds how many memories have each term. `keyword_best` are the best of those that hold all words; their
    bonuses for exact phrases and identifiers count here too. `last_ids` bounds the rows by id, so that later pages rank
    what the first page ranked.
    """
    candidates = find_candidates(question, plans, collection, keyword_best, semantic, last_ids)
    return score_candidates(question, candidates, semantic) if candidates.keys else []


def find_candidates(
    question: Question,
    plans: Mapping[Kind, Plan],
    collection: Collection,
    keyword_best: Sequence[tuple[Key, Score]],
    semantic: ChromaSearchStrategy,
    last_ids: Mapping[Kind, int] | None = None,
) -> Candidates:
    """Return the nearest by vectors and the best by words, these in the window of what stands beside them."""
    near = semantic.near(POOL)
    vector_ranks = {(one.kind, one.id): rank for rank, one in enumerate(near, start=1)}
    hits = [*_keyword_candidates(question.terms, plans, collection), *(key for key, _ in keyword_best[:POOL])]
    sequences = read_sequences({id for kind, id in [*hits, *vector_ranks] if kind is Kind.DRAWER}, 2 * REACH)
    found = dict.fromkeys([*hits, *_beside(hits, sequences), *vector_ranks])
    rows = read_rows(found, plans)
    rows |= read_rows([key for key in dict.fromkeys(_beside(found, sequences)) if key not in rows], {})
    wanted = [key for key in found if _is_wanted(key, rows, last_ids)]
    by_words = WordScorer(question.terms, collection, rows).score(wanted, sequences)
    factors = {key: score.factor for key, score in keyword_best}
    factor = np.array([factors.get(key, 1.0) for key in wanted])
    bm25 = by_words.bm25 * factor
    best = set(np.argsort(-bm25, kind="stable")[:POOL].tolist())
    kept = [place for place, key in enumerate(wanted) if place in best or key in vector_ranks]
    return Candidates(
        [wanted[place] for place in kept],
        rows,
        bm25[kept],
        (by_words.by_term * factor)[:, kept],
        [by_words.held[place] for place in kept],
        vector_ranks,
    )


def score_candidates(
    question: Question, candidates: Candidates, semantic: ChromaSearchStrategy
) -> list[tuple[Key, FusedScore]]:
    """Return the candidates, best first, by words, cosine, closets and, for the best of them, token states."""
    keys = candidates.keys
    known = semantic.similarities(keys)
    cosine = np.array([known.get(key, np.nan) for key in keys])
    comparable = reciprocal_ranks if settings.FUSION == "ranks" else unit_range
    words_weight, cosine_weight, late_weight = settings.FUSION_WEIGHTS
    parts = {
        WORDS: words_weight * comparable(candidates.bm25),
        MEANING: cosine_weight * comparable(cosine),
    }
    lifted = semantic.closet_boosts(question.terms, keys) if CLOSET_WEIGHT else {}
    boosts = np.array([lifted.get(key, 0.0) for key in keys])
    # Boosts say by themselves how much they are; only beside ranks they must be ranks, too.
    ranked_boosts = comparable is reciprocal_ranks
    parts[CLOSET] = CLOSET_WEIGHT * (
        reciprocal_ranks(np.where(boosts > 0, boosts, np.nan)) if ranked_boosts else boosts
    )
    value = np.sum(list(parts.values()), axis=0)
    rescored = np.argsort(-value, kind="stable")[:RESCORED]
    late = np.full(len(keys), np.nan)
    if late_weight:
        late[rescored] = semantic.max_similarities([keys[place] for place in rescored])
        parts[WORD_BY_WORD] = np.zeros(len(keys))
        parts[WORD_BY_WORD][rescored] = late_weight * comparable(late[rescored])
        value += parts[WORD_BY_WORD]
    scores = {
        key: FusedScore(
            value=float(value[place]),
            bm25=float(candidates.bm25[place]),
            words=tuple(question.terms[number].label for number in candidates.held[place]),
            similarity=known.get(key),
            vector_rank=candidates.vector_ranks.get(key),
            max_similarity=None if np.isnan(late[place]) else float(late[place]),
            closet_boost=lifted.get(key, 0.0),
            parts=tuple((name, float(some[place])) for name, some in parts.items() if some[place]),
            terms=tuple(
                (question.terms[number].label, float(candidates.by_term[number, place]))
                for number in candidates.held[place]
            ),
        )
        for place, key in enumerate(keys)
    }
    return sorted(
        scores.items(),
        key=lambda one: (one[1].value, candidates.rows[one[0]].created_at or "", one[0]),
        reverse=True,
    )


def _keyword_candidates(terms: Sequence[Term], plans: Mapping[Kind, Plan], collection: Collection) -> list[Key]:
    """Return the best memories by FTS5's BM25 that hold any of the words, the rarest words first."""
    chosen: list[Expression] = []
    scored = 0
    for term in sorted(terms, key=lambda term: collection.frequencies.get(term.expression, 0)):
        scored += collection.frequencies.get(term.expression, 0)
        if chosen and scored > SCORED_MEMORIES:
            break
        chosen.append(term.expression)
    found = SQLiteSearchStrategy(plans).best(POOL, AnyOf(tuple(chosen)))
    return [(kind, id) for kind, ids in found.items() for id in ids]


def _beside(keys: Iterable[Key], sequences: Sequences) -> Iterable[Key]:
    return [(kind, id) for kind, one in keys if kind is Kind.DRAWER for id, _ in sequences.around(one, REACH)]


def _is_wanted(key: Key, rows: Mapping[Key, Row], last_ids: Mapping[Kind, int] | None) -> bool:
    row = rows.get(key)
    return row is not None and row.is_wanted and (last_ids is None or key[1] <= last_ids.get(key[0], 0))
