"""Page objects: everything that the templates of the search page show, so that they compute nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from urllib.parse import urlencode

from django.urls import reverse
from django.utils.safestring import SafeString

from memweb.memories.kinds import Kind
from memweb.memories.models import Memory, Project, TimeQuality
from search.analysis import clean
from search.query import FieldName, Node, fields, remove_field, to_text, toggle_field
from search.request import Order, Problem, SearchRequest
from search.results import DidYouMean, FacetValue, Hit, SearchResult

FACET_VALUES_SHOWN = 12
FACET_LABELS = {"kind": "Kind", "project": "Project"}
ORDER_LABELS = {Order.RELEVANCE: "Relevance", Order.NEWEST: "Newest", Order.OLDEST: "Oldest"}
TIPS = (
    ("login timeout", "both words, in any order"),
    ('"rate limit"', "this phrase"),
    ("auth -draft", "without a word"),
    ("type:bugfix project:web-api", "filters in the text"),
    ("file:src/auth.py", "what is remembered about a file"),
    ("after:7d", "the last seven days"),
)


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    label: str
    selected: bool
    url: str


@dataclass(frozen=True, slots=True)
class FacetLink:
    value: str
    label: str
    count: int | None
    count_label: str
    selected: bool
    url: str


@dataclass(frozen=True, slots=True)
class Facet:
    name: str
    label: str
    values: list[FacetLink]
    more: int
    note: str


@dataclass(frozen=True, slots=True)
class Pill:
    label: str
    remove_url: str


@dataclass(frozen=True, slots=True)
class Suggestion:
    query: str
    total_label: str
    url: str


@dataclass(frozen=True, slots=True)
class HitView:
    ref: str
    url: str
    kind: str
    kind_label: str
    type: str
    title: SafeString | str
    snippet: SafeString | str
    project_label: str
    project_url: str
    session_label: str
    session_url: str
    created_at: datetime | None
    time_note: str
    matched: str
    why: list[tuple[str, str]]
    files: list[str]
    more_files: int
    concepts: list[tuple[str, str]]
    tags: list[str]
    flags: list[str]
    tokens_label: str


@dataclass(frozen=True, slots=True)
class SearchPage:
    """What `/` shows, whole or as a fragment."""

    query: str
    canonical_url: str
    order_choices: list[Choice]
    facets: list[Facet]
    pills: list[Pill]
    explanation: str
    total_label: str
    took_label: str
    notes: list[str]
    fallback: str
    relaxed: str
    did_you_mean: Suggestion | None
    hits: list[HitView]
    next_url: str
    first_url: str
    position_label: str
    index_is_empty: bool
    hidden_fields: list[tuple[str, str]]
    tips: list[tuple[str, str, str]] = field(default_factory=list)


def search_page(
    request: SearchRequest, result: SearchResult, problems: Iterable[Problem], *, first_position: int, is_empty: bool
) -> SearchPage:
    """Return the page object of a search; `first_position` is the number of the first hit, counted from 1."""
    links = Links(request)
    hits = [hit_view(hit, links) for hit in result.hits]
    last = first_position + len(hits) - 1
    return SearchPage(
        query=request.query,
        canonical_url=links.canonical(),
        order_choices=links.orders(),
        facets=[_facet(name, values, links) for name, values in result.facets.items()],
        pills=links.pills(),
        explanation=clean(result.explanation),
        total_label=total_label(result),
        took_label=f"{result.took_ms:.0f} ms",
        notes=[f"{problem.field}: {problem.message}; it was left out." for problem in problems] + list(result.notes),
        fallback=result.fallback.reason if result.fallback else "",
        relaxed="No memory has all the words; these have some of them." if result.is_relaxed else "",
        did_you_mean=_suggestion(result.did_you_mean, links),
        hits=hits,
        next_url=links.page(result.next) if result.next else "",
        first_url=links.canonical() if request.cursor or request.offset else "",
        position_label=f"{first_position:,}–{last:,}" if hits else "",
        index_is_empty=is_empty,
        hidden_fields=links.hidden_fields(),
        tips=[(query, meaning, links.url(query=query)) for query, meaning in TIPS]
        if not hits or not request.query
        else [],
    )


class Links:
    """Addresses of the search page for edits of one request. Filters live in the query text, so URLs stay short."""

    def __init__(self, request: SearchRequest) -> None:
        self._request = request
        self._tree = request.parsed.tree

    def url(self, *, query: str | None = None, order: Order | None = None, **more: str) -> str:
        text = self._request.query if query is None else query
        chosen = order or self._request.order
        parameters = {"q": text} | ({"order": str(chosen)} if chosen else {}) | self._filters() | more
        encoded = urlencode([(name, value) for name, value in _pairs(parameters) if value != ""])
        return reverse("search") + (f"?{encoded}" if encoded else "")

    def canonical(self) -> str:
        return self.url()

    def page(self, cursor: str) -> str:
        return self.url(cursor=cursor)

    def orders(self) -> list[Choice]:
        current = self._request.effective_order
        offered = [order for order in Order if order is not Order.RELEVANCE or self._request.has_words]
        return [Choice(str(order), ORDER_LABELS[order], order is current, self.url(order=order)) for order in offered]

    def toggled(self, name: FieldName, value: str) -> str:
        return self.url(query=to_text(toggle_field(self._tree, name, value)))

    def pills(self) -> list[Pill]:
        """Return the filters in the query text, each with the address that leaves it out."""
        pills = []
        for one, negated in fields(self._tree):
            for value in one.values:
                label = f"{'not ' if negated else ''}{one.name}: {value or '(empty)'}"
                tree: Node = (
                    self._without_negated(one.name, value) if negated else remove_field(self._tree, one.name, value)
                )
                pills.append(Pill(clean(label), self.url(query=to_text(tree))))
        for name, values in self._filters().items():
            pills += [Pill(clean(f"{name}: {value}"), self._without(name, value)) for value in values]
        return pills

    def hidden_fields(self) -> list[tuple[str, str]]:
        """Return what the search form must send along with the text."""
        order = [("order", str(self._request.order))] if self._request.order else []
        return order + list(_pairs(self._filters()))

    def _without_negated(self, name: FieldName, value: str) -> Node:
        from search.query import And, Field, Not, normalize

        members = self._tree.nodes if isinstance(self._tree, And) else (self._tree,)
        kept: list[Node] = []
        for node in members:
            match node:
                case Not(Field(field_name, values)) if field_name is name and value in values:
                    rest = tuple(one for one in values if one != value)
                    kept += [Not(Field(name, rest))] if rest else []
                case _:
                    kept.append(node)
        return normalize(And(tuple(kept)))

    def _filters(self) -> dict[str, list[str]]:
        """Return filters that came beside the query text, by parameter name."""
        found = {str(one.name): list(one.values) for one in self._request.filter_fields()}
        if self._request.date_start:
            found["after"] = [self._request.date_start.isoformat()]
        if self._request.date_end:
            found["before"] = [self._request.date_end.isoformat()]
        return found

    def _without(self, name: str, value: str) -> str:
        filters = {
            key: [one for one in values if (key, one) != (name, value)] for key, values in self._filters().items()
        }
        parameters: dict[str, object] = {"q": self._request.query, **filters}
        encoded = urlencode([pair for pair in _pairs(parameters) if pair[1] != ""])
        return reverse("search") + (f"?{encoded}" if encoded else "")


def hit_view(hit: Hit, links: Links) -> HitView:
    """Return what a list shows of one hit."""
    memory = hit.memory
    return HitView(
        ref=str(hit.ref),
        url=memory.get_absolute_url(),
        kind=str(hit.kind),
        kind_label=hit.kind.label,
        type=clean(getattr(memory, "type", "")),
        title=hit.title_html,
        snippet=hit.snippet_html,
        project_label=clean(memory.project.label),
        project_url=links.toggled(FieldName.PROJECT, memory.project.name),
        session_label=clean(memory.session.label[:80]) if memory.session else "",
        session_url=links.url(query=f"session:{memory.session_id}", order=Order.OLDEST) if memory.session else "",
        created_at=memory.created_at,
        time_note=time_note(memory),
        matched=hit.explain.matched_via,
        why=_why(hit),
        files=[clean(path) for path in hit.files[:3]],
        more_files=max(0, len(hit.files) - 3),
        concepts=[(clean(name), links.toggled(FieldName.CONCEPT, name)) for name in hit.concepts],
        tags=[clean(name) for name in hit.tags],
        flags=[flag for flag in memory.flags if flag != "doubtful"],
        tokens_label=f"{memory.discovery_tokens:,} tokens" if memory.discovery_tokens else "",
    )


def time_note(memory: Memory) -> str:
    """Return what must be said of a memory's time; empty when it can be trusted."""
    match memory.time_quality:
        case TimeQuality.UNKNOWN:
            return "time unknown"
        case TimeQuality.DOUBTFUL:
            return "time doubtful"
        case _:
            return ""


def total_label(result: SearchResult) -> str:
    """Return how many memories were found, in words."""
    noun = "memory" if result.total == 1 and not result.total_is_capped else "memories"
    label = f"{'more than ' if result.total_is_capped else ''}{result.total:,} {noun}"
    if result.ranked and result.ranked < result.total:
        label += f", the newest {result.ranked:,} ranked"
    return label


def _facet(name: str, values: tuple[FacetValue, ...], links: Links) -> Facet:
    shown = values[:FACET_VALUES_SHOWN] + tuple(one for one in values[FACET_VALUES_SHOWN:] if one.selected)
    is_capped = any(one.is_capped for one in values)
    return Facet(
        name=name,
        label=FACET_LABELS[name],
        values=[
            FacetLink(
                value=one.value,
                label=_facet_label(name, one.value),
                count=one.count,
                count_label=f"{one.count:,}{'+' if one.is_capped else ''}",
                selected=one.selected,
                url=links.toggled(FieldName(name), one.value),
            )
            for one in shown
        ],
        more=len(values) - len(shown),
        note="Counting stopped; there are more." if is_capped else "",
    )


def _facet_label(name: str, value: str) -> str:
    if name == "kind":
        plural = Kind(value).plural
        return plural[0].upper() + plural[1:]
    return clean(Project(name=value).label)


def _suggestion(meant: DidYouMean | None, links: Links) -> Suggestion | None:
    if meant is None:
        return None
    noun = "memory" if meant.total == 1 else "memories"
    label = f"{'more than ' if meant.is_capped else ''}{meant.total:,} {noun}"
    return Suggestion(meant.query, label, links.url(query=meant.query))


def _why(hit: Hit) -> list[tuple[str, str]]:
    explain = hit.explain
    rows: list[tuple[str, str]] = []
    if explain.keyword_rank is not None:
        rows.append(("Keyword rank", str(explain.keyword_rank)))
    if explain.bm25 is not None:
        rows.append(("BM25", f"{explain.bm25:.2f}"))
    if explain.bonuses:
        rows.append(("Bonus for", ", ".join(explain.bonuses)))
    if hit.score is not None:
        rows.append(("Score", f"{hit.score:.2f}"))
    if explain.words:
        rows.append(("Words found", ", ".join(explain.words)))
    if explain.matched_via:
        rows.append(("Found in", explain.matched_via))
    return rows


def _pairs(parameters: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    for name, value in parameters.items():
        if isinstance(value, list):
            yield from ((name, str(one)) for one in value)
        else:
            yield name, str(value)
