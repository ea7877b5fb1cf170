"""The page of a timeline: grouped, bounded in statements, with an answer for every address."""

from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memweb.memories.models import TimeQuality
from tests.factories import make_observation, make_prompt, make_session, moment, refs

pytestmark = pytest.mark.django_db

FRAGMENT = {"HX-Request": "true"}


def soup(client: Client, address: str, status: int = 200, **headers: Any) -> BeautifulSoup:
    response = client.get(address, headers=headers or None)
    assert response.status_code == status, response.content[:500]
    return BeautifulSoup(response.content.decode(), "html.parser")


def rows(page: BeautifulSoup) -> list[str]:
    return [str(row["id"]) for row in page.select("[data-key-row]")]


def texts(page: BeautifulSoup | Tag, selector: str) -> list[str]:
    return [" ".join(one.get_text(" ").split()) for one in page.select(selector)]


def test_anchor_is_marked_and_everything_stands_in_order(reader: Client) -> None:
    session = make_session("s1", title="Fix the login")
    memories = [
        make_prompt("Why is it slow?", session=session, created_at=moment(0)),
        make_observation("Slow query", session=session, created_at=moment(5), files=["src/db.py"]),
        make_observation("Next day", session=session, created_at=moment(24 * 60)),
    ]
    page = soup(reader, f"/timeline/?anchor={memories[1].ref}")
    assert rows(page) == refs(memories)
    assert [row["id"] for row in page.select("[aria-current=true][data-anchor]")] == [str(memories[1].ref)]
    assert texts(page, ".timeline-day > h2") == ["Tuesday 20 January 2026", "Wednesday 21 January 2026"]
    assert texts(page, ".timeline-run > h3") == ["Fix the login", "Fix the login continued"]
    assert texts(page, ".timeline-files") == ["src/db.py"]
    assert texts(page, ".timeline-time") == ["09:00", "09:05", "09:00"]
    assert texts(page, ".timeline-edge") == [
        "The beginning: nothing earlier matches.",
        "The end: nothing later matches.",
    ]


def test_more_is_a_link_to_a_greater_depth_on_one_side(reader: Client) -> None:
    memories = [make_observation(f"number {number}", created_at=moment(number)) for number in range(40)]
    page = soup(reader, f"/timeline/?anchor={memories[20].ref}")
    assert rows(page) == refs(memories[10:31])
    links = {str(link["id"]): str(link["href"]) for link in page.select(".timeline-more a")}
    assert links == {
        "more-before": f"/timeline/?anchor={memories[20].ref}&before=20",
        "more-after": f"/timeline/?anchor={memories[20].ref}&after=20",
    }
    assert rows(soup(reader, links["more-before"])) == refs(memories[0:31])
    fragment = soup(reader, links["more-after"], **FRAGMENT)
    assert (rows(fragment), fragment.find("html")) == (refs(memories[10:]), None)


def test_depth_ends_at_the_largest_and_goes_on_from_the_outermost(reader: Client) -> None:
    memories = [make_observation(f"number {number}", created_at=moment(number)) for number in range(203)]
    page = soup(reader, f"/timeline/?anchor={memories[202].ref}&before=99999999999999999999")
    assert len(rows(page)) == 201
    assert texts(page, ".notice") == ["before: at most 200 memories are shown on one side."]
    more = page.select_one("#more-before")
    assert more is not None
    assert more["href"] == f"/timeline/?anchor={memories[2].ref}#{memories[2].ref}"


@pytest.mark.parametrize("depth", ["-1", "ten", "1.5", "1e3", "٣", "0x10"])
@pytest.mark.parametrize("side", ["before", "after"])
def test_bad_depth_is_named(reader: Client, side: str, depth: str) -> None:
    memory = make_observation("anchor")
    page = soup(reader, f"/timeline/?anchor={memory.ref}&{side}={depth}", 400)
    assert texts(page, "main p")[1] == f"{side}: “{depth}” is not a number of memories; accepted are 0 to 200."


def test_names_of_claude_mem_are_read_as_depths(reader: Client) -> None:
    memories = [make_observation(f"number {number}", created_at=moment(number)) for number in range(5)]
    page = soup(reader, f"/timeline/?anchor={memories[2].ref}&depth_before=1&depth_after=0")
    assert rows(page) == refs(memories[1:3])


@pytest.mark.parametrize(
    ("anchor", "status", "words"),
    [
        ("999999", 404, "There is no memory o999999."),
        ("S12", 404, "There is no memory s12."),
        ("zebra", 404, "No memory matches “zebra”."),
        ("2026-13-45", 400, "“2026-13-45” is not a time that exists; accepted are a memory such as o12"),
        ("9223372036854775808", 400, "“9223372036854775808” is neither a memory nor an epoch in seconds or ms;"),
        ("<script>alert(1)</script>", 404, "No memory matches “<script>alert(1)</script>”."),
    ],
)
def test_anchor_that_leads_nowhere_is_answered(reader: Client, anchor: str, status: int, words: str) -> None:
    response = reader.get("/timeline/", {"anchor": anchor})
    page = BeautifulSoup(response.content.decode(), "html.parser")
    assert response.status_code == status
    assert any(text.startswith(words) for text in texts(page, "main p"))
    assert page.select("main script") == []


def test_deleted_anchor_offers_the_nearest_moment(reader: Client) -> None:
    kept = make_observation("kept", created_at=moment(1))
    gone = make_observation("gone", created_at=moment(2))
    ref = gone.ref
    gone.delete()
    page = soup(reader, f"/timeline/?anchor={ref}", 410)
    link = page.select_one("main a.is-main")
    assert link is not None
    assert link["href"] == "/timeline/?anchor=2026-01-20T09:01:00Z"
    assert rows(soup(reader, str(link["href"]))) == refs([kept])


def test_without_an_anchor_the_page_says_what_it_takes(reader: Client) -> None:
    page = soup(reader, "/timeline/")
    assert texts(page, ".empty h2") == ["What happened around it?"]
    assert page.select_one("input[name=anchor]") is not None


def test_filters_are_shown_can_be_removed_and_switched(reader: Client) -> None:
    anchor = make_observation("anchor", type="bugfix")
    make_prompt("beside", created_at=moment(1))
    page = soup(reader, f"/timeline/?anchor={anchor.ref}&type=bugfix&kind=observation")
    pills = {" ".join(pill.get_text(" ").split()): str(pill["href"]) for pill in page.select(".pills a")}
    assert pills["type: bugfix , remove this filter"] == f"/timeline/?anchor={anchor.ref}&q=kind%3Aobservation"
    assert pills["Prompts"] == f"/timeline/?anchor={anchor.ref}&q=kind%3Aobservation%2Cprompt+type%3Abugfix"
    switched = soup(reader, f"/timeline/?anchor={anchor.ref}&q=kind%3Aprompt")
    checked = [one.get_text(strip=True) for one in switched.select("[role=switch][aria-checked=true]")]
    assert checked == ["Only demo", "Prompts"]


def test_query_names_the_match_it_is_centred_on(reader: Client) -> None:
    memory = make_observation("Login <b>timeout</b>", "after deploy")
    page = soup(reader, "/timeline/?anchor=login+timeout")
    [notice] = texts(page, ".notice")
    assert notice == f"The best match for “ login timeout ” is the anchor: Login <b>timeout</b> {memory.ref}"
    copy = page.select_one("button[data-copy]")
    assert copy is not None
    assert str(copy["data-copy"]).endswith(f"/timeline/?anchor={memory.ref}#{memory.ref}")


def test_moment_is_marked_between_what_was_before_and_after(reader: Client) -> None:
    memories = [make_observation(f"number {number}", created_at=moment(number)) for number in range(2)]
    page = soup(reader, "/timeline/?anchor=2026-01-20T09:00:30Z")
    days = page.select_one(".timeline-days")
    assert days is not None
    order = [str(one.get("id")) for one in days.select("[data-key-row], .timeline-moment")]
    assert order == [str(memories[0].ref), "anchor-moment", str(memories[1].ref)]
    assert texts(page, ".timeline-moment") == ["Tuesday 20 January 2026, 09:00:30"]


def test_unknown_and_doubtful_times_are_a_group_of_their_own(reader: Client) -> None:
    anchor = make_observation("anchor")
    doubtful = make_observation("doubtful", created_at=moment(1), time_quality=TimeQuality.DOUBTFUL)
    lost = make_observation("lost", created_at=None)
    page = soup(reader, f"/timeline/?anchor={anchor.ref}")
    assert [str(one["id"]) for one in page.select(".is-doubted [data-key-row]")] == [str(doubtful.ref)]
    link = page.select_one(f'a[href="/timeline/?anchor={lost.ref}"]')
    assert link is not None
    unknown = soup(reader, f"/timeline/?anchor={lost.ref}")
    assert [str(one["id"]) for one in unknown.select(".is-doubted [data-key-row]")] == [str(lost.ref)]
    assert "1970" not in unknown.get_text()


def test_days_follow_the_zone_of_the_viewer(reader: Client) -> None:
    memory = make_observation("late", created_at=moment(-6 * 60))  # 03:00 UTC
    reader.cookies["memweb_tz"] = "America/Los_Angeles"
    page = soup(reader, f"/timeline/?anchor={memory.ref}")
    assert texts(page, ".timeline-day > h2") == ["Monday 19 January 2026"]


def test_statements_do_not_grow_with_rows(reader: Client) -> None:
    counts = []
    anchor = make_observation("anchor")
    made = 0
    for wanted in (1, 10, 100):
        while made < wanted:
            session = make_session(f"s{made % 5}")
            make_observation(f"number {made}", session=session, files=[f"f{made}.py"], created_at=moment(made + 1))
            make_prompt(f"prompt {made}", session=session, created_at=moment(-made))
            made += 1
        address = f"/timeline/?anchor={anchor.ref}&before=200&after=200"
        reader.get(address)
        with CaptureQueriesContext(connection) as queries:
            assert len(rows(soup(reader, address))) == 2 * wanted + 1
        counts.append(len(queries))
    assert counts[0] == counts[1] == counts[2]
    assert counts[0] <= 20


def test_nobody_sees_it_without_signing_in(client: Client) -> None:
    memory = make_observation("secret plan")
    response = client.get(f"/timeline/?anchor={memory.ref}")
    assert response.status_code == 302
