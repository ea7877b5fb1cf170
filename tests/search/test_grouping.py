"""Results put together by session or day, and near-identical ones folded, without losing any."""

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from tests.factories import make_observation, make_prompt, make_session, moment

pytestmark = pytest.mark.django_db


def page_of(client: Client, address: str) -> BeautifulSoup:
    response = client.get(address)
    assert response.status_code == 200
    return BeautifulSoup(response.content.decode(), "html.parser")


def groups(page: BeautifulSoup) -> list[tuple[str, list[str]]]:
    """Return the heading of each group with the titles under it."""
    return [
        (heading.get_text(strip=True), [title.get_text() for title in hits.select(".hit-title a")])
        for heading in page.select(".hit-group")
        if (hits := heading.find_next_sibling("ol")) is not None
    ]


def test_groups_by_session_keep_the_order_of_their_first_hits(reader: Client) -> None:
    one, other = make_session("s1", title="One"), make_session("s2", title="Other")
    for number, session in enumerate([one, other, one, None]):
        make_observation(f"number {number}", session=session, created_at=moment(number))
    page = page_of(reader, "/?order=newest&group=session")
    assert groups(page) == [("No session", ["number 3"]), ("One", ["number 2", "number 0"]), ("Other", ["number 1"])]
    links = [heading.a["href"] for heading in page.select(".hit-group") if heading.a]
    assert links == [f"/sessions/{one.pk}/", f"/sessions/{other.pk}/"]


def test_groups_by_day_follow_the_zone_of_the_viewer(reader: Client) -> None:
    make_observation("late", created_at=moment(-6 * 60))  # 03:00 UTC
    make_observation("noon", created_at=moment(0))
    make_observation("lost", created_at=None)
    assert groups(page_of(reader, "/?group=day")) == [
        ("Tuesday 20 January 2026", ["noon", "late"]),
        ("Time unknown", ["lost"]),
    ]
    reader.cookies["memweb_tz"] = "America/Los_Angeles"
    assert [name for name, _ in groups(page_of(reader, "/?group=day"))] == [
        "Tuesday 20 January 2026",
        "Monday 19 January 2026",
        "Time unknown",
    ]


def test_grouping_is_kept_by_paging_and_by_other_links(reader: Client) -> None:
    for number in range(30):
        make_observation(f"number {number}", type="bugfix", created_at=moment(number))
    page = page_of(reader, "/?group=day&q=number")
    following = page.select_one("a[rel=next]")
    assert following is not None
    assert "group=day" in str(following["href"])
    assert [one["href"] for one in page.select("#group-none")] == ["/?q=number"]
    assert [one["value"] for one in page.select("input[name=group][form=search-form]")] == ["day"]
    assert len(groups(page_of(reader, str(following["href"])))) == 1


def test_unknown_grouping_is_named(reader: Client) -> None:
    make_observation("one")
    page = page_of(reader, "/?group=colour")
    notices = [one.get_text(strip=True) for one in page.select(".results .notice")]
    assert notices == ["group: “colour” is not known here; accepted are session, day; it was left out."]


def test_hits_that_say_the_same_are_folded_into_the_first(reader: Client) -> None:
    first = make_observation("Login  Timeout", "Après deploy", created_at=moment(3))
    same = make_observation("login timeout", "apres DEPLOY", created_at=moment(2))
    make_observation("login timeout", "apres deploy twice", created_at=moment(1))
    make_observation("login timeout", "apres deploy", project="other", created_at=moment(0))
    make_prompt("login timeout", created_at=moment(-1))
    page = page_of(reader, "/?q=login&order=newest")
    assert len(page.select(".hit")) == 4
    fold = page.select_one(f'.hit[data-ref="{first.ref}"] .same')
    assert fold is not None
    assert (fold.summary.get_text(strip=True) if fold.summary else "") == "1 more like it"
    assert [one["href"] for one in fold.select("a")] == [f"/m/{same.ref}/"]


def test_empty_memories_are_not_like_each_other(reader: Client) -> None:
    for _ in range(3):
        make_observation()
    assert len(page_of(reader, "/").select(".hit")) == 3
