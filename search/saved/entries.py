"""The memories of a saved search that may leave the house without anybody signing in."""

from dataclasses import dataclass, fields
from functools import cached_property

from memweb.memories.models import State
from search.orchestrator import SearchOrchestrator
from search.query import And, Field, FieldName, Node, Not, normalize
from search.request import Mode, Order, SearchRequest
from search.results import Hit
from search.saved.models import SavedSearch
from search.saved.saving import request_of, zone_of

ENTRIES = 50
HIDDEN_STATES = (str(State.ARCHIVED), str(State.TRASHED))


@dataclass(frozen=True)
class PublicRequest(SearchRequest):
    """A request that finds neither archived nor trashed memories, even when it asks for them."""

    @cached_property
    def tree(self) -> Node:
        return normalize(And((super().tree, Not(Field(FieldName.IS, HIDDEN_STATES)))))


def newest_hits(saved: SavedSearch) -> list[Hit]:
    """Return the newest memories that have everything the search asks for, whatever its order."""
    zone = zone_of(saved)
    asked = request_of(saved, zone)
    values = {field.name: getattr(asked, field.name) for field in fields(asked)}
    values |= {"mode": Mode.KEYWORD, "order": Order.NEWEST, "limit": ENTRIES, "offset": 0, "cursor": ""}
    result = SearchOrchestrator(zone).search(PublicRequest(**values), with_facets=False)
    # Those that merely come near are of no use to somebody who waits for what was asked for.
    hits = () if result.is_relaxed else result.hits
    return [hit for hit in hits if hit.memory.state == State.ACTIVE]
