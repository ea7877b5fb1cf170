"""Times are shown in the viewer's zone, icons as decoration."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from bs4 import BeautifulSoup
from django.utils import timezone

from memweb.templatetags.memweb_format import exact_time, icon, moment, relative_time, zone_label

WHEN = datetime(2026, 1, 20, 23, 30, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("passed", "text"),
    [
        (timedelta(seconds=0), "just now"),
        (timedelta(seconds=59), "just now"),
        (timedelta(minutes=1), "1 min ago"),
        (timedelta(minutes=59, seconds=59), "59 min ago"),
        (timedelta(hours=1), "1 hour ago"),
        (timedelta(hours=23, minutes=59), "23 hours ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=6, hours=23), "6 days ago"),
        (timedelta(days=7), "20 Jan 2026"),
        (timedelta(days=4000), "20 Jan 2026"),
        (timedelta(seconds=-1), "20 Jan 2026"),
        (timedelta(days=-400), "20 Jan 2026"),
    ],
)
def test_relative_time_says_how_long_ago(passed: timedelta, text: str) -> None:
    with timezone.override(UTC):
        assert relative_time(WHEN, WHEN + passed) == text


def test_relative_time_takes_the_date_of_the_viewer() -> None:
    with timezone.override(ZoneInfo("Asia/Tokyo")):
        assert relative_time(WHEN, WHEN + timedelta(days=30)) == "21 Jan 2026"


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("UTC", "Tue 20 Jan 2026, 23:30:05 (UTC)"),
        ("Europe/Berlin", "Wed 21 Jan 2026, 00:30:05 (Europe/Berlin)"),
        ("America/New_York", "Tue 20 Jan 2026, 18:30:05 (America/New_York)"),
    ],
)
def test_exact_time_is_local_and_names_its_zone(zone: str, text: str) -> None:
    with timezone.override(ZoneInfo(zone)):
        assert exact_time(WHEN) == text
        assert zone_label() == zone


def test_moment_is_a_time_with_the_exact_time_as_title() -> None:
    with timezone.override(ZoneInfo("UTC")):
        time = BeautifulSoup(moment(WHEN), "html.parser").time
    assert time is not None
    assert time["datetime"] == "2026-01-20T23:30:05Z"
    assert time["title"] == "Tue 20 Jan 2026, 23:30:05 (UTC)"


def test_moment_can_show_the_exact_time_itself() -> None:
    with timezone.override(ZoneInfo("UTC")):
        soup = BeautifulSoup(moment(WHEN, style="exact"), "html.parser")
    assert soup.get_text() == "Tue 20 Jan 2026, 23:30:05 (UTC)"


@pytest.mark.parametrize(
    ("when", "note", "text"),
    [
        (None, "", "time unknown"),
        (None, "time unknown", "time unknown"),
        (WHEN, "time doubtful", "Tue 20 Jan 2026, 23:30:05 (UTC) time doubtful"),
    ],
)
def test_moment_says_when_a_time_cannot_be_trusted(when: datetime | None, note: str, text: str) -> None:
    with timezone.override(ZoneInfo("UTC")):
        soup = BeautifulSoup(moment(when, note, "exact"), "html.parser")
    assert soup.get_text() == text
    badge = soup.select_one(".badge.is-warning")
    assert badge is not None


def test_icon_is_hidden_from_screen_readers_and_escaped() -> None:
    svg = BeautifulSoup(icon('x"><b>'), "html.parser").svg
    assert svg is not None
    assert svg["aria-hidden"] == "true"
    assert svg.use is not None
    assert str(svg.use["href"]).endswith('vendor/lucide.svg#x"><b>')
