"""One session as a run: its memories in the order of time, kind and id, read in windows."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Count, Max, Min, Q, QuerySet
from django.db.models.fields.tuple_lookups import Tuple, TupleGreaterThan, TupleLessThan

from memweb.memories.kinds import Kind
from memweb.memories.models import MEMORY_MODELS, Session, State, memory_model
from search.cursors import TimeCursor
from search.keyword.rows import Key
from search.request import Order

Place = tuple[datetime | None, Kind, int]

_NO_TIME = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive places of a run; `before` and `after` are the places right beside it, None where there is none."""

    places: list[Place]
    before: Place | None
    after: Place | None

    @property
    def keys(self) -> list[Key]:
        return [(kind, id) for _, kind, id in self.places]


@dataclass(frozen=True, slots=True)
class Extent:
    """How many memories of each kind a run has, and its first and last moment."""

    counts: dict[Kind, int]
    first: datetime | None
    last: datetime | None
    without_time: int


def visible(kind: Kind, *sessions: Session) -> QuerySet[Any]:
    """Return the memories of one kind that runs show: superseded ones too, for they are part of what happened."""
    rows: QuerySet[Any] = memory_model(kind).objects.filter(state=State.ACTIVE, is_noise=False)
    return rows.filter(session=sessions[0]) if len(sessions) == 1 else rows.filter(session__in=sessions)


def extent_of(session: Session) -> Extent:
    """Return the extent of a run, in one statement for each kind."""
    counts, firsts, lasts, unknown = {}, [], [], 0
    for kind in MEMORY_MODELS:
        found = visible(kind, session).aggregate(
            count=Count("pk"),
            first=Min("created_at"),
            last=Max("created_at"),
            unknown=Count("pk", filter=Q(created_at__isnull=True)),
        )
        counts[kind] = found["count"]
        unknown += found["unknown"]
        if found["first"]:
            firsts.append(found["first"])
            lasts.append(found["last"])
    return Extent(counts, min(firsts, default=None), max(lasts, default=None), unknown)


def read_window(session: Session, size: int, after: Place | None = None) -> Window:
    """Return the `size` memories after a place, or the first ones."""
    places = _walk(session, Order.OLDEST, size + 1, after)
    return Window(places[:size], after, places[size] if len(places) > size else None)


def read_window_before(session: Session, size: int, before: Place) -> Window:
    """Return the `size` memories before a place."""
    places = _walk(session, Order.NEWEST, size + 1, before)
    shown = places[:size][::-1]
    return Window(shown, places[size] if len(places) > size else None, before)


def read_window_around(session: Session, size: int, place: Place) -> Window:
    """Return a window with a place in its middle."""
    earlier = read_window_before(session, size // 2, place)
    later = read_window(session, size // 2, place)
    return Window([*earlier.places, place, *later.places], earlier.before, later.after)


def cursor_of(place: Place) -> TimeCursor:
    moment, kind, id = place
    return TimeCursor(Order.OLDEST, moment, kind, id)


def _walk(session: Session, order: Order, count: int, start: Place | None) -> list[Place]:
    """Return places beyond the start, nearest first. Unknown times come after all known ones."""
    known = order is Order.OLDEST
    found: list[Place] = []
    for is_known in (known, not known):
        if len(found) < count:
            found += _walk_part(session, order, count - len(found), start, is_known=is_known)
    return found


def _walk_part(session: Session, order: Order, count: int, start: Place | None, *, is_known: bool) -> list[Place]:
    parts = [
        rows
        for kind in MEMORY_MODELS
        if (rows := _beyond(visible(kind, session), kind, order, start, is_known=is_known)) is not None
    ]
    sign = "" if order is Order.OLDEST else "-"
    names = ("created_at", "pk") if is_known else ("pk",)
    found = [
        (moment, kind, id)
        for kind, rows in parts
        for id, moment in rows.order_by(*(f"{sign}{name}" for name in names)).values_list("pk", "created_at")[:count]
    ]
    found.sort(key=lambda place: (place[0] or _NO_TIME, place[1], place[2]))
    return (found if order is Order.OLDEST else found[::-1])[:count]


def _beyond(
    rows: QuerySet[Any], kind: Kind, order: Order, start: Place | None, *, is_known: bool
) -> tuple[Kind, QuerySet[Any]] | None:
    """Return the rows of a kind beyond the start among those with (or without) a time; None when there are none."""
    rows = rows.filter(created_at__isnull=not is_known)
    if start is None:
        return kind, rows
    moment, start_kind, start_id = start
    forward = order is Order.OLDEST
    comes_beyond = kind > start_kind if forward else kind < start_kind
    if (moment is not None) != is_known:
        # Known times come before unknown ones.
        return (kind, rows) if is_known != forward else None
    if moment is None:
        if kind == start_kind:
            return kind, rows.filter(**{"pk__gt" if forward else "pk__lt": start_id})
        return (kind, rows) if comes_beyond else None
    if kind == start_kind:
        lookup = TupleGreaterThan if forward else TupleLessThan
        return kind, rows.filter(lookup(Tuple("created_at", "pk"), (moment, start_id)))
    name = f"created_at__{'gt' if forward else 'lt'}{'e' if comes_beyond else ''}"
    return kind, rows.filter(**{name: moment})
