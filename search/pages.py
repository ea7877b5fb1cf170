"""Page objects: everything that the templates of the search page show, so that they compute nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils import timezone

from search.analysis import clean
from search.date_jump import DateJump
from search.facet_views import Facet, facet_views
from search.grouping import fold_identical, group_hits
from search.histogram_views import HistogramView, histogram_view
from search.hit_views import HitView, hit_view
from search.links import Choice, Links
from search.pills import Pill, pills
from search.query import And, Field, FieldName, Sentence, Word, describe, positive_words, required_part
from search.request import Order, Problem, SearchRequest
from search.results import DidYouMean, SearchResult
from search.times import end_text, start_text

NO_JUMP = DateJump()
TIPS = (
    ("login timeout", "both words, in any order"),
    ('"rate limit"', "this phrase"),
    ("auth -draft", "without a word"),
    ("type:bugfix project:web-api", "filters in the text"),
    ("file:src/auth.py", "what is remembered about a file"),
    ("after:7d", "the last seven days"),
)


@dataclass(frozen=True, slots=True)
class Suggestion:
    query: str
    total_label: str
    url: str


@dataclass(frozen=True, slots=True)
class GroupView:
    """Hits under one heading; the label is empty when results are not grouped."""

    label: str
    url: str
    hits: list[HitView]


@dataclass(frozen=True, slots=True)
class SearchPage:
    """What `/` shows, whole or as a fragment."""

    query: str
    canonical_url: str
    order_choices: list[Choice]
    mode_choices: list[Choice]
    facets: list[Facet]
    histogram: HistogramView | None
    pills: list[Pill]
    sentence: Sentence
    total_label: str
    took_label: str
    notes: list[str]
    fallback: str
    relaxed: str
    did_you_mean: Suggestion | None
    groups: list[GroupView]
    group_choices: list[Choice]
    next_url: str
    first_url: str
    position_label: str
    index_is_empty: bool
    hidden_fields: list[tuple[str, str]]
    date_fields: list[tuple[str, str]]
    jump: DateJump
    empty_label: str
    tips: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def has_hits(self) -> bool:
        return bool(self.groups)


def search_page(
    request: SearchRequest,
    result: SearchResult,
    problems: Iterable[Problem],
    *,
    first_position: int,
    is_empty: bool,
    jump: DateJump = NO_JUMP,
) -> SearchPage:
    """Return the page object of a search; `first_position` is the number of the first hit, counted from 1."""
    links = Links(request)
    hits = result.hits
    last = first_position + len(hits) - 1
    return SearchPage(
        query=request.query,
        canonical_url=links.canonical(),
        order_choices=links.orders(),
        mode_choices=links.modes(),
        facets=facet_views(request, result.facets, result.partial_facets),
        histogram=histogram_view(request, result.histogram) if result.histogram and result.hits else None,
        pills=pills(request) + jump_pill(jump, links),
        sentence=sentence(request, result),
        total_label=total_label(result),
        took_label=took_label(request, result),
        notes=[f"{problem.field}: {problem.message}; it was left out." for problem in problems] + list(result.notes),
        fallback=result.fallback.reason if result.fallback else "",
        relaxed=relaxed_label(result),
        did_you_mean=_suggestion(result.did_you_mean, links),
        groups=_groups(request, result, links),
        group_choices=links.groups() if len(hits) > 1 else [],
        next_url=links.page(result.next) if result.next else "",
        first_url=links.canonical() if request.cursor or request.offset else "",
        position_label=f"{first_position:,}–{last:,}" if hits and first_position else "",
        index_is_empty=is_empty,
        hidden_fields=links.hidden_fields(),
        date_fields=date_fields(request, links),
        jump=jump,
        empty_label=empty_label(request, jump),
        tips=[(query, meaning, links.url(query=query)) for query, meaning in TIPS]
        if not hits or not request.query
        else [],
    )


def _groups(request: SearchRequest, result: SearchResult, links: Links) -> list[GroupView]:
    zone = timezone.get_current_timezone()
    return [
        GroupView(clean(group.label), group.url, [hit_view(one.hit, links, one.same) for one in group.members])
        for group in group_hits(fold_identical(result.hits), request.group, zone)
    ]


def date_fields(request: SearchRequest, links: Links) -> list[tuple[str, str]]:
    """Return what the form for a date must send along: the search, in an order of time."""
    others = [(name, value) for name, value in links.hidden_fields() if name != "order"]
    order = Order.OLDEST if request.order is Order.OLDEST else Order.NEWEST
    return [("q", request.query), ("order", str(order)), *others]


def jump_pill(jump: DateJump, links: Links) -> list[Pill]:
    return [Pill(clean(f"starting at {jump.label}"), links.canonical())] if jump.date else []


def empty_label(request: SearchRequest, jump: DateJump) -> str:
    """Return the heading of a page without hits."""
    if jump.date:
        way = "since" if request.order is Order.OLDEST else "up to"
        return clean(f"No memory {way} {jump.label}")
    return "No more memories on this page" if request.cursor or request.offset else "No memory matches"


def took_label(request: SearchRequest, result: SearchResult) -> str:
    """Return how long the search took, by what it searched, and which part of the hits that concerns."""
    ways = {"hybrid": "words and meaning", "chroma": "meaning", "sqlite": "words", "scan": "words, read one by one"}
    way = ways.get(result.strategy, result.strategy) if request.has_words else ""
    parts = [f"{result.took_ms:.0f} ms", f"by {way}" if way else ""]
    if result.ranked and result.ranked < result.total:
        parts.append(f"the newest {result.ranked:,} ranked")
    if result.by_meaning and result.by_meaning < result.total and result.strategy == "hybrid":
        parts.append(f"{result.by_meaning:,} found by meaning")
    return ", ".join(filter(None, parts))


def relaxed_label(result: SearchResult) -> str:
    """Return what must be said of hits that have not all the words; empty when nothing need be said."""
    if result.is_weak and result.is_unread:
        return ""  # a note says that what is found is chance
    if result.is_weak:
        return "Nothing has these words or comes near their meaning; what follows is likely unrelated."
    if not result.is_relaxed:
        return ""
    if result.by_meaning:
        return "No memory has all the words; these come nearest by words and meaning."
    return "No memory has all the words; these have some of them."


def sentence(request: SearchRequest, result: SearchResult) -> Sentence:
    """Return in one sentence what is shown."""
    zone = timezone.get_current_timezone()
    start, end = request.date_start, request.date_end
    times = [Field(FieldName.AFTER, (start_text(start, zone),))] if start else []
    times += [Field(FieldName.BEFORE, (end_text(end, zone),))] if end else []
    tree = request.parsed.tree
    by_meaning = result.strategy == "chroma" or bool(result.by_meaning)
    if by_meaning:
        required = required_part(tree)
        wished = [text for text in positive_words(tree) if text not in positive_words(required)]
        tree = And((*map(Word, wished), required))
    said = describe(
        And((tree, *request.filter_fields(), *times)),
        result.total,
        is_capped=result.total_is_capped,
        by_meaning=by_meaning,
        with_any=result.is_relaxed,
    )
    return Sentence(clean(said.count), clean(said.rest))


def total_label(result: SearchResult) -> str:
    """Return how many memories were found, in words."""
    noun = "memory" if result.total == 1 and not result.total_is_capped else "memories"
    return f"{'more than ' if result.total_is_capped else ''}{result.total:,} {noun}"


def _suggestion(meant: DidYouMean | None, links: Links) -> Suggestion | None:
    if meant is None:
        return None
    noun = "memory" if meant.total == 1 else "memories"
    label = f"{'more than ' if meant.is_capped else ''}{meant.total:,} {noun}"
    return Suggestion(meant.query, label, links.url(query=meant.query))
