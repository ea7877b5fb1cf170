"""Days of a timeline begin at midnight of the viewer and are as long as the clocks make them."""

from datetime import UTC, date, datetime
from zoneinfo import ZoneInfo

import pytest

from memweb.memories.models import Memory
from search.request import SearchRequest
from search.timeline import TimelineBuilder
from search.timeline.days import by_day, hours_of
from tests.factories import make_observation, make_session

pytestmark = pytest.mark.django_db

NEW_YORK = ZoneInfo("America/New_York")


@pytest.mark.parametrize(
    ("day", "zone", "hours"),
    [
        (date(2026, 3, 8), NEW_YORK, 23),
        (date(2026, 11, 1), NEW_YORK, 25),
        (date(2026, 3, 7), NEW_YORK, 24),
        (date(2026, 3, 29), ZoneInfo("Europe/Berlin"), 23),
        (date(2026, 10, 25), ZoneInfo("Europe/Berlin"), 25),
        (date(2026, 3, 8), ZoneInfo("UTC"), 24),
    ],
)
def test_day_has_the_hours_of_its_zone(day: date, zone: ZoneInfo, hours: int) -> None:
    assert hours_of(day, zone) == hours


def days_of(anchor: Memory, zone: ZoneInfo) -> list[tuple[str, int, list[tuple[int, bool]]]]:
    timeline = TimelineBuilder(zone).timeline(str(anchor.ref), 50, 50, SearchRequest())
    return [
        (str(day.date), day.hours, [(len(run.hits), run.is_continued) for run in day.runs])
        for day in by_day(timeline.hits, zone)
    ]


def test_session_across_midnight_is_continued_on_the_second_day() -> None:
    hours = [(7, 22), (7, 23), (8, 0), (8, 1), (8, 3), (8, 23)]  # by the clock of New York, which skips 2 o'clock
    moments = [datetime(2026, 3, day, hour, tzinfo=NEW_YORK).astimezone(UTC) for day, hour in hours]
    session = make_session("night", started_at=moments[0])
    memories = [make_observation(f"at {at}", session=session, created_at=at) for at in moments]
    assert days_of(memories[0], NEW_YORK) == [
        ("2026-03-07", 24, [(2, False)]),
        ("2026-03-08", 23, [(4, True)]),
    ]
    assert days_of(memories[0], ZoneInfo("UTC")) == [
        ("2026-03-08", 24, [(5, False)]),
        ("2026-03-09", 24, [(1, True)]),
    ]


def test_session_that_began_before_the_window_is_continued() -> None:
    session = make_session("long", started_at=datetime(2026, 1, 1, 9, tzinfo=UTC))
    anchor = make_observation("later", session=session, created_at=datetime(2026, 1, 3, 9, tzinfo=UTC))
    assert days_of(anchor, ZoneInfo("UTC")) == [("2026-01-03", 24, [(1, True)])]


def test_sessions_that_take_turns_are_told_apart() -> None:
    first, second = (make_session(f"session {number}") for number in range(2))
    memories = [
        make_observation(
            f"number {number}",
            session=[first, second][number % 2],
            created_at=datetime(2026, 1, 3, 9, number, tzinfo=UTC),
        )
        for number in range(4)
    ]
    make_observation("of no session", created_at=datetime(2026, 1, 3, 9, 30, tzinfo=UTC))
    runs = [(1, False), (1, False), (1, True), (1, True), (1, False)]
    assert days_of(memories[0], ZoneInfo("UTC")) == [("2026-01-03", 24, runs)]
