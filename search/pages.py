"""Page objects: everything that the templates of the search page show, so that they compute nothing."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from django.utils.safestring import SafeString

from memweb.memories.kinds import Kind
from memweb.memories.models import Memory, Project, TimeQuality
from search.analysis import clean
from search.hydration import BY_MEANING
from search.links import Choice, Links, Pill
from search.query import FieldName
from search.request import Order, Problem, SearchRequest
from search.results import DidYouMean, FacetValue, Hit, SearchResult

FACET_VALUES_SHOWN = 12
FACET_LABELS = {"kind": "Kind", "project": "Project"}
TIPS = (
    ("login timeout", "both words, in any order"),
    ('"rate limit"', "this phrase"),
    ("auth -draft", "without a word"),
    ("type:bugfix project:web-api", "filters in the text"),
    ("file:src/auth.py", "what is remembered about a file"),
    ("after:7d", "the last seven days"),
)


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
    is_weak: bool = False
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True)
class SearchPage:
    """What `/` shows, whole or as a fragment."""

    query: str
    canonical_url: str
    order_choices: list[Choice]
    mode_choices: list[Choice]
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
        mode_choices=links.modes(),
        facets=[_facet(name, values, links) for name, values in result.facets.items()],
        pills=links.pills(),
        explanation=clean(result.explanation),
        total_label=total_label(result),
        took_label=took_label(result),
        notes=[f"{problem.field}: {problem.message}; it was left out." for problem in problems] + list(result.notes),
        fallback=result.fallback.reason if result.fallback else "",
        relaxed=relaxed_label(result),
        did_you_mean=_suggestion(result.did_you_mean, links),
        hits=hits,
        next_url=links.page(result.next) if result.next else "",
        first_url=links.canonical() if request.cursor or request.offset else "",
        position_label=f"{first_position:,}–{last:,}" if hits and first_position else "",
        index_is_empty=is_empty,
        hidden_fields=links.hidden_fields(),
        tips=[(query, meaning, links.url(query=query)) for query, meaning in TIPS]
        if not hits or not request.query
        else [],
    )


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
        matched=found_label(hit.explain.matched_via),
        why=_why(hit),
        files=[clean(path) for path in hit.files[:3]],
        more_files=max(0, len(hit.files) - 3),
        concepts=[(clean(name), links.toggled(FieldName.CONCEPT, name)) for name in hit.concepts],
        tags=[clean(name) for name in hit.tags],
        flags=[flag for flag in memory.flags if flag != "doubtful"],
        tokens_label=f"{memory.discovery_tokens:,} tokens" if memory.discovery_tokens else "",
        is_weak=hit.is_weak,
        before=hit.before,
        after=hit.after,
    )


def found_label(matched_via: str) -> str:
    """Return in words where a hit was found; empty when there was nothing to find."""
    fields = [name for name in matched_via.split(", ") if name and name != BY_MEANING]
    parts = [f"in {', '.join(fields)}"] if fields else []
    if len(fields) < len(matched_via.split(", ")) and matched_via:
        parts.append("by meaning")
    return f"Found {' and '.join(parts)}" if parts else ""


def time_note(memory: Memory) -> str:
    """Return what must be said of a memory's time; empty when it can be trusted."""
    match memory.time_quality:
        case TimeQuality.UNKNOWN:
            return "time unknown"
        case TimeQuality.DOUBTFUL:
            return "time doubtful"
        case _:
            return ""


def took_label(result: SearchResult) -> str:
    """Return how long the search took and by what it searched."""
    ways = {"hybrid": "words and meaning", "chroma": "meaning", "sqlite": "words", "scan": "words, read one by one"}
    way = ways.get(result.strategy, result.strategy) if result.query else ""
    return f"{result.took_ms:.0f} ms" + (f", by {way}" if way else "")


def relaxed_label(result: SearchResult) -> str:
    """Return what must be said of hits that have not all the words; empty when nothing need be said."""
    if result.is_weak:
        return "Nothing has these words or comes near their meaning; what follows is likely unrelated."
    if not result.is_relaxed:
        return ""
    if result.by_meaning:
        return "No memory has all the words; these come nearest by words and meaning."
    return "No memory has all the words; these have some of them."


def total_label(result: SearchResult) -> str:
    """Return how many memories were found, in words."""
    noun = "memory" if result.total == 1 and not result.total_is_capped else "memories"
    label = f"{'more than ' if result.total_is_capped else ''}{result.total:,} {noun}"
    if result.ranked and result.ranked < result.total:
        label += f", the newest {result.ranked:,} ranked"
    if result.by_meaning and result.by_meaning < result.total and result.strategy == "hybrid":
        label += f", {result.by_meaning:,} of them by meaning"
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
    if explain.vector_rank is not None:
        rows.append(("Rank by meaning", str(explain.vector_rank)))
    if explain.similarity is not None:
        rows.append(("Similarity", f"{explain.similarity:.2f}"))
    if explain.max_similarity is not None:
        rows.append(("Word by word", f"{explain.max_similarity:.2f}"))
    if explain.closet_boost is not None:
        rows.append(("Lifted by its closet", f"{explain.closet_boost:.2f}"))
    if explain.bonuses:
        rows.append(("Bonus for", ", ".join(explain.bonuses)))
    if hit.score is not None:
        rows.append(("Score", f"{hit.score:.2f}"))
    if explain.words:
        rows.append(("Words found", ", ".join(explain.words)))
    if explain.matched_via:
        rows.append(("Found in", explain.matched_via))
    return rows
