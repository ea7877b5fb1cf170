"""Projects, files and concepts: what is counted, what is not, and pages for every address."""

from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import urlencode
from zoneinfo import ZoneInfo

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memweb.memories.models import ProjectAlias, State
from search.browse.projects import bars
from search.browse.slots import Clock
from tests.factories import (
    make_drawer,
    make_observation,
    make_project,
    make_prompt,
    make_session,
    make_summary,
    moment,
)

pytestmark = pytest.mark.django_db


def soup(client: Client, address: str, status: int = 200) -> BeautifulSoup:
    response = client.get(address)
    assert response.status_code == status, response.content[:500]
    return BeautifulSoup(response.content.decode(), "html.parser")


def rows(page: BeautifulSoup) -> list[list[str]]:
    """Return the texts of each row: its name, then its numbers."""
    return [
        [" ".join(one.get_text(" ").split()) for one in row.select(".hit-title, .meta > *, .browse-counts")]
        for row in page.select(".browse-row")
    ]


def test_projects_show_what_is_remembered_the_last_active_first(reader: Client) -> None:
    make_observation("old", type="bugfix", project="api", concepts=["gotcha"], files=["src/a.py"], created_at=moment(0))
    make_observation("older", type="bugfix", project="api", created_at=moment(-9000))
    make_prompt("why", project="web", created_at=moment(100))
    make_observation("trashed", type="feature", project="api", state=State.TRASHED, created_at=moment(500))
    make_observation("noise", project="quiet", is_noise=True)
    make_project("empty")
    page = soup(reader, "/projects/")
    assert rows(page) == [
        ["web", "1 prompt", "Sessions of web"],
        ["api", "2 observations", "Sessions of api", "bugfix", "gotcha", "", "src/a.py"],
    ]
    assert [one["href"] for one in page.select(".project-row .hit-title a")] == [
        "/?q=project%3Aweb",
        "/?q=project%3Aapi",
    ]
    assert page.select_one('a[href="/?q=project%3Aapi+concept%3Agotcha"]') is not None
    spark = page.select(".spark")[1]
    assert spark["aria-label"] == "Memories on 2 days; most on 2026-01-14: 1"
    assert len(spark.select("rect")) == 2


def test_aliases_and_merged_projects_are_visible_and_found(reader: Client) -> None:
    target = make_project("api")
    ProjectAlias.objects.create(name="old-api", project=target)
    make_project("api-worktree", merged_into=target)
    make_observation("one", project=target)
    page = soup(reader, "/projects/?find=WORKTREE")
    [also] = [one.get_text(" ", strip=True) for one in page.select(".project-row p.meta")]
    assert also == "also known as old-api api-worktree"


def test_project_without_a_name_can_be_clicked(reader: Client) -> None:
    make_observation("one", project="")
    page = soup(reader, "/projects/")
    link = page.select_one(".hit-title a")
    assert link is not None
    assert (link.get_text(), link["href"]) == ("(no project)", "/?q=project%3A%22%22")
    assert len(soup(reader, str(link["href"])).select(".hit")) == 1


def test_projects_come_in_pages(reader: Client) -> None:
    for number in range(35):
        make_observation("one", project=f"p{number:02}", created_at=moment(number))
    first = soup(reader, "/projects/")
    link = first.select_one("a[rel=next]")
    assert link is not None
    second = soup(reader, str(link["href"]))
    names = [row[0] for row in [*rows(first), *rows(second)]]
    assert names == [f"p{number:02}" for number in range(34, -1, -1)]
    assert [one["href"] for one in second.select("a[rel=first]")] == ["/projects/"]


def test_project_of_unknown_time_comes_last_and_is_reached(reader: Client) -> None:
    for number in range(31):
        make_observation("one", project=f"p{number:02}", created_at=None)
    make_observation("known", project="z")
    first = soup(reader, "/projects/")
    second = soup(reader, str(first.select_one("a[rel=next]")["href"]))  # type: ignore[index]
    assert [row[0] for row in rows(first)] == ["z", *(f"p{number:02}" for number in range(29))]
    assert [row[0] for row in rows(second)] == ["p29", "p30"]


@pytest.mark.parametrize(
    ("zone", "days"),
    [
        ("UTC", "Memories on 2 days; most on 2026-01-20: 3"),
        ("Europe/Berlin", "Memories on 1 days; most on 2026-01-21: 4"),
        ("Asia/Kathmandu", "Memories on 1 days; most on 2026-01-21: 4"),
        ("America/Los_Angeles", "Memories on 1 days; most on 2026-01-20: 4"),
        ("Pacific/Marquesas", "Memories on 1 days; most on 2026-01-20: 4"),
    ],
)
def test_activity_is_told_by_days_of_the_viewer(reader: Client, zone: str, days: str) -> None:
    for minutes in (0, 30, 59):
        make_observation("late", created_at=datetime(2026, 1, 20, 23, minutes, tzinfo=UTC))
    make_prompt("early", created_at=datetime(2026, 1, 21, 0, 10, tzinfo=UTC))
    make_observation("hidden", state=State.TRASHED, created_at=datetime(2026, 1, 20, 23, 30, tzinfo=UTC))
    reader.cookies["memweb_tz"] = zone
    [spark] = soup(reader, "/projects/").select(".spark")
    assert spark["aria-label"] == days


@pytest.mark.parametrize("minute", [13, 14, 15, 16])
def test_day_of_a_zone_begins_at_its_own_quarter(reader: Client, minute: int) -> None:
    make_observation("one", created_at=datetime(2026, 1, 20, 18, minute, 30, tzinfo=UTC))
    reader.cookies["memweb_tz"] = "Asia/Kathmandu"  # 5 h 45 min ahead of UTC
    [spark] = soup(reader, "/projects/").select(".spark")
    assert spark["aria-label"] == f"Memories on 1 days; most on 2026-01-{20 if minute < 15 else 21}: 1"


@pytest.mark.parametrize("zone", ["Pacific/Kiritimati", "Pacific/Pago_Pago"])
def test_clock_knows_the_first_and_the_last_day_of_the_calendar(zone: str) -> None:
    clock = Clock(ZoneInfo(zone))
    assert {clock.day("0001-01-01 00").year, clock.day("9999-12-31 23").year} == {1, 9999}


def test_bars_cover_the_whole_stretch() -> None:
    days = {date(2026, 1, 1): 1, date(2026, 1, 5): 2, date(2026, 1, 10): 3}
    assert bars(days, date(2026, 1, 1), date(2026, 1, 10), 5) == [1, 0, 2, 0, 3]  # type: ignore[arg-type]
    assert bars(days, date(2026, 1, 1), date(2026, 1, 1), 1) == [6]  # type: ignore[arg-type]


def test_files_are_a_tree_with_mentions(reader: Client) -> None:
    make_observation("one", files=["src/auth/login.py", "src/auth/codes.py"], modified=["src/auth/login.py"])
    make_observation("two", files=["src/auth/login.py", "README.md"])
    make_summary("three", files=["src/db.py"])
    make_drawer("four", file="docs/a b&c.md")
    make_observation("trashed", files=["secret/plan.md"], state=State.TRASHED)
    top = soup(reader, "/files/")
    assert rows(top) == [
        ["src/", "3 files, 4 mentions of src/"],
        ["README.md", "1 mention"],
        ["docs/", "1 file, 1 mention of docs/"],
    ]
    source = soup(reader, "/files/?path=src/")
    assert rows(source) == [["auth/", "2 files, 3 mentions of auth/"], ["db.py", "1 mention"]]
    assert [one["href"] for one in source.select(".label-row a")] == [
        "/files/?path=src%2Fauth%2F",
        "/?q=file%3Asrc%2Fauth%2F",
        "/?q=file%3Asrc%2Fdb.py",
    ]
    assert rows(soup(reader, "/files/?path=src/auth")) == [["login.py", "2 mentions"], ["codes.py", "1 mention"]]
    crumbs = [(one.get_text(strip=True), one.a["href"] if one.a else None) for one in source.select(".crumbs li")]
    assert crumbs == [("All files", "/files/"), ("src/", None)]
    hits = soup(reader, str(soup(reader, "/files/?path=docs/").select(".label-row a")[0]["href"]))
    assert len(hits.select(".hit")) == 1


def test_files_are_found_below_a_folder(reader: Client) -> None:
    make_observation("one", files=["src/auth/Login.py", "src/auth/codes.py", "docs/login.md", "src/100%_sure!.py"])
    make_observation("two", files=["src/auth/codes.py"])
    page = soup(reader, "/files/?path=src/&find=LOGIN")
    assert rows(page) == [["auth/Login.py", "1 mention"]]
    assert [one["href"] for one in page.select(".label-row a")] == ["/?q=file%3Asrc%2Fauth%2FLogin.py"]
    assert [one["value"] for one in page.select(".form-row input")] == ["src/", "LOGIN"]
    assert rows(soup(reader, "/files/?find=login")) == [
        ["docs/login.md", "1 mention"],
        ["src/auth/Login.py", "1 mention"],
    ]
    assert rows(soup(reader, "/files/?path=src/&find=o")) == [
        ["auth/codes.py", "2 mentions"],
        ["auth/Login.py", "1 mention"],
    ]
    assert rows(soup(reader, "/files/?path=src/&find=src")) == []  # the folder itself is not below it
    assert rows(soup(reader, "/files/", 200)) == [
        ["src/", "3 files, 4 mentions of src/"],
        ["docs/", "1 file, 1 mention of docs/"],
    ]
    empty = soup(reader, "/files/?path=src/&find=zebra").select_one(".empty h2")
    assert empty is not None
    assert empty.get_text() == "No file below this folder has this in its path"


@pytest.mark.parametrize("find", ["%", "_", "!", "%_", "_sure!", "0%"])
def test_signs_of_patterns_are_found_as_they_are(reader: Client, find: str) -> None:
    make_observation("one", files=["src/plain.py", "src/100%_sure!.py"])
    page = soup(reader, f"/files/?{urlencode({'path': 'src/', 'find': find})}")
    assert rows(page) == [["100%_sure!.py", "1 mention"]]


LISTED = {"files": "/files/?path=src/", "found files": "/files/?find=name", "concepts": "/concepts/?find=name"}


@pytest.mark.parametrize("address", LISTED.values(), ids=LISTED)
def test_all_of_a_long_list_is_reached_once_while_memories_come(reader: Client, address: str) -> None:
    names = [f"name{number:03}" for number in range(250)]
    make_observation("one", files=[f"src/{name}" for name in names], concepts=names)
    make_observation("two", files=["src/name249"], concepts=["name249"])
    seen: list[str] = []
    pages, sizes = 0, []
    following = address
    while following:
        page = soup(reader, following)
        shown = [row[0].removeprefix("src/") for row in rows(page)]
        seen += shown
        sizes.append(len(shown))
        link = page.select_one("a[rel=next]")
        following = str(link["href"]) if link else ""
        assert [one.get_text() for one in page.select("a[rel=first]")] == (["First"] if pages else [])
        pages += 1
        make_observation("new", files=[f"src/name000{pages}"], concepts=[f"name000{pages}"])
    assert [one for one in seen if one in names] == ["name249", *names[:249]]
    assert sizes[:2] == [100, 100]
    assert pages == 3


@pytest.mark.parametrize("address", ["/projects/", "/files/", "/concepts/"])
@pytest.mark.parametrize("after", ["zebra", "1", "~", "1~x", "9" * 30 + "~1"])
def test_damaged_place_is_named(reader: Client, address: str, after: str) -> None:
    assert f"after: “{after}” is not a place in the list" in soup(reader, f"{address}?after={after}", 400).get_text()


def test_paths_of_all_sorts_can_be_walked(reader: Client) -> None:
    paths = ["/home/me/a.py", "//x//y.py", "C:\\dir\\b.py", "src/ünï/文件.py", "a%2Fb.py", "x" * 300 + "/y.py", "lone/"]
    make_observation("one", files=paths)
    seen, waiting = [], ["/files/"]
    while waiting:
        page = soup(reader, waiting.pop())
        for row in page.select(".label-row"):
            links = [str(link["href"]) for link in row.select("a")]
            (waiting if links[0].startswith("/files/") else seen).append(links[0])
    assert len(seen) == len(paths)


@pytest.mark.parametrize("path", ["nowhere/", "../../etc/", "\x00", "%00", "<script>", "x" * 5000, "\ud800"])
def test_folder_that_is_not_there_is_answered(reader: Client, path: str) -> None:
    make_observation("one", files=["src/a.py"])
    response = reader.get("/files/", {"path": path.encode("utf-8", "surrogatepass")})
    assert response.status_code == 200
    page = BeautifulSoup(response.content.decode(), "html.parser")
    assert page.select("main script") == []


def test_concepts_are_counted_and_found(reader: Client) -> None:
    make_observation("one", concepts=["gotcha", "how-it-works"])
    make_observation("two", concepts=["gotcha"])
    make_observation("trashed", concepts=["hidden"], state=State.TRASHED)
    assert rows(soup(reader, "/concepts/")) == [["gotcha", "2 memories"], ["how-it-works", "1 memory"]]
    assert rows(soup(reader, "/concepts/?find=HOW")) == [["how-it-works", "1 memory"]]
    make_observation("three", concepts=["Ünïcode"])
    assert rows(soup(reader, "/concepts/?find=ünï")) == [["Ünïcode", "1 memory"]]
    assert "No concept has this in its name" in soup(reader, "/concepts/?find=zebra").get_text()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("/projects/", "There are no projects yet"),
        ("/files/", "No memory mentions a file yet"),
        ("/concepts/", "There are no concepts yet"),
    ],
)
def test_nothing_there_is_said(reader: Client, address: str, words: str) -> None:
    assert words in soup(reader, address).get_text()


@pytest.mark.parametrize("address", ["/projects/", "/files/", "/concepts/"])
def test_counting_that_is_stopped_is_said_and_nothing_is_called_empty(
    reader: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(300):
        make_observation("x", files=[f"src/{number}.py"], concepts=[f"c{number}"], project=f"p{number}")
    monkeypatch.setattr("search.browse.labels.COUNT_SECONDS", -1.0)
    monkeypatch.setattr("search.browse.projects.COUNT_SECONDS", -1.0)
    page = soup(reader, address)
    [notice] = [one.get_text(" ", strip=True) for one in page.select(".browse-page .notice")]
    assert notice.startswith("Counting took too long and was stopped")
    assert page.select(".empty") == []


STATEMENTS = [
    "/projects/",
    "/projects/?find=p",
    "/files/",
    "/files/?path=src/",
    "/files/?find=py",
    "/concepts/",
    "/concepts/?find=c",
]


@pytest.mark.parametrize("address", STATEMENTS)
def test_statements_do_not_grow_with_rows(reader: Client, address: str) -> None:
    counts, made = [], 0
    for wanted in (1, 10, 100):
        for number in range(made, wanted):
            shared: dict[str, Any] = {
                "project": f"p{number}",
                "session": make_session(f"s{number}", project=f"p{number}"),
            }
            make_observation("x", files=[f"src/{number}.py"], concepts=[f"c{number}"], type=f"t{number}", **shared)
            # What is hidden is read by other statements.
            make_observation("y", files=[f"x/{number}.py"], concepts=[f"c{number}"], state=State.TRASHED, **shared)
            ProjectAlias.objects.create(name=f"alias {number}", project=make_project(f"p{number}"))
        made = wanted
        reader.get(address)
        with CaptureQueriesContext(connection) as queries:
            assert rows(soup(reader, address))
        counts.append(len(queries))
    assert counts[0] == counts[1] == counts[2]
    assert counts[0] <= 25


LABELS: dict[str, Any] = {"letters": "x" * 12_000, "quotes": "\"'" * 6_000, "Chinese": "東" * 12_000}


@pytest.mark.parametrize("long", LABELS.values(), ids=LABELS)
def test_no_label_makes_a_list_large(reader: Client, long: str) -> None:
    for number in range(105):
        name = f"{number}{long}"
        session = make_session(name, project=name, title=name, platform=name)
        files = [f"{name}/a.py", f"src/{name}/b.py", f"src/{name}.py"]
        make_observation(name[:300], type=name, project=name, session=session, concepts=[name], files=files)
    for address in ("/projects/", "/files/", "/files/?path=src/", "/files/?find=py", "/concepts/", "/sessions/"):
        response = reader.get(address)
        assert rows(BeautifulSoup(response.content.decode(), "html.parser")), address
        assert len(response.content) < 1_000_000, address
