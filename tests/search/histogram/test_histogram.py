"""Hits over time: every bar is what its link leaves, days are those of the viewer, unknown times are in none."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import pytest
from bs4 import BeautifulSoup
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from memweb.memories.models import State, TimeQuality
from search.facets import count_facets
from search.facets.bases import Findings
from search.histogram.counts import count_over_time
from search.histogram.scale import MOST_BARS, Histogram, Unit, count_times, scale, stored
from search.keyword_search import find_by_words
from search.orchestrator import SearchOrchestrator
from search.request import SearchRequest
from tests.factories import make_drawer, make_observation, make_prompt, make_summary
from tests.search.searching import shown_refs

pytestmark = pytest.mark.django_db

BERLIN = ZoneInfo("Europe/Berlin")


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def histogram(query: str = "", zone: ZoneInfo = BERLIN) -> Histogram:
    result = SearchOrchestrator(zone).search(SearchRequest(query=query), with_histogram=True)
    assert result.histogram is not None
    return result.histogram


def shown(found: Histogram, zone: ZoneInfo = BERLIN) -> list[tuple[str, int]]:
    return [(bar.start.astimezone(zone).isoformat(timespec="minutes")[:16], bar.count) for bar in found.bars]


@pytest.mark.parametrize(
    ("first", "last", "unit", "bars"),
    [
        ("2026-01-20T10:00", "2026-01-20T10:00", Unit.HOUR, 1),
        ("2026-01-20T10:59", "2026-01-20T12:00", Unit.HOUR, 3),
        ("2026-01-20T00:00", "2026-01-22T11:59", Unit.HOUR, 60),
        ("2026-01-20T00:00", "2026-01-22T12:00", Unit.DAY, 3),
        ("2026-01-01", "2026-03-01", Unit.DAY, 60),
        ("2026-01-01", "2026-03-02", Unit.WEEK, 10),
        ("2026-01-01", "2027-03-31", Unit.MONTH, 15),
        ("2021-01-01", "2025-12-31", Unit.MONTH, 60),
        ("2021-01-01", "2026-01-01", Unit.YEAR, 6),
        ("2000-01-01", "2099-12-31", Unit.YEAR, 100),
    ],
)
def test_granularity_follows_the_range(first: str, last: str, unit: Unit, bars: int) -> None:
    ends = [datetime.fromisoformat(end).replace(tzinfo=BERLIN) for end in (first, last)]
    found, edges = scale(*ends, BERLIN)
    assert (found, len(edges) - 1) == (unit, bars)


MOMENTS = st.datetimes(min_value=datetime(2000, 1, 1), max_value=datetime(2099, 12, 31))  # noqa: DTZ001
ZONES = st.sampled_from([BERLIN, *map(ZoneInfo, ("America/Sao_Paulo", "Asia/Kathmandu", "Australia/Lord_Howe", "UTC"))])
LENGTHS = st.timedeltas(min_value=timedelta(0), max_value=timedelta(days=4000))


@settings(max_examples=200, deadline=None)
@given(MOMENTS, LENGTHS, ZONES)
def test_edges_ascend_and_hold_both_ends(first: datetime, length: timedelta, zone: ZoneInfo) -> None:
    first = first.replace(tzinfo=UTC)
    unit, edges = scale(first, first + length, zone)
    assert edges == sorted(set(edges))
    assert edges[0] <= first < edges[1]
    assert edges[-2] <= first + length < edges[-1]
    assert len(edges) <= MOST_BARS + 1
    if unit is not Unit.HOUR:
        assert all(edge.astimezone(zone).hour in {0, 1} for edge in edges)  # midnight may be skipped


@settings(max_examples=100, deadline=None)
@given(st.lists(MOMENTS, max_size=30), MOMENTS, LENGTHS)
def test_times_are_counted_between_edges(moments: list[datetime], first: datetime, length: timedelta) -> None:
    first = first.replace(tzinfo=UTC)
    _, edges = scale(first, first + length, BERLIN)
    aware = [moment.replace(tzinfo=UTC) for moment in moments]
    counts = count_times([str(moment) for moment in moments], edges)
    assert counts == [sum(low <= one < high for one in aware) for low, high in pairwise(edges)]
    assert stored(first) == str(first.replace(tzinfo=None, microsecond=0))


def test_days_are_those_of_the_viewer() -> None:
    for hour in ("22:59", "23:00", "23:30"):
        make_observation("x", created_at=at(f"2026-01-19T{hour}+00:00"))
    make_observation("x", created_at=at("2026-01-25T12:00+00:00"))
    assert shown(histogram())[:2] == [("2026-01-19T00:00", 1), ("2026-01-20T00:00", 2)]
    utc = ZoneInfo("UTC")
    assert shown(histogram(zone=utc), utc)[:2] == [("2026-01-19T00:00", 3), ("2026-01-20T00:00", 0)]
    assert len(histogram().bars) == 7


@pytest.mark.parametrize(
    ("day", "hours", "repeated"), [("2026-03-29", 23, []), ("2026-10-25", 25, ["02"]), ("2026-06-01", 24, [])]
)
def test_days_when_the_clocks_change(day: str, hours: int, repeated: list[str]) -> None:
    start = datetime.fromisoformat(day).replace(tzinfo=BERLIN).astimezone(UTC)
    for hour in range(hours):
        make_prompt("x", created_at=start + timedelta(hours=hour, minutes=30))
    found = histogram(f"after:{day} before:{day}")
    assert [bar.count for bar in found.bars] == [1] * hours
    clocks = [bar.start.astimezone(BERLIN).strftime("%H") for bar in found.bars]
    assert [clock for clock in dict.fromkeys(clocks) if clocks.count(clock) > 1] == repeated
    make_prompt("x", created_at=start - timedelta(days=3))
    [bar] = [bar for bar in histogram().bars if bar.start == start]
    assert (bar.count, bar.end - bar.start) == (hours, timedelta(hours=hours))


def test_unknown_times_are_told_apart() -> None:
    make_observation("x", created_at=None)
    make_observation("x", created_at=at("2026-01-20T10:00+00:00"), time_quality=TimeQuality.DOUBTFUL)
    found = histogram()
    assert (len(found.bars), found.unknown, found.bars[0].count) == (1, 1, 1)
    assert found.bars[0].start.year == 2026
    only = histogram("is:doubtful -after:2026")
    assert (only.bars, only.unknown) == ((), 1)


def test_a_period_leaves_out_what_has_no_time() -> None:
    make_observation("x", created_at=at("2026-01-20T10:00+00:00"))
    assert histogram("after:2026").leaves_out is False
    make_prompt("x", created_at=None)
    assert (histogram("after:2026").leaves_out, histogram("after:2026").unknown) == (True, 0)
    assert (histogram().leaves_out, histogram().unknown) == (False, 1)


def test_a_period_is_shown_whole_from_one_end_to_the_other() -> None:
    make_observation("x", created_at=at("2026-01-10T10:00+00:00"))
    make_observation("x", created_at=at("2026-01-12T10:00+00:00"))
    assert len(histogram("after:2026-01 before:2026-01").bars) == 31
    assert len(histogram("after:2026-01").bars) == 49  # hours
    assert histogram("after:2026-02").bars == ()
    assert len(histogram("after:1000 before:2999").bars) == 49


@pytest.fixture
def scattered(db: None) -> list[datetime]:
    """Memories of all kinds over two years, not written in the order of their times."""
    moments = [at("2025-01-05T08:00+00:00") + timedelta(hours=(number * 7919) % 17000) for number in range(48)]
    for number, moment in enumerate(moments):
        make = (make_observation, make_prompt, make_summary, make_drawer)[number % 4]
        make(
            f"{'needle' if number % 3 else 'other'} {number}",
            created_at=moment,
            state=State.ARCHIVED if number == 5 else State.ACTIVE,
        )
    make_observation("needle", created_at=None)
    return moments


@pytest.mark.parametrize(
    "query", ["", "needle", "other kind:prompt", "after:2025-06", "needle after:2025-06 before:2025-09", "-needle"]
)
@pytest.mark.usefixtures("scattered")
def test_indexes_count_what_is_too_much_to_read(query: str) -> None:
    request = SearchRequest(query=query)

    def find(request: SearchRequest) -> Findings:
        words = find_by_words(request, BERLIN)
        return Findings(words.strategy.find(1), words.strategy)

    facets = count_facets(request, find(request), find, read=0)
    counted = count_over_time(request, facets.matches, facets.reading, BERLIN)
    whole = histogram(query)
    assert counted.unknown == whole.unknown
    assert sum(bar.count for bar in counted.bars) == sum(bar.count for bar in whole.bars) > 0
    # Where rows are not read, the first and the last time of the whole kind decide how fine the bars are.
    assert counted.unit in {whole.unit, Unit.MONTH}
    if counted.unit is whole.unit:
        assert counted.bars == whole.bars
    stopped = count_over_time(request, facets.matches, facets.reading, BERLIN, seconds=0.0)
    assert stopped.is_partial


def page(client: Client, address: str) -> BeautifulSoup:
    client.cookies["memweb_tz"] = "Europe/Berlin"
    response = client.get(address)
    assert response.status_code == 200
    return BeautifulSoup(response.content.decode(), "html.parser")


def query_of(address: str) -> str:
    return parse_qs(urlsplit(address).query).get("q", [""])[0]


@pytest.mark.parametrize("query", ["", "needle", "needle ", "kind:prompt", "after:2025-03-17", "needle before:2026-01"])
@pytest.mark.usefixtures("scattered")
def test_every_bar_is_what_its_link_leaves(reader: Client, query: str) -> None:
    soup = page(reader, f"/?limit=200&q={query}")
    links = soup.select("a.histogram-bar")
    assert len(links) > 5
    for link in links:
        count = int(link["aria-label"].rsplit(": ", 1)[1].split(" ")[0])
        narrowed = page(reader, str(link["href"]))
        assert (query_of(link["href"]), len(narrowed.select("li.hit"))) == (query_of(link["href"]), count)
    cells = [int(cell.get_text()) for cell in soup.select(".histogram-table td")]
    assert cells == [int(link["aria-label"].rsplit(": ", 1)[1].split(" ")[0]) for link in links]


def test_bars_write_their_time_into_the_text(reader: Client) -> None:
    for day in ("2026-01-20", "2026-03-25", "2026-05-02"):
        make_observation("needle", created_at=at(f"{day}T10:00+01:00"))
    soup = page(reader, "/?q=needle+after:2025")
    [first, *_] = soup.select("a.histogram-bar")
    assert first["aria-label"] == "19 – 25 Jan 2026: 1 memory"
    assert query_of(first["href"]) == "needle after:2026-01-19 before:2026-01-25"
    assert first["hx-get"] == first["href"]
    narrowed = page(reader, "/?q=needle+after:2026-01+before:2026-02-10")
    assert "19 January" not in narrowed.get_text()
    assert query_of(narrowed.select_one("#histogram-all")["href"]) == "needle"


def test_one_bar_is_said_in_words(reader: Client) -> None:
    make_observation("x", created_at=at("2026-01-20T10:20+01:00"))
    soup = page(reader, "/")
    assert soup.select("svg.histogram-chart") == []
    assert soup.select_one(".histogram-caption span").get_text() == "All in one hour: Tue 20 Jan 2026, 10:00–11:00"


def test_unknown_times_are_said_in_words(reader: Client) -> None:
    make_observation("x", created_at=None)
    caption = page(reader, "/").select_one(".histogram-caption span").get_text()
    assert caption == "No memory here has a known time"
    make_observation("x", created_at=at("2026-01-20T10:20+01:00"))
    make_observation("x", created_at=at("2026-01-22T10:20+01:00"))
    caption = page(reader, "/").select_one(".histogram-caption span").get_text()
    assert caption == "Memories per hour, up to 1. 1 more has no known time."
    caption = page(reader, "/?q=after:2026").select_one(".histogram-caption span").get_text()
    assert caption == "Memories per hour, up to 1. Memories without a known time are left out."
    assert "1970" not in str(page(reader, "/").select_one("#histogram"))


def test_nothing_found_has_no_histogram(reader: Client) -> None:
    make_observation("x")
    assert page(reader, "/?q=nothing").select("#histogram") == []
    assert shown_refs(reader.get("/?q=nothing").content) == []


def test_bars_beside_a_very_long_text_are_no_links(reader: Client) -> None:
    for day in ("2026-01-20", "2026-01-25"):
        make_observation("needle", created_at=at(f"{day}T10:00+01:00"))
    soup = page(reader, "/?q=" + " OR ".join(["needle", "x" * 1200]))
    assert (len(soup.select("a.histogram-bar")), len(soup.select("g.histogram-bar .histogram-fill"))) == (0, 2)
    assert len(soup.select(".histogram-table td")) == 2
