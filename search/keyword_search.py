"""One search by words while it runs: what was found of each kind, its ranking, its pages by time."""

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import tzinfo

from memweb.memories.kinds import Kind
from search.analysis import Alternative
from search.cursors import TimeCursor
from search.keyword.compiler import Compiler, is_stop_word
from search.keyword.expression import AnyPhrase, phrases
from search.keyword.filters import FieldResolver
from search.keyword.plan import Plan
from search.keyword.rows import Key
from search.keyword.statistics import collection_statistics
from search.query import And, Node, Or, Phrase, Prefix, Word
from search.ranking import Score, score_rows
from search.request import Order, SearchRequest
from search.results import Fallback
from search.strategies.sqlite import COUNTED, SORTED, Found, ScanStrategy, SQLiteSearchStrategy

logger = logging.getLogger(__name__)

# So many rows are ranked by their full text; of more, the newest.
RANKED = 1_000
MORE_CANDIDATES = 200


@dataclass(slots=True)
class KeywordSearch:
    """What a request finds by words and filters. `ranked`: how many rows were ranked, when not all were."""

    request: SearchRequest
    strategy: SQLiteSearchStrategy
    found: dict[Kind, Found]
    notes: list[str]
    words: list[AnyPhrase]
    fallback: Fallback | None = None
    is_relaxed: bool = False
    ranked: int | None = None
    _ranking: list[tuple[Key, Score]] | None = None
    _sortable: dict[Kind, Found] | None = None

    @property
    def plans(self) -> Mapping[Kind, Plan]:
        return self.strategy.plans

    @property
    def total(self) -> int:
        return sum(len(found.ids) for found in self.found.values())

    @property
    def is_capped(self) -> bool:
        return any(found.is_capped for found in self.found.values())

    @property
    def is_scan(self) -> bool:
        """Whether no index could be read at all."""
        return self.fallback is not None and len(self.strategy.failed) == len(self.plans)

    @property
    def ranking(self) -> list[tuple[Key, Score]]:
        """The candidates in a total order: score, then newest, then kind and id. Made when first asked for."""
        if self._ranking is None:
            self._ranking = self._rank()
        return self._ranking

    def _rank(self) -> list[tuple[Key, Score]]:
        window = _window({kind: found.ids for kind, found in self.found.items()}, RANKED)
        if self.total > RANKED:
            self.ranked = RANKED
            for more in self._beyond_window():
                for kind, ids in more.items():
                    window[kind] = list(dict.fromkeys([*window.get(kind, []), *ids]))
        candidates = self.strategy.candidates(window)
        collection = collection_statistics(self.words, self.plans)
        scores = score_rows([one.terms for one in candidates], self.words, collection)
        ranked = sorted(
            zip(candidates, scores, strict=True),
            key=lambda pair: (pair[1].value, pair[0].created_at or "", pair[0].kind, pair[0].id),
            reverse=True,
        )
        return [((one.kind, one.id), score) for one, score in ranked]

    def page_by_time(self, order: Order, cursor: TimeCursor | None) -> list[tuple[Key, str | None]]:
        """Return keys and times of the wanted page in order of time, one more than the page holds when there is one."""
        rows = self.rows_by_time(order, self.request.limit + 1 + (0 if cursor else self.request.offset), cursor)
        return rows if cursor else rows[self.request.offset :]

    def rows_by_time(self, order: Order, count: int, cursor: TimeCursor | None) -> list[tuple[Key, str | None]]:
        """Return keys and times (as stored) of the next `count` rows after the cursor; unknown times come last."""
        if self._sortable is None:
            self._sortable = self.found
            if any(one.is_capped and not one.is_dense for one in self.found.values()) and not self.strategy.failed:
                self._sortable = self.strategy.find(SORTED)
        return self.strategy.page_by_time(order, count, cursor, self._sortable)

    def _beyond_window(self) -> Iterator[dict[Kind, list[int]]]:
        """Yield rows that are likely the best of very many although they are not among the newest."""
        if len(self.words) > 1:
            yield self.strategy.with_phrase(AnyPhrase("", (_consecutive(self.words),)), MORE_CANDIDATES)
        for word in self.words:
            whole = tuple(one for one in word.alternatives if not one.prefix)
            if 0 < len(whole) < len(word.alternatives):
                yield self.strategy.with_phrase(AnyPhrase(word.label, whole), MORE_CANDIDATES)
        if self.is_relaxed:
            yield self.strategy.best(MORE_CANDIDATES)


def find_by_words(
    request: SearchRequest,
    zone: tzinfo,
    last_ids: Mapping[Kind, int] | None = None,
    *,
    relax: bool = False,
    resolver: FieldResolver | None = None,
) -> KeywordSearch:
    """Find what has all words of a request and fulfils its filters; `last_ids` bounds the rows by id.

    With `relax`, and when nothing has all words, any of them will do. A `resolver` knows the names of earlier searches.
    """
    resolver = resolver or FieldResolver(zone)
    notes = [note.message for note in request.parsed.notes]
    search = _found(request, request.tree, resolver, last_ids, notes)
    if relax and not search.total and (relaxed := relaxed_tree(request.tree)) is not None:
        search = _found(request, relaxed, resolver, last_ids, notes)
        search.is_relaxed = search.total > 0
    return search


def plans_of(request: SearchRequest, tree: Node, zone: tzinfo) -> dict[Kind, Plan]:
    """Return what each kind that may answer is asked for a tree, with the times and hidden states of the request."""
    return _compiled(request, tree, FieldResolver(zone))[0]


def relaxed_tree(tree: Node) -> Node | None:
    """Return the tree with any instead of all of its words; None when there is nothing to relax."""
    members = tree.nodes if isinstance(tree, And) else (tree,)
    words = [node for node in members if isinstance(node, Word | Phrase | Prefix)]
    # Function words are in every other memory, and so are the words that begin like them.
    telling = [node for node in words if not is_stop_word(Word(node.text))]
    if not telling or len(words) < 2:
        return None
    return And((Or(tuple(telling)), *(node for node in members if node not in words)))


def _found(
    request: SearchRequest,
    tree: Node,
    resolver: FieldResolver,
    last_ids: Mapping[Kind, int] | None,
    notes: list[str],
) -> KeywordSearch:
    plans, more_notes = _compiled(request, tree, resolver)
    strategy = SQLiteSearchStrategy(plans, last_ids)
    all_notes = list(dict.fromkeys([*notes, *more_notes]))
    search = KeywordSearch(request, strategy, strategy.find(COUNTED), all_notes, _words(plans))
    _scan_failed(search, last_ids)
    return search


def _compiled(request: SearchRequest, tree: Node, resolver: FieldResolver) -> tuple[dict[Kind, Plan], list[str]]:
    """Return the plans of the kinds that may answer, and what the person should know about them."""
    compiler = Compiler(request, resolver)
    plans = {kind: plan for kind in Kind if not (plan := compiler.plan(kind, tree)).is_empty}
    return plans, compiler.notes


def _scan_failed(search: KeywordSearch, last_ids: Mapping[Kind, int] | None) -> None:
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


def _words(plans: Mapping[Kind, Plan]) -> list[AnyPhrase]:
    """Return what the plans search for, each once: they are the same for every kind."""
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
