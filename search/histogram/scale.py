"""Hits over time: stretches of the calendar in the viewer's zone, as fine as the range allows, each with its hits."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo
from enum import StrEnum

MOST_BARS = 60


class Unit(StrEnum):
    """How long a bar is, from the finest on."""

    HOUR = "hour"
    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


@dataclass(frozen=True, slots=True)
class Bar:
    """The hits from `start` until before `end`, both UTC."""

    start: datetime
    end: datetime
    count: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """Bars without gaps between the first and the last hit, or over the whole period asked for.

    `unknown` hits have no time and are in no bar; `leaves_out`: for that, a period leaves out such memories.
    `is_partial`: counting stopped, so bars may be higher.
    """

    unit: Unit = Unit.HOUR
    bars: tuple[Bar, ...] = ()
    unknown: int = 0
    is_partial: bool = False
    leaves_out: bool = False


def scale(first: datetime, last: datetime, zone: tzinfo) -> tuple[Unit, list[datetime]]:
    """Return the finest unit that needs few enough bars to reach from one moment to another, and their edges (UTC).

    The edges are one more than the bars; `last` is in the last of them.
    """
    for unit in Unit:
        edges: list[datetime] = []
        for edge in edges_from(first, zone, unit):
            edges.append(edge)
            if edge > last or (len(edges) > MOST_BARS + 1 and unit is not Unit.YEAR):
                break
        if edges[-1] > last and (len(edges) <= MOST_BARS + 1 or unit is Unit.YEAR):
            return unit, edges
    raise AssertionError("years reach any moment")


def edges_from(moment: datetime, zone: tzinfo, unit: Unit) -> Iterator[datetime]:
    """Yield the beginning of the unit that a moment is in, and those of all that follow.

    Days and longer units begin at midnight of the calendar, so that one may be 23 or 25 hours long. Hours pass as
    they do, twice where the clock is put back.
    """
    local = moment.astimezone(zone)
    if unit is Unit.HOUR:
        edge = (local.replace(minute=0, second=0, microsecond=0)).astimezone(UTC)
        while True:
            yield edge
            edge += timedelta(hours=1)
    day = local.date()
    match unit:
        case Unit.WEEK:
            day -= timedelta(days=day.weekday())
        case Unit.MONTH:
            day = day.replace(day=1)
        case Unit.YEAR:
            day = day.replace(month=1, day=1)
    while True:
        yield datetime.combine(day, time(), zone).astimezone(UTC)
        match unit:
            case Unit.DAY | Unit.WEEK:
                day += timedelta(days=1 if unit is Unit.DAY else 7)
            case Unit.MONTH:
                day = (day + timedelta(days=31)).replace(day=1)
            case _:
                day = day.replace(year=day.year + 1)


def stored(moment: datetime) -> str:
    """Return a moment as the database holds it: texts in the order of time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")


def count_times(times: Iterable[str], edges: Sequence[datetime]) -> list[int]:
    """Return how many of these times, as stored, lie between each edge and the next."""
    bounds = list(map(stored, edges))
    counts = [0] * (len(bounds) + 1)
    for moment in times:
        counts[bisect_right(bounds, moment)] += 1
    return counts[1:-1]
