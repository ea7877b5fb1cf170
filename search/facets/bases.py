"""What each facet counts in: the matches of the whole search, or those of the search without the facet's own filter."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from memweb.memories.kinds import Kind
from search.facets.clock import Clock
from search.facets.matches import Matches, matches_of
from search.facets.names import KINDS, FacetName
from search.query import edited_text, fields, without_fields
from search.request import FILTERS, SearchRequest
from search.strategies.sqlite import Found, SQLiteSearchStrategy


@dataclass(frozen=True, slots=True)
class Findings:
    """What a search found, and the strategy whose plans find the same."""

    found: Mapping[Kind, Found]
    strategy: SQLiteSearchStrategy
    last_ids: Mapping[Kind, int] | None = None

    def matches(self, clock: Clock, read: int) -> dict[Kind, Matches]:
        return matches_of(self.found, self.strategy, clock, self.last_ids, read=read)


Find = Callable[[SearchRequest], Findings]


def own_bases(
    names: Collection[FacetName], request: SearchRequest, find: Find, clock: Clock, read: int
) -> dict[FacetName, dict[Kind, Matches]]:
    """Return the matches that the facets with filters of their own count in, as far as the time suffices."""
    filtered = {field.name for field, _ in fields(request.tree)}
    bases: dict[FacetName, dict[Kind, Matches]] = {}
    for name in names:
        if name.field in filtered and clock.seconds:
            own = find(without_own(request, name)).matches(clock, read)
            bases[name] = {kind: one for kind, one in own.items() if kind in KINDS.get(name, Kind)}
    return bases


def without_own(request: SearchRequest, name: FacetName) -> SearchRequest:
    """Return the request without the filters of a facet."""
    query = edited_text(without_fields(request.parsed.tree, name.field), request.parsed)
    return replace(request, query=query, cursor="", offset=0, **{FILTERS[name.field]: ()})  # type: ignore[arg-type]
