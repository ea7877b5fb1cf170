"""TimelineBuilder: the memories before and after an anchor, in the order of (time, kind, id) across all kinds."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from typing import Any

from search.cursors import TimeCursor
from search.hydration import hydrate
from search.keyword.rows import Key
from search.keyword_search import KeywordSearch, find_by_words
from search.query import FieldName, fields
from search.request import Order, SearchRequest
from search.results import Hit, iso_time
from search.timeline.anchors import Anchor, find_anchor, key_of

DEFAULT_DEPTH = 10
MAX_DEPTH = 200
NO_FILTERS = SearchRequest()


@dataclass(frozen=True, slots=True)
class Timeline:
    """Hits around an anchor, oldest first; the anchor's own is among them when a memory is the anchor.

    `found_anchor`: a memory is the anchor. `found_oldest` and `found_newest`: nothing comes before or after.
    `in_filters`: whether the anchor itself fulfils the filters. `request` holds the filters that were applied;
    `own_project`: one of them is the anchor's project, for nobody named one. `first_without_time` is the first of the
    memories whose time is unknown.
    """

    anchor: Anchor
    request: SearchRequest
    hits: tuple[Hit, ...]
    before: int
    after: int
    found_oldest: bool
    found_newest: bool
    in_filters: bool
    own_project: bool
    first_without_time: Key | None
    notes: tuple[str, ...] = ()

    @property
    def found_anchor(self) -> bool:
        return self.anchor.memory is not None

    def is_anchor(self, hit: Hit) -> bool:
        """Return whether a hit is the anchor itself."""
        return self.anchor.memory is not None and hit.ref == self.anchor.memory.ref

    def to_dict(self) -> dict[str, Any]:
        """Return the timeline as JSON-ready data; the times are ISO 8601 in UTC."""
        return {
            "anchor": {
                "ref": str(self.anchor.memory.ref) if self.anchor.memory else None,
                "time": iso_time(self.anchor.moment),
                "query": self.anchor.query or None,
                "in_filters": self.in_filters,
            },
            "found_anchor": self.found_anchor,
            "found_oldest": self.found_oldest,
            "found_newest": self.found_newest,
            "before": self.before,
            "after": self.after,
            "filters": self.request.filters(),
            "notes": list(self.notes),
            "results": [{**hit.to_dict(), "is_anchor": self.is_anchor(hit)} for hit in self.hits],
        }


class TimelineBuilder:
    """Builds timelines. `zone` is the viewer's time zone, in which dates without time are read."""

    def __init__(self, zone: tzinfo = UTC) -> None:
        self.zone = zone

    def timeline(
        self,
        anchor: str,
        before: int = DEFAULT_DEPTH,
        after: int = DEFAULT_DEPTH,
        filters: SearchRequest = NO_FILTERS,
        *,
        all_projects: bool = False,
        now: datetime | None = None,
    ) -> Timeline:
        """Return what fulfils the filters around an anchor, up to `before` and `after` memories (0 to MAX_DEPTH each).

        Without a project among the filters, a memory's timeline is that of its project, unless `all_projects`. Raises
        what `find_anchor` raises.
        """
        before, after = (min(max(depth, 0), MAX_DEPTH) for depth in (before, after))
        found = find_anchor(anchor, filters, self.zone, now)
        request, own_project = self._within_project(found, filters, all_projects=all_projects)
        search = find_by_words(request, self.zone)
        earlier = self._beside(search, found, Order.NEWEST, before)
        later = self._beside(search, found, Order.OLDEST, after)
        keys = [*reversed(earlier[:before]), *([key_of(found)] if found.memory else []), *later[:after]]
        return Timeline(
            anchor=found,
            request=request,
            hits=tuple(hydrate(keys, {}, search.words)),
            before=before,
            after=after,
            found_oldest=len(earlier) <= before,
            found_newest=len(later) <= after,
            in_filters=found.memory is None or self._holds(search, found),
            own_project=own_project,
            first_without_time=self._first_without_time(search) if found.moment else None,
            notes=tuple(search.notes) + ((search.fallback.reason,) if search.fallback else ()),
        )

    def _within_project(
        self, anchor: Anchor, filters: SearchRequest, *, all_projects: bool
    ) -> tuple[SearchRequest, bool]:
        if anchor.memory is None or all_projects or _names_project(filters):
            return filters, False
        return replace(filters, projects=(anchor.memory.project.name,)), True

    def _beside(self, search: KeywordSearch, anchor: Anchor, order: Order, depth: int) -> list[Key]:
        """Return the keys on one side of the anchor, nearest first, one more than `depth` where there is one.

        Memories of unknown time have no side: they stand beside an anchor of unknown time only.
        """
        cursor = TimeCursor(order, anchor.moment, *key_of(anchor))
        rows = search.rows_by_time(order, depth + 1, cursor)
        return [key for key, moment in rows if (moment is None) == (anchor.moment is None)]

    def _first_without_time(self, search: KeywordSearch) -> Key | None:
        rows = search.rows_by_time(Order.OLDEST, 1, TimeCursor(Order.OLDEST, None, *key_of(Anchor(None))))
        return rows[0][0] if rows else None

    def _holds(self, search: KeywordSearch, anchor: Anchor) -> bool:
        """Return whether the anchor would be found by the filters: it is the next row after the place before it."""
        kind, id = key_of(anchor)
        rows = search.rows_by_time(Order.OLDEST, 1, TimeCursor(Order.OLDEST, anchor.moment, kind, id - 1))
        return bool(rows) and rows[0][0] == (kind, id)


def _names_project(request: SearchRequest) -> bool:
    return any(field.name is FieldName.PROJECT and not negated for field, negated in fields(request.tree))
