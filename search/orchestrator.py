"""SearchOrchestrator: decides how a request is answered, and always answers."""

import logging
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from memweb.memories.kinds import Kind
from search.analysis import Alternative
from search.cursors import RankCursor, TimeCursor, decode, encode
from search.facets import count_facets
from search.hydration import hydrate
from search.keyword.compiler import Compiler, is_stop_word
from search.keyword.expression import AnyPhrase, phrases
from search.keyword.filters import FieldResolver
from search.keyword.plan import Plan
from search.keyword.statistics import collection_statistics
from search.query import And, Node, Or, Phrase, Prefix, Word
from search.ranking import Score, score_rows
from search.request import Order, SearchRequest
from search.results import DidYouMean, Fallback, SearchResult
from search.strategies.sqlite import COUNTED, SORTED, Found, Key, ScanStrategy, SQLiteSearchStrategy
from search.suggestions import suggest

logger = logging.getLogger(__name__)

EVERYTHING = SearchRequest()

# So many rows are ranked by their full text; of more, the newest.
RANKED = 1_000
MORE_CANDIDATES = 200


@dataclass(slots=True)
class _Search:
    """The state of one search while it runs."""

    request: SearchRequest
    plans: dict[Kind, Plan]
    strategy: SQLiteSearchStrategy
    found: dict[Kind, Found]
    notes: list[str]
    fallback: Fallback | None = None
    is_relaxed: bool = False
    ranked: int | None = None

    @property
    def total(self) -> int:
        return sum(len(found.ids) for found in self.found.values())

    @property
    def is_capped(self) -> bool:
        return any(found.is_capped for found in self.found.values())


class SearchOrchestrator:
    """Answers search requests. `zone` is the viewer's time zone, in which days begin."""

    def __init__(self, zone: tzinfo = UTC) -> None:
        self.zone = zone

    def search(self, request: SearchRequest, *, with_facets: bool = True) -> SearchResult:
        """Return a page of hits; never raises for what a person can type or what may be broken in the index.

        All words are required; when no memory has them all, those with any are returned and `is_relaxed` says so.
        """
        started = time.perf_counter()
        search = self._find(request)
        keys, scores, following = self._page(search)
        words = _words(search.plans)
        hits = hydrate(keys, scores, words)
        meant = None if search.total and not search.is_relaxed else self._did_you_mean(request)
        return SearchResult(
            query=request.query,
            mode=str(request.mode),
            strategy="scan" if search.fallback and len(search.strategy.failed) == len(search.plans) else "sqlite",
            fallback=search.fallback,
            filters=request.filters(),
            explanation=request.explanation,
            total=search.total,
            total_is_capped=search.is_capped,
            took_ms=(time.perf_counter() - started) * 1000,
            did_you_mean=meant,
            hits=tuple(hits),
            facets=count_facets(search.found, request.tree) if with_facets else {},
            next=following,
            is_relaxed=search.is_relaxed,
            ranked=search.ranked,
            notes=tuple(search.notes),
        )

    def find_by_concept(self, concept: str, request: SearchRequest = EVERYTHING) -> SearchResult:
        """Return the memories with a concept among those that a request asks for; newest first without words."""
        return self.search(replace(request, concepts=(concept,)))

    def find_by_type(self, type: str, request: SearchRequest = EVERYTHING) -> SearchResult:
        """Return the observations of a type among what a request asks for; newest first without words."""
        return self.search(replace(request, types=(type,)))

    def find_by_file(self, file: str, request: SearchRequest = EVERYTHING) -> SearchResult:
        """Return what is remembered about a file among what a request asks for; newest first without words.

        `file` is an exact path, a base name, a directory (`src/` with all below it, `src/*` without) or a glob.
        """
        return self.search(replace(request, files=(file,)))

    def count(self, request: SearchRequest) -> tuple[int, bool]:
        """Return how many memories a request finds, and whether there are more than were counted."""
        search = self._find(request, relax=False)
        return search.total, search.is_capped

    def _find(self, request: SearchRequest, *, relax: bool = True) -> _Search:
        notes = [note.message for note in request.parsed.notes]
        search = self._found(request, request.tree, notes)
        if relax and not search.total and (relaxed := relaxed_tree(request.tree)) is not None:
            search = self._found(request, relaxed, notes)
            search.is_relaxed = search.total > 0
        return search

    def _found(self, request: SearchRequest, tree: Node, notes: list[str]) -> _Search:
        compiler = Compiler(request, FieldResolver(self.zone))
        plans = {kind: plan for kind in Kind if not (plan := compiler.plan(kind, tree)).is_empty}
        strategy = SQLiteSearchStrategy(plans)
        cursor, last_ids = None, None
        if request.cursor and request.effective_order is Order.RELEVANCE:
            try:
                cursor = decode(request.cursor, Order.RELEVANCE)
                last_ids = cursor.last_ids if isinstance(cursor, RankCursor) else None
            except ValueError:
                pass  # said by _page, which reads the cursor again
        found = strategy.find(COUNTED, last_ids)
        search = _Search(request, plans, strategy, found, list(dict.fromkeys([*notes, *compiler.notes])))
        self._scan_failed(search, last_ids)
        return search

    def _scan_failed(self, search: _Search, last_ids: Mapping[Kind, int] | None) -> None:
        """Answer for the kinds whose index failed by reading rows."""
        if not search.strategy.failed:
            return
        for kind, reason in search.strategy.failed.items():
            logger.warning("keyword index of %s cannot be used: %s", kind, reason)
            scan = ScanStrategy(search.plans)
            search.found[kind] = scan.find(kind, COUNTED, None if last_ids is None else last_ids.get(kind, 0))
        names = ", ".join(kind.plural for kind in search.strategy.failed)
        search.fallback = Fallback(
            "sqlite",
            f"the keyword index of {names} cannot be read, so the newest of them were read one by one;"
            " `memweb index rebuild` repairs it",
        )

    def _page(self, search: _Search) -> tuple[list[Key], dict[Key, tuple[int, Score]], str | None]:
        """Return the keys of this page, scores by key (with their rank), and the cursor of the next page."""
        request = search.request
        order = request.effective_order
        cursor = None
        if request.cursor:
            try:
                cursor = decode(request.cursor, order)
            except ValueError as error:
                search.notes.append(str(error))
        if order is Order.RELEVANCE:
            return self._page_by_rank(search, cursor if isinstance(cursor, RankCursor) else None)
        rows = self._page_by_time(search, order, cursor if isinstance(cursor, TimeCursor) else None)
        return [key for key, _ in rows[: request.limit]], {}, _next_by_time(order, rows, request.limit)

    def _page_by_time(self, search: _Search, order: Order, cursor: TimeCursor | None) -> list[tuple[Key, str | None]]:
        request = search.request
        found = search.found
        if any(one.is_capped and not one.is_dense for one in found.values()) and not search.strategy.failed:
            found = search.strategy.find(SORTED)
        wanted = request.limit + 1 + (0 if cursor else request.offset)
        rows = search.strategy.page_by_time(order, wanted, cursor, found)
        return rows if cursor else rows[request.offset :]

    def _page_by_rank(
        self, search: _Search, cursor: RankCursor | None
    ) -> tuple[list[Key], dict[Key, tuple[int, Score]], str | None]:
        request = search.request
        offset = cursor.offset if cursor else request.offset
        ranking = self._rank(search)
        page = ranking[offset : offset + request.limit]
        following = None
        if len(ranking) > offset + request.limit:
            last_ids = cursor.last_ids if cursor else {kind: max(f.ids, default=0) for kind, f in search.found.items()}
            following = encode(RankCursor(offset + request.limit, last_ids))
        scores = {key: (offset + place, score) for place, (key, score) in enumerate(page, start=1)}
        return [key for key, _ in page], scores, following

    def _rank(self, search: _Search) -> list[tuple[Key, Score]]:
        """Return candidates in a total order: score, then newest, then kind and id."""
        words = _words(search.plans)
        window = _window({kind: found.ids for kind, found in search.found.items()}, RANKED)
        if search.total > RANKED:
            search.ranked = RANKED
            for more in self._beyond_window(search, words):
                for kind, ids in more.items():
                    window[kind] = list(dict.fromkeys([*window.get(kind, []), *ids]))
        candidates = search.strategy.candidates(window)
        collection = collection_statistics(words, search.plans)
        scores = score_rows([one.terms for one in candidates], words, collection)
        ranked = sorted(
            zip(candidates, scores, strict=True),
            key=lambda pair: (pair[1].value, pair[0].created_at or "", pair[0].kind, pair[0].id),
            reverse=True,
        )
        return [((one.kind, one.id), score) for one, score in ranked]

    def _beyond_window(self, search: _Search, words: list[AnyPhrase]) -> Iterator[dict[Kind, list[int]]]:
        """Yield rows that are likely the best of very many although they are not among the newest."""
        if len(words) > 1:
            yield search.strategy.with_phrase(AnyPhrase("", (_consecutive(words),)), MORE_CANDIDATES)
        for word in words:
            whole = tuple(one for one in word.alternatives if not one.prefix)
            if 0 < len(whole) < len(word.alternatives):
                yield search.strategy.with_phrase(AnyPhrase(word.label, whole), MORE_CANDIDATES)
        if search.is_relaxed:
            yield search.strategy.best(MORE_CANDIDATES)

    def _did_you_mean(self, request: SearchRequest) -> DidYouMean | None:
        """Return a better spelling of the query when it finds something."""
        query = suggest(request.parsed.tree)
        if query is None:
            return None
        total, is_capped = self.count(replace(request, query=query, cursor="", offset=0))
        return DidYouMean(query, total, is_capped) if total else None


def relaxed_tree(tree: Node) -> Node | None:
    """Return the tree with any instead of all of its words; None when there is nothing to relax."""
    members = tree.nodes if isinstance(tree, And) else (tree,)
    words = [node for node in members if isinstance(node, Word | Phrase | Prefix)]
    # Function words are in every other memory, and so are the words that begin like them.
    telling = [node for node in words if not is_stop_word(Word(node.text))]
    if not telling or len(words) < 2:
        return None
    return And((Or(tuple(telling)), *(node for node in members if node not in words)))


def _next_by_time(order: Order, rows: list[tuple[Key, str | None]], limit: int) -> str | None:
    """Return the cursor of what follows the first `limit` rows; None when nothing does."""
    if len(rows) <= limit:
        return None
    (kind, id), stored = rows[limit - 1]
    moment = datetime.fromisoformat(stored).replace(tzinfo=UTC) if stored else None
    return encode(TimeCursor(order, moment, kind, id))


def _words(plans: Mapping[Kind, Plan]) -> list[AnyPhrase]:
    """Return the words of the query, each once: they are the same for every kind."""
    found = [word for plan in plans.values() if plan.expression for word in phrases(plan.expression)]
    return list(dict.fromkeys(found))


def _window(ids: Mapping[Kind, list[int]], size: int) -> dict[Kind, list[int]]:
    """Return the newest ids of each kind, `size` in all, shared in proportion to how many there are."""
    total = sum(map(len, ids.values()))
    if total <= size:
        return dict(ids)
    return {kind: some[: max(1, size * len(some) // total)] for kind, some in ids.items() if some}


def _consecutive(words: list[AnyPhrase]) -> Alternative:
    return Alternative(tuple(atom for word in words for atom in word.alternatives[0].atoms))
