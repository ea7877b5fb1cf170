"""Jump to a date: the list begins at its day, in either order, and goes on from there without gaps."""

from datetime import UTC, datetime, timedelta

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from tests.factories import make_drawer, make_observation, make_prompt, make_summary, refs
from tests.search.searching import shown_refs

pytestmark = pytest.mark.django_db

FIRST = datetime(2026, 1, 10, 22, 30, tzinfo=UTC)


@pytest.fixture
def days(db: None) -> list[str]:
    """Names of memories in the order of time: eight, half a day apart; the first is of 10 January, 23:30 in Berlin."""
    makers = (make_observation, make_prompt, make_summary, make_drawer)
    made = [makers[place % 4](f"x {place}", created_at=FIRST + timedelta(hours=12 * place)) for place in range(8)]
    make_prompt("x", created_at=None)
    return refs(made)


def listed(client: Client, address: str) -> list[str]:
    client.cookies["memweb_tz"] = "Europe/Berlin"
    response = client.get(address)
    assert response.status_code == 200
    return shown_refs(response.content)


@pytest.mark.parametrize(
    ("date", "newest", "oldest"),
    [
        ("2026-01-10", 1, 0),
        ("2026-01-11", 3, 1),
        ("2026-01-12", 5, 3),
        ("2026-01", 8, 0),
        ("2026-01-12T10:30", 3, 3),
        ("2026-01-09", 0, 0),
        ("2026-02-01", 8, 8),
        ("2025", 0, 0),
    ],
)
def test_list_begins_at_the_date(reader: Client, days: list[str], date: str, newest: int, oldest: int) -> None:
    unknown = listed(reader, "/?q=is:doubtful")
    assert listed(reader, f"/?order=newest&date={date}") == days[:newest][::-1] + unknown
    assert listed(reader, f"/?order=oldest&date={date}") == days[oldest:] + unknown


def test_pages_go_on_from_there(reader: Client, days: list[str]) -> None:
    response = reader.get("/?order=newest&date=2026-01-12&limit=2")
    seen = shown_refs(response.content)
    while url := response.context["page"].next_url:
        response = reader.get(url)
        seen += shown_refs(response.content)
    assert seen[:-1] == days[:5][::-1]


def test_words_are_then_in_the_order_of_time(reader: Client, days: list[str]) -> None:
    assert listed(reader, "/?q=x&date=2026-01-11")[:3] == days[:3][::-1]
    page = reader.get("/?q=x&date=2026-01-11").context["page"]
    assert [(pill.label, pill.remove_url) for pill in page.pills] == [
        ("newest first", "/?q=x"),
        ("starting at 11 January 2026", "/?q=x&order=newest"),
    ]
    assert page.first_url == "/?q=x&order=newest"


def test_form_sends_the_search_along(reader: Client, days: list[str]) -> None:
    html = reader.get("/?q=x+kind:prompt&order=oldest&mode=keyword").content
    form = BeautifulSoup(html, "html.parser").select_one("form.date-jump")
    sent = {field["name"]: field["value"] for field in form.select("input[type=hidden]")}
    assert sent == {"q": "x kind:prompt", "order": "oldest", "mode": "keyword"}
    assert (form["action"], form["method"]) == ("/", "get")


@pytest.mark.parametrize("date", ["soon", "2026-13-01", "\x00", "9" * 500, "<script>"])
def test_what_is_no_date_is_said(reader: Client, days: list[str], date: str) -> None:
    response = reader.get("/", {"date": date})
    notices = [
        one.get_text(strip=True) for one in BeautifulSoup(response.content.decode(), "html.parser").select(".notice")
    ]
    assert len(shown_refs(response.content)) == 9
    assert len([one for one in notices if one.startswith("date: ") and "accepted are" in one]) == 1


@pytest.mark.parametrize("date", ["", "  "])
def test_no_date_is_no_jump(reader: Client, days: list[str], date: str) -> None:
    assert len(listed(reader, f"/?date={date}")) == 9


def test_beyond_the_end_says_so(reader: Client) -> None:
    make_observation("x", created_at=FIRST)
    soup = BeautifulSoup(reader.get("/?date=2020&order=newest").content, "html.parser")
    assert soup.select_one(".empty h3").get_text() == "No memory up to 2020"
    soup = BeautifulSoup(reader.get("/?date=2027&order=oldest").content, "html.parser")
    assert soup.select_one(".empty h3").get_text() == "No memory since 2027"
