"""The list of sessions: newest first, filtered, paged without gap or repetition."""

from datetime import datetime
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memweb.memories.models import ProjectAlias, Session, State
from search.browse.session_list import PAGE
from tests.factories import make_observation, make_project, make_prompt, make_session, moment

pytestmark = pytest.mark.django_db


def soup(client: Client, address: str, status: int = 200) -> BeautifulSoup:
    response = client.get(address)
    assert response.status_code == status, response.content[:500]
    return BeautifulSoup(response.content.decode(), "html.parser")


def titles(page: BeautifulSoup) -> list[str]:
    return [one.get_text() for one in page.select(".browse-row .hit-title a")]


def session(title: str, at: datetime | None, **values: Any) -> Session:
    return make_session(f"id of {title}", title=title, started_at=at, **values)


def test_newest_first_with_what_each_holds(reader: Client) -> None:
    old, new = session("old", moment(0)), session("new", moment(100), platform="codex")
    make_prompt("why?", session=new, created_at=moment(100))
    make_observation("because", session=new, files=["a.py", "b.py"], modified=["a.py"], created_at=moment(145))
    make_observation("trashed", session=new, files=["c.py"], state=State.TRASHED, created_at=moment(900))
    make_observation("so", session=old)
    page = soup(reader, "/sessions/")
    assert titles(page) == ["new", "old"]
    row = page.select_one(".browse-row")
    assert row is not None
    assert row.select_one("a[href]")["href"] == f"/sessions/{new.pk}/"  # type: ignore[index]
    meta = [one.get_text(" ", strip=True) for one in row.select(".meta > *")]
    assert meta == ["Project demo", "codex", "45 min", "1 observation", "1 prompt", "2 files"]


HIDDEN: list[dict[str, Any]] = [{"state": State.TRASHED}, {"state": State.ARCHIVED}, {"is_noise": True}]


def test_list_counts_what_the_session_shows(reader: Client) -> None:
    run = session("one", moment(0))
    newer = make_observation("newer", session=run, files=["new.py"], created_at=moment(30))
    make_observation("older", session=run, files=["old.py"], superseded_by=newer, created_at=moment(0))
    make_prompt("why?", session=run, created_at=moment(0))
    for values in HIDDEN:
        make_observation("hidden", session=run, files=[f"{values}.py"], created_at=moment(900), **values)
        make_prompt("hidden", session=run, created_at=moment(900), **values)
    row = soup(reader, "/sessions/").select_one(".browse-row .meta")
    page = soup(reader, f"/sessions/{run.pk}/")
    assert row is not None
    listed = [one.get_text(" ", strip=True) for one in row.find_all(recursive=False)]
    head = page.select(".memory-head .meta")[1]
    said = [one.get_text(" ", strip=True) for one in head.find_all("span", recursive=False)]
    assert listed == ["Project demo", "claude", "30 min", "2 observations", "1 prompt", "2 files"]
    assert [one for one in listed[2:5] if one in said] == listed[2:5]
    assert len(page.select(".entry")) == 3
    assert [one.get_text() for one in page.select(".entry .badge")] == ["superseded"]
    assert len(page.select(".session-aside .files a")) == 2


def test_session_without_title_is_known_by_its_first_prompt_or_id(reader: Client) -> None:
    make_session("abc-1", first_prompt="Fix the login\nand more", started_at=moment(1))
    make_session("abc-2", started_at=moment(0))
    assert titles(soup(reader, "/sessions/")) == ["Fix the login", "abc-2"]


def test_session_of_unknown_time_comes_last_and_never_in_1970(reader: Client) -> None:
    session("lost", None)
    session("known", moment(0))
    page = soup(reader, "/sessions/")
    assert titles(page) == ["known", "lost"]
    assert "1970" not in page.get_text()
    assert "time unknown" in page.get_text()


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("project=api", ["in api"]),
        ("project=old+name", ["in api"]),
        ("project=API", []),
        ("platform=codex", ["by codex"]),
        ("q=CODEX+by", ["by codex"]),
        ("q=id+of+by+codex", []),
        ("since=2026-01-21", ["late"]),
        ("until=2026-01-19", ["early"]),
        ("since=2026-01-19&until=2026-01-19", ["early"]),
    ],
)
def test_filters(reader: Client, query: str, found: list[str]) -> None:
    ProjectAlias.objects.create(name="old name", project=make_project("api"))
    session("in api", moment(0), project="api")
    session("by codex", moment(1), platform="codex")
    session("late", moment(24 * 60))
    session("early", moment(-24 * 60))
    assert titles(soup(reader, f"/sessions/?{query}")) == found


def test_day_of_a_filter_is_that_of_the_viewer(reader: Client) -> None:
    session("late", moment(-6 * 60))  # 03:00 UTC, the evening before in America
    reader.cookies["memweb_tz"] = "America/Los_Angeles"
    assert titles(soup(reader, "/sessions/?since=2026-01-20")) == []
    assert titles(soup(reader, "/sessions/?since=2026-01-19&until=2026-01-19")) == ["late"]


def test_session_that_goes_on_past_midnight_is_found_on_either_day(reader: Client) -> None:
    session("night", moment(14 * 60), completed_at=moment(16 * 60))
    assert titles(soup(reader, "/sessions/?since=2026-01-21")) == ["night"]
    assert titles(soup(reader, "/sessions/?until=2026-01-20")) == ["night"]


def test_bad_time_is_named_and_left_out(reader: Client) -> None:
    session("one", moment(0))
    page = soup(reader, "/sessions/?since=soon")
    assert titles(page) == ["one"]
    [notice] = [one.get_text(" ", strip=True) for one in page.select(".notice")]
    assert notice.startswith("since: “soon” is not a time; accepted are 2026-01-20")


@pytest.mark.parametrize("older", ["zebra", "~", "2026-13-01~5", "~-5", "~" + "9" * 30, "2026-01-01~5~6"])
def test_damaged_place_is_named(reader: Client, older: str) -> None:
    page = soup(reader, f"/sessions/?older={older}", 400)
    assert f"older: “{older[:40]}” is not a place in the list" in page.get_text()


def test_pages_hold_everything_once_while_sessions_are_added(reader: Client) -> None:
    for number in range(120):
        session(f"number {number}", moment(number // 2) if number > 10 else None)
    expected = [
        *(f"number {number}" for number in sorted(range(11, 120), key=lambda one: (one // 2, one), reverse=True)),
        *(f"number {number}" for number in range(10, -1, -1)),
    ]
    seen, address, pages = [], "/sessions/", 0
    while address:
        page = soup(reader, address)
        seen += titles(page)
        link = page.select_one("a[rel=next]")
        address = str(link["href"]) if link else ""
        pages += 1
        session(f"added {pages}", moment(1_000 + pages))
    assert (seen, pages) == (expected, 3)


def test_nothing_there_and_nothing_found_are_told_apart(reader: Client) -> None:
    assert "There are no sessions yet" in soup(reader, "/sessions/").get_text()
    session("one", moment(0))
    assert "No session matches" in soup(reader, "/sessions/?q=zebra").get_text()


@pytest.mark.parametrize("query", ["", "?q=number&project=p0&since=2026-01-01", "?platform=claude"])
def test_statements_do_not_grow_with_rows(reader: Client, query: str) -> None:
    counts, made = [], 0
    for wanted in (1, 10, 100):
        for number in range(made, wanted):
            one = session(f"number {number}", moment(number), project="p0" if "project" in query else f"p{number}")
            make_observation(f"in {number}", session=one, files=[f"{number}.py"])
        made = wanted
        reader.get("/sessions/")
        with CaptureQueriesContext(connection) as queries:
            assert len(titles(soup(reader, f"/sessions/{query}"))) == min(wanted, PAGE)
        counts.append(len(queries))
    assert counts[0] == counts[1] == counts[2]
    assert counts[0] <= 15
