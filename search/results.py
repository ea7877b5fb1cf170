"""What a search returns: the same value for page, command line and every later surface."""

from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import Memory
from search.histogram.scale import Histogram


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a hit stands where it does. Ranks count from 1; distance is cosine distance in [0, 2].

    `parts` add up to the score; `terms` are what single words give to BM25.
    """

    keyword_rank: int | None = None
    bm25: float | None = None
    vector_rank: int | None = None
    distance: float | None = None
    similarity: float | None = None
    max_similarity: float | None = None
    closet_boost: float | None = None
    matched_via: str = ""
    bonuses: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    parts: tuple[tuple[str, float], ...] = ()
    terms: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class Relevance:
    """The score of one hit and what it is made of. `is_weak`: it has no word of the query and comes near by nothing."""

    score: float | None
    explain: Explanation
    is_weak: bool = False


@dataclass(frozen=True, slots=True)
class Hit:
    """One memory in a result. `before` and `after` are what stands beside a drawer in its session or file."""

    memory: Memory
    title: str
    snippet: str
    concepts: tuple[str, ...]
    files: tuple[str, ...]
    tags: tuple[str, ...]
    score: float | None
    explain: Explanation
    title_html: str = ""
    snippet_html: str = ""
    is_weak: bool = False
    before: str = ""
    after: str = ""

    @property
    def ref(self) -> Ref:
        return self.memory.ref

    @property
    def kind(self) -> Kind:
        return self.memory.kind

    def to_dict(self) -> dict[str, Any]:
        """Return the hit as every interface shows it; times are ISO 8601 in UTC."""
        memory = self.memory
        return {
            "ref": str(self.ref),
            "kind": str(self.kind),
            "type": getattr(memory, "type", ""),
            "title": self.title,
            "snippet": self.snippet,
            "project": memory.project.name,
            "session": memory.session.content_session_id or memory.session.memory_session_id if memory.session else "",
            "created_at": iso_time(memory.created_at),
            "url": memory.get_absolute_url(),
            "score": None if self.score is None else round(self.score, 4),
            "is_weak": self.is_weak,
            "before": self.before,
            "after": self.after,
            "explain": {
                **asdict(self.explain),
                "bonuses": list(self.explain.bonuses),
                "words": list(self.explain.words),
                "parts": {name: round(value, 4) for name, value in self.explain.parts},
                "terms": {name: round(value, 4) for name, value in self.explain.terms},
            },
        }


@dataclass(frozen=True, slots=True)
class FacetValue:
    """One value of a facet; `count` is a lower bound when `is_capped`.

    `written`: the values of the query, wanted or excluded, that mean this one.
    """

    value: str
    count: int
    selected: bool
    is_capped: bool = False
    is_excluded: bool = False
    written: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Fallback:
    """That a search was answered another way than asked: what failed and why, in words."""

    source: str
    reason: str


@dataclass(frozen=True, slots=True)
class DidYouMean:
    """Another query and how many memories it finds (a lower bound when `is_capped`)."""

    query: str
    total: int
    is_capped: bool


@dataclass(frozen=True, slots=True)
class SearchResult:
    """A page of hits and everything that needs to be said about it.

    `by_meaning` of the `total` have not all words and were found by their meaning. `is_weak`: no hit is a good one.
    `is_unread`: the model cannot read the query, as a note says.
    """

    query: str
    mode: str
    strategy: str
    fallback: Fallback | None
    filters: dict[str, object]
    explanation: str
    total: int
    total_is_capped: bool
    took_ms: float
    did_you_mean: DidYouMean | None
    hits: tuple[Hit, ...]
    facets: dict[str, tuple[FacetValue, ...]]
    next: str | None
    partial_facets: frozenset[str] = frozenset()
    histogram: Histogram | None = None
    used_chroma: bool = False
    is_relaxed: bool = False
    is_weak: bool = False
    is_unread: bool = False
    by_meaning: int = 0
    ranked: int | None = None
    notes: tuple[str, ...] = field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON-ready data, in the shape that every interface promises."""
        meant = self.did_you_mean
        return {
            "query": self.query,
            "mode": self.mode,
            "strategy": self.strategy,
            "used_chroma": self.used_chroma,
            "fallback": {"from": self.fallback.source, "reason": self.fallback.reason} if self.fallback else None,
            "filters": self.filters,
            "explanation": self.explanation,
            "total": self.total,
            "total_is_capped": self.total_is_capped,
            "took_ms": round(self.took_ms, 1),
            "did_you_mean": {"query": meant.query, "total": meant.total} if meant else None,
            "is_relaxed": self.is_relaxed,
            "is_weak": self.is_weak,
            "by_meaning": self.by_meaning,
            "notes": list(self.notes),
            "results": [hit.to_dict() for hit in self.hits],
            "facets": {
                name: [{"value": one.value, "count": one.count, "selected": one.selected} for one in values]
                for name, values in self.facets.items()
            },
            "next": self.next,
        }


def iso_time(moment: datetime | None) -> str | None:
    """Return a UTC time in ISO 8601 with milliseconds and Z; None for an unknown time."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z") if moment else None
