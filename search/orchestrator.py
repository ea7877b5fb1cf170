"""SearchOrchestrator: decides how a request is answered, and always answers."""

import logging
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from typing import Any

from django.db.utils import DatabaseError

from memweb.memories.kinds import Kind
from search.cursors import Cursor, RankCursor, TimeCursor, decode, encode
from search.facets import FacetName, Facets, count_facets
from search.facets.bases import Find, Findings
from search.histogram.counts import count_over_time
from search.hydration import hydrate
from search.keyword.filters import FieldResolver
from search.keyword.rows import Key
from search.keyword_search import KeywordSearch, find_by_words
from search.meaning_search import MeaningSearch, find_by_meaning, rank_filtered, word_relevance
from search.request import Mode, Order, SearchRequest
from search.results import DidYouMean, Fallback, Relevance, SearchResult
from search.strategies.chroma import ChromaSearchStrategy
from search.strategies.sqlite import Found
from search.suggestions import suggest
from search.vectors.embedding import EmbedderUnavailable, embedder_name
from search.vectors.failures import database_trouble

logger = logging.getLogger(__name__)

EVERYTHING = SearchRequest()
_logged: list[str] = []
ASK_MEANING = {Mode.SEMANTIC, Mode.HYBRID}
NO_MEANING_BY_TIME = "In order of time what has all the words is listed; meaning takes no part."


@dataclass(slots=True)
class _Page:
    """Keys of one page, why they stand where they do, and the cursor of the next page."""

    keys: list[Key]
    relevances: dict[Key, Relevance] = field(default_factory=dict)
    next: str | None = None


@dataclass(frozen=True, slots=True)
class _Answer:
    """What was found by words and, where it takes part, by meaning; why meaning does not although it was wanted."""

    words: KeywordSearch
    meaning: MeaningSearch | None
    fallback: Fallback | None
    last_ids: Mapping[Kind, int] | None

    @property
    def found(self) -> Mapping[Kind, Found]:
        return self.meaning.found if self.meaning else self.words.found

    @property
    def findings(self) -> Findings:
        return Findings(self.found, self.words.strategy, self.last_ids)


class SearchOrchestrator:
    """Answers search requests. `zone` is the viewer's time zone, in which days begin."""

    def __init__(self, zone: tzinfo = UTC) -> None:
        self.zone = zone

    def search(self, request: SearchRequest, *, with_facets: bool = True, with_histogram: bool = False) -> SearchResult:
        """Return a page of hits; never raises for what a person can type or what may be broken in an index.

        Without words, and in keyword mode, filters and words alone decide. Otherwise meaning takes part where vectors
        can be used; where they cannot, `fallback` says why. When no memory has all the words, those with any, or those
        that come near, are returned and `is_relaxed` says so. The histogram is made of what the facets counted in.
        """
        return self._answer(request, with_facets=with_facets, with_histogram=with_facets and with_histogram)

    def find_by_concept(self, concept: str, request: SearchRequest = EVERYTHING) -> SearchResult:
        """Return the memories with a concept among those that a request asks for, the most telling first."""
        return self._find_by(concept, replace(request, concepts=(concept,)))

    def find_by_type(self, type: str, request: SearchRequest = EVERYTHING) -> SearchResult:
        """Return the observations of a type among what a request asks for, the most telling first."""
        return self._find_by(type, replace(request, types=(type,)))

    def find_by_file(self, file: str, request: SearchRequest = EVERYTHING) -> SearchResult:
        """Return what is remembered about a file among what a request asks for, the most telling first.

        `file` is an exact path, a base name, a directory (`src/` with all below it, `src/*` without) or a glob.
        """
        return self._find_by(file, replace(request, files=(file,)))

    def count(self, request: SearchRequest) -> tuple[int, bool]:
        """Return how many memories have all words of a request, and whether there are more than were counted."""
        search = find_by_words(request, self.zone)
        return search.total, search.is_capped

    def _find_by(self, name: str, request: SearchRequest) -> SearchResult:
        """Rank what a filter leaves by the words of the request; without words by how near it comes to the name."""
        if request.has_words or request.order or request.mode is Mode.KEYWORD:
            return self._answer(request)
        return self._answer(replace(request, order=Order.RELEVANCE), name=name)

    def _answer(
        self, request: SearchRequest, *, name: str = "", with_facets: bool = True, with_histogram: bool = False
    ) -> SearchResult:
        started = time.perf_counter()
        cursor, notes = _cursor(request)
        if request.mode in ASK_MEANING and request.has_words and request.effective_order is not Order.RELEVANCE:
            notes.append(NO_MEANING_BY_TIME)
        resolver = FieldResolver(self.zone)
        answer = self._find(request, resolver, name, cursor.last_ids if isinstance(cursor, RankCursor) else None)
        words, meaning = answer.words, answer.meaning
        page = _page_of_meaning(request, meaning, cursor) if meaning else _page_of_words(request, words, cursor)
        took_ms = (time.perf_counter() - started) * 1000
        facets = count_facets(request, answer.findings, self._finder(resolver)) if with_facets else Facets()
        found = answer.found
        # Facets count what the search itself does not: how many there are of very many.
        totals = {kind: len(one.ids) for kind, one in found.items()} | facets.totals
        total = sum(totals.values())
        is_relaxed = words.is_relaxed or (meaning is not None and meaning.is_relaxed)
        may_be_misspelt = (is_relaxed or not total) and (meaning is None or meaning.may_be_misspelt)
        return SearchResult(
            query=request.query,
            mode=str(request.mode),
            strategy=meaning.strategy if meaning else "scan" if words.is_scan else "sqlite",
            fallback=words.fallback or answer.fallback,
            filters=request.filters(),
            explanation=_explanation(request, meaning),
            total=total,
            total_is_capped=any(one.is_capped and kind not in facets.totals for kind, one in found.items()),
            took_ms=took_ms,
            did_you_mean=self._did_you_mean(request) if may_be_misspelt else None,
            hits=tuple(hydrate(page.keys, page.relevances, words.words)),
            facets=facets.values,
            partial_facets=facets.partial,
            histogram=count_over_time(request, facets.matches, facets.reading, self.zone) if with_histogram else None,
            next=page.next,
            used_chroma=meaning is not None and meaning.used_chroma,
            is_relaxed=is_relaxed,
            is_weak=meaning is not None and meaning.is_weak,
            is_unread=meaning is not None and meaning.is_unread,
            by_meaning=meaning.by_meaning if meaning else 0,
            ranked=words.ranked,
            notes=tuple(dict.fromkeys([*words.notes, *(meaning.notes if meaning else ()), *notes])),
        )

    def facets(
        self,
        request: SearchRequest,
        names: Collection[FacetName] = tuple(FacetName),
        **options: Any,
    ) -> Facets:
        """Return facets of a search without its hits, with the options of `count_facets`."""
        find = self._finder(FieldResolver(self.zone))
        findings = find(replace(request, cursor="", offset=0))
        return count_facets(request, findings, find, names=names, **options)

    def _finder(self, resolver: FieldResolver) -> Find:
        return lambda request: self._find(request, resolver).findings

    def _find(
        self,
        request: SearchRequest,
        resolver: FieldResolver,
        name: str = "",
        last_ids: Mapping[Kind, int] | None = None,
    ) -> _Answer:
        words = find_by_words(request, self.zone, last_ids, resolver=resolver)
        meaning, fallback = self._meaning(request, words, name, last_ids)
        if meaning is None and not words.total:
            words = find_by_words(request, self.zone, last_ids, relax=True, resolver=resolver)
        return _Answer(words, meaning, fallback, last_ids)

    def _meaning(
        self, request: SearchRequest, words: KeywordSearch, name: str, last_ids: Mapping[Kind, int] | None
    ) -> tuple[MeaningSearch | None, Fallback | None]:
        """Return the search by meaning; None, with the reason where it was wanted, when words alone must answer."""
        if (
            request.mode is Mode.KEYWORD
            or not (request.has_words or name)
            or request.effective_order is not Order.RELEVANCE
            or (request.mode is Mode.AUTO and embedder_name() is None)
        ):
            return None, None
        try:
            answer = rank_filtered(name, words) if name else find_by_meaning(request, words, self.zone, last_ids)
        except (EmbedderUnavailable, DatabaseError) as error:
            _log_once(str(error))
            reason = database_trouble(error) if isinstance(error, DatabaseError) else error
            return None, Fallback("chroma", f"meaning cannot be searched now: {reason}")
        if isinstance(answer, Fallback):
            return None, answer
        return answer, answer.fallback if answer else None

    def _did_you_mean(self, request: SearchRequest) -> DidYouMean | None:
        """Return a better spelling of the query when it finds something."""
        query = suggest(request.parsed.tree)
        if query is None:
            return None
        total, is_capped = self.count(replace(request, query=query, cursor="", offset=0))
        return DidYouMean(query, total, is_capped) if total else None


def _log_once(reason: str) -> None:
    """Log why meaning takes no part when it is not what was logged last; every answer says it, too."""
    if _logged != [reason]:
        _logged[:] = [reason]
        logger.warning("search by meaning is not possible: %s", reason)


def _explanation(request: SearchRequest, meaning: MeaningSearch | None) -> str:
    """Return in words what was searched for by what answered."""
    if meaning is not None and meaning.strategy == ChromaSearchStrategy.name:
        return request.explanation_by_meaning(with_phrases=meaning.with_phrases)
    return request.explanation


def _page_of_meaning(request: SearchRequest, meaning: MeaningSearch, cursor: Cursor | None) -> _Page:
    offset = cursor.offset if isinstance(cursor, RankCursor) else request.offset
    page = list(meaning.ranking.items())[offset : offset + request.limit]
    following = _next_by_rank(len(meaning.ranking), offset, request, meaning.found, cursor)
    return _Page([key for key, _ in page], dict(page), following)


def _page_of_words(request: SearchRequest, words: KeywordSearch, cursor: Cursor | None) -> _Page:
    order = request.effective_order
    if order is not Order.RELEVANCE:
        rows = words.page_by_time(order, cursor if isinstance(cursor, TimeCursor) else None)
        return _Page([key for key, _ in rows[: request.limit]], next=_next_by_time(order, rows, request.limit))
    offset = cursor.offset if isinstance(cursor, RankCursor) else request.offset
    page = words.ranking[offset : offset + request.limit]
    return _Page(
        [key for key, _ in page],
        {key: word_relevance(offset + place, score) for place, (key, score) in enumerate(page, start=1)},
        _next_by_rank(len(words.ranking), offset, request, words.found, cursor),
    )


def _cursor(request: SearchRequest) -> tuple[Cursor | None, list[str]]:
    """Return the cursor of a request, or None and what to say when it cannot be read."""
    if not request.cursor:
        return None, []
    try:
        return decode(request.cursor, request.effective_order), []
    except ValueError as error:
        return None, [str(error)]


def _next_by_rank(
    ranked: int, offset: int, request: SearchRequest, found: Mapping[Kind, Found], cursor: Cursor | None
) -> str | None:
    """Return the cursor of what follows a page; None when nothing does."""
    if ranked <= offset + request.limit:
        return None
    known = cursor.last_ids if isinstance(cursor, RankCursor) else None
    last_ids = known or {kind: max(one.ids, default=0) for kind, one in found.items()}
    return encode(RankCursor(offset + request.limit, last_ids))


def _next_by_time(order: Order, rows: list[tuple[Key, str | None]], limit: int) -> str | None:
    """Return the cursor of what follows the first `limit` rows; None when nothing does."""
    if len(rows) <= limit:
        return None
    (kind, id), stored = rows[limit - 1]
    moment = datetime.fromisoformat(stored).replace(tzinfo=UTC) if stored else None
    return encode(TimeCursor(order, moment, kind, id))
