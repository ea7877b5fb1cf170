"""Hits of a timeline grouped as people read them: by day in the viewer's zone, and within a day by session."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, tzinfo
from itertools import groupby

from memweb.memories.models import Session, TimeQuality
from search.results import Hit


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive hits of one session (None: of none). `is_continued`: it began on an earlier day or before others."""

    session: Session | None
    hits: tuple[Hit, ...]
    is_continued: bool


@dataclass(frozen=True, slots=True)
class Day:
    """One day of the calendar, with its length in hours: 23 or 25 when the clocks change."""

    date: date
    hours: int
    runs: tuple[Run, ...] = field(default=())


def by_day(hits: Iterable[Hit], zone: tzinfo) -> Iterator[Day]:
    """Yield the days of hits that have a time; the hits must be in order of time."""
    seen: set[int] = set()
    for day, members in groupby(hits, key=lambda hit: local_date(hit, zone)):
        runs = []
        for session_id, run in groupby(members, key=lambda hit: hit.memory.session_id or 0):
            some = tuple(run)
            session = some[0].memory.session
            is_continued = session_id in seen or (session is not None and _began_before(session, day, zone))
            runs.append(Run(session, some, is_continued and session is not None))
            seen.add(session_id)
        yield Day(day, hours_of(day, zone), tuple(runs))


def split_by_trust(hits: Iterable[Hit]) -> tuple[list[Hit], list[Hit]]:
    """Return the hits whose time can be trusted, and those whose time is unknown or doubtful, each in order."""
    trusted: list[Hit] = []
    others: list[Hit] = []
    for hit in hits:
        is_doubted = hit.memory.time_quality in {TimeQuality.DOUBTFUL, TimeQuality.UNKNOWN}
        (others if is_doubted or hit.memory.created_at is None else trusted).append(hit)
    return trusted, others


def local_date(hit: Hit, zone: tzinfo) -> date:
    """Return the day of a hit in a zone; only hits with a time have one."""
    assert hit.memory.created_at is not None, "hits without a time stand apart"  # noqa: S101
    return hit.memory.created_at.astimezone(zone).date()


def hours_of(day: date, zone: tzinfo) -> int:
    """Return how many hours a day has in a zone, rounded: 24, or 23 or 25 when the clocks change."""
    midnight = datetime(day.year, day.month, day.day, tzinfo=zone)
    following = day + timedelta(days=1)
    end = datetime(following.year, following.month, following.day, tzinfo=zone)
    # Datetimes of one zone are subtracted by the clock; what passed in between is what UTC says.
    return round((end.timestamp() - midnight.timestamp()) / 3600)


def _began_before(session: Session, day: date, zone: tzinfo) -> bool:
    return session.started_at is not None and session.started_at.astimezone(zone).date() < day
