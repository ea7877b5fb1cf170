"""One search by meaning while it runs: vectors alone, or words and vectors together."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo

from memweb.memories.kinds import Kind
from search.fusion.question import Question, read_question
from search.fusion.ranker import MEANING, FusedScore, rank_fused
from search.keyword.rows import Key, read_rows
from search.keyword.statistics import collection_statistics
from search.keyword_search import KeywordSearch, plans_of
from search.query import And
from search.ranking import Score
from search.request import Mode, SearchRequest
from search.results import Explanation, Fallback, Relevance
from search.strategies.chroma import ChromaSearchStrategy
from search.strategies.hybrid import HybridSearchStrategy
from search.strategies.sqlite import Found
from search.vectors.nearest import Neighbour, coverage

# So many are listed of those that come near without having all the words.
LISTED = 100
NEAREST = 200
# With nothing better, so many weak results are shown.
WEAK_LISTED = 10
# A question of more words is understood although one of them is misspelt.
FEW_WORDS = 3

IsWeak = Callable[[float | None], bool]


@dataclass(slots=True)
class MeaningSearch:
    """What a request finds when meaning takes part. `ranking` holds the hits, best first.

    `by_meaning` of them do not have all the words. `is_weak`: no hit is a good one. `may_be_misspelt`: it has few
    words, and one of them is unknown. `with_phrases`: what stands in quotes was required of every hit.
    `is_unread`: the model cannot read the question.
    """

    strategy: str
    ranking: dict[Key, Relevance]
    found: dict[Kind, Found]
    used_chroma: bool = False
    is_relaxed: bool = False
    is_weak: bool = False
    is_unread: bool = False
    by_meaning: int = 0
    may_be_misspelt: bool = True
    with_phrases: bool = True
    fallback: Fallback | None = None
    notes: list[str] = field(default_factory=list)


def find_by_meaning(
    request: SearchRequest, words: KeywordSearch, zone: tzinfo, last_ids: Mapping[Kind, int] | None
) -> MeaningSearch | Fallback | None:
    """Return what comes near, with what has the words unless the mode is semantic; None when that is nothing.

    A Fallback says why vectors cannot be used now. Raises EmbedderUnavailable and DatabaseError.
    """
    built = coverage()
    if not built.embedded:
        return _not_built()
    question = read_question(request.tree)
    search = _answer(request, words, zone, last_ids, question)
    # A title in quotes may be what the question is about, not what its answer holds.
    if search is None and (loose := read_question(request.tree, with_phrases=False)) != question:
        search = _answer(request, words, zone, last_ids, loose)
        if search:
            search.with_phrases = False
    if search and built.note:
        search.notes.append(built.note)
    return search


def _answer(
    request: SearchRequest,
    words: KeywordSearch,
    zone: tzinfo,
    last_ids: Mapping[Kind, int] | None,
    question: Question | None,
) -> MeaningSearch | None:
    if question is None:
        return None
    plans = plans_of(request, question.required, zone)
    is_filtered = question.required != And(()) or bool(request.date_start or request.date_end)
    semantic = ChromaSearchStrategy(question.text, plans, is_filtered=is_filtered)
    collection = collection_statistics([term.expression for term in question.terms], plans)
    held = [bool(collection.frequencies.get(term.expression)) for term in question.terms]
    is_weak = semantic.is_weak
    if not semantic.is_readable or (semantic.is_in_pieces and not any(held)):
        is_weak = _always
    if request.mode is Mode.SEMANTIC:
        search = _nearest(request, words, semantic.near(NEAREST), is_weak, last_ids)
    else:
        fused = rank_fused(question, plans, collection, words.ranking, semantic, last_ids)
        search = _fused(request, words, fused, is_weak)
    search.may_be_misspelt = len(held) <= FEW_WORDS and not all(held)
    search.used_chroma = semantic.used_chroma
    search.is_unread = not semantic.is_readable
    search.notes += semantic.notes
    if semantic.problem:
        search.fallback = Fallback("chroma", semantic.problem)
    return search if search.ranking else None


def rank_filtered(name: str, words: KeywordSearch) -> MeaningSearch | Fallback | None:
    """Return what the filters of a request find, the nearest to a name first. Raises like `find_by_meaning`."""
    if not words.total:
        return None
    if not coverage().embedded:
        return _not_built()
    hybrid = HybridSearchStrategy(name, words.plans)
    ranking: dict[Key, Relevance] = {}
    for rank, (key, near) in enumerate(hybrid.rank(words.found).items(), start=1):
        similarity = near.similarity if near else None
        ranking[key] = Relevance(similarity, _near(similarity, rank=rank))
    return MeaningSearch("hybrid", ranking, words.found, hybrid.semantic.used_chroma)


def _nearest(
    request: SearchRequest,
    words: KeywordSearch,
    near: Sequence[Neighbour],
    is_weak: IsWeak,
    last_ids: Mapping[Kind, int] | None,
) -> MeaningSearch:
    doubtful = [(one.kind, one.id) for one in near if is_weak(one.similarity)]
    has_words = {key for key, row in read_rows(doubtful, words.plans).items() if row.is_wanted}
    ranking: dict[Key, Relevance] = {}
    for rank, one in enumerate(near, start=1):
        if last_ids is not None and one.id > last_ids.get(one.kind, 0):
            continue
        if _is_too_far(request, one.similarity):
            break
        explain = _near(one.similarity, rank=rank)
        weak = is_weak(one.similarity) and (one.kind, one.id) not in has_words
        ranking[one.kind, one.id] = Relevance(one.similarity, explain, weak)
        if len(ranking) == LISTED:
            break
    return _listed("chroma", ranking, {}, is_relaxed=False, with_weak=True)


def _fused(
    request: SearchRequest,
    words: KeywordSearch,
    fused: Sequence[tuple[Key, FusedScore]],
    is_weak: IsWeak,
) -> MeaningSearch:
    by_words = dict(words.ranking)
    ranks = {key: rank for rank, key in enumerate(by_words, start=1)}
    ranking: dict[Key, Relevance] = {}
    others = 0
    for key, score in fused:
        has_all = key in by_words
        weak = not has_all and not score.bm25 and is_weak(score.similarity)
        if not has_all:
            if others == LISTED or (not score.words and _is_too_far(request, score.similarity)):
                continue
            others += 1
        ranking[key] = Relevance(score.value, _explanation(score, by_words.get(key), ranks.get(key)), weak)
    for key, one in by_words.items():
        if key not in ranking:
            ranking[key] = word_relevance(ranks[key], one)
    return _listed("hybrid", ranking, words.found, is_relaxed=bool(words.words) and not words.total)


def _listed(
    strategy: str,
    ranking: dict[Key, Relevance],
    by_words: Mapping[Kind, Found],
    *,
    is_relaxed: bool,
    with_weak: bool = False,
) -> MeaningSearch:
    """Leave out weak results beside good ones unless they are wanted; without good ones keep a few and say so."""
    good = {key: one for key, one in ranking.items() if not one.is_weak}
    shown = (ranking if with_weak else good) if good else dict(list(ranking.items())[:WEAK_LISTED])
    ids: dict[Kind, set[int]] = {kind: set(found.ids) for kind, found in by_words.items()}
    by_meaning = 0
    for kind, id in shown:
        some = ids.setdefault(kind, set())
        by_meaning += id not in some
        some.add(id)
    found = {
        kind: Found(sorted(some, reverse=True), kind in by_words and by_words[kind].is_capped)
        for kind, some in ids.items()
    }
    return MeaningSearch(
        strategy, shown, found, is_relaxed=is_relaxed, is_weak=bool(shown) and not good, by_meaning=by_meaning
    )


def word_relevance(rank: int, score: Score) -> Relevance:
    """Return the relevance of a hit that was found and ranked by words alone."""
    explain = Explanation(
        keyword_rank=rank,
        bm25=round(score.bm25, 4),
        bonuses=score.bonuses,
        words=score.words,
        parts=score.parts,
        terms=score.terms,
    )
    return Relevance(score.value, explain)


def _explanation(score: FusedScore, by_words: Score | None, rank: int | None) -> Explanation:
    explain = Explanation(
        keyword_rank=rank,
        bm25=round(score.bm25, 4),
        max_similarity=None if score.max_similarity is None else round(score.max_similarity, 4),
        closet_boost=score.closet_boost or None,
        bonuses=by_words.bonuses if by_words else (),
        words=by_words.words if by_words else score.words,
        parts=score.parts,
        terms=score.terms,
    )
    return _near(score.similarity, rank=score.vector_rank, explain=explain)


def _near(similarity: float | None, *, rank: int | None, explain: Explanation | None = None) -> Explanation:
    """Return the explanation with cosine distance and similarity (never negative) as they are shown."""
    if similarity is None:
        return explain or Explanation()
    explain = explain or Explanation(parts=((MEANING, similarity),))
    shown = round(max(0.0, similarity), 4)
    return replace(explain, vector_rank=rank, distance=round(1 - similarity, 4), similarity=shown)


def _always(similarity: float | None) -> bool:
    return True


def _not_built() -> Fallback:
    return Fallback("chroma", "no memory has been embedded yet, so only words were searched")


def _is_too_far(request: SearchRequest, similarity: float | None) -> bool:
    return request.max_distance is not None and (similarity is None or 1 - similarity > request.max_distance)
