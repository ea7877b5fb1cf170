"""Actions from lists: as plain forms, as fragments, on one memory and on several."""

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from memweb.memories.models import State
from tests.factories import make_observation, make_prompt, refs

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def notices(client: Client, address: str = "/") -> list[str]:
    page = BeautifulSoup(client.get(address).content.decode(), "html.parser")
    return [one.get_text(strip=True) for one in page.select(".site-messages .notice")]


def test_plain_form_leads_back_and_says_what_was_done(curator: Client) -> None:
    memory = make_observation("one")
    response = curator.post(f"/m/{memory.ref}/tags/", {"tags": "review", "next": "/?q=one"})
    assert (response.status_code, response["Location"]) == (302, "/?q=one")
    assert notices(curator) == [f"Tagged {memory.ref}."]
    response = curator.post(f"/m/{memory.ref}/tags/", {"remove": "review", "next": "/?q=one"})
    assert notices(curator) == [f"Took a tag off {memory.ref}."]
    assert memory.tags.count() == 0
    curator.post(f"/m/{memory.ref}/tags/", {"tags": " ", "next": "/"})
    assert notices(curator) == ["No tag was given; write one or more, with commas between them."]


def test_fragment_shows_the_marks_as_they_are_now(curator: Client) -> None:
    memory = make_observation("one", tags=["<b>old</b>"])
    response = curator.post(f"/m/{memory.ref}/tags/", {"tags": "new", "next": "/?q=one"}, headers=HTMX)
    page = BeautifulSoup(response.content.decode(), "html.parser")
    assert [chip.get_text(strip=True) for chip in page.select(".marks-tags .chip")] == ["<b>old</b>", "new"]
    assert [field["value"] for field in page.select("input[name=next]")] == ["/?q=one"] * 3
    response = curator.post(f"/m/{memory.ref}/pin/", {"pinned": "1"}, headers=HTMX)
    page = BeautifulSoup(response.content.decode(), "html.parser")
    assert (page.select_one("[data-action=pin]") or {})["aria-pressed"] == "true"
    assert (page.select_one("input[name=pinned]") or {})["value"] == "0"
    response = curator.post(f"/m/{memory.ref}/tags/", {"tags": "!!!"}, headers=HTMX)
    page = BeautifulSoup(response.content.decode(), "html.parser")
    assert [one.get_text() for one in page.select("[role=alert]")] == [
        "“!!!” cannot be a tag; a tag has letters or digits."
    ]


@pytest.mark.parametrize("name", ["zebra", "o99999", "9" * 30])
@pytest.mark.parametrize("action", ["pin", "tags"])
def test_memory_that_is_not_there_is_told(curator: Client, name: str, action: str) -> None:
    assert curator.post(f"/m/{name}/{action}/", {"tags": "a"}, headers=HTMX).status_code == 404


def test_selection_is_pinned_unpinned_and_tagged(curator: Client) -> None:
    memories = [make_observation("one"), make_prompt("two")]
    chosen = {"ref": refs(memories), "next": "/?q=one"}
    curator.post("/selection/", {**chosen, "action": "pin"})
    assert notices(curator) == ["2 memories pinned."]
    curator.post("/selection/", {**chosen, "action": "unpin"})
    assert notices(curator) == ["2 memories unpinned."]
    response = curator.post("/selection/", {**chosen, "action": "tag", "tags": "review"})
    assert response["Location"] == "/?q=one"
    assert [[tag.name for tag in memory.tags.all()] for memory in memories] == [["review"], ["review"]]


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"action": "pin"}, "No memory was chosen."),
        (
            {"action": "burn", "ref": "o1"},
            "“burn” is nothing that can be done; accepted are archive, trash, restore, pin, "
            "unpin, tag, untag, wrong, right, move, retype, merge.",
        ),
        ({"action": "pin", "ref": "zebra"}, "“zebra” is not the name of a memory; names look like o12, s45, p9, d7."),
        ({"action": "pin", "ref": "o4711"}, "There is no memory o4711; nothing was changed."),
        ({"action": "tag", "ref": "o4711"}, "No tag was given; write one or more, with commas between them."),
    ],
)
def test_selection_that_makes_no_sense_is_told(curator: Client, sent: dict[str, str], message: str) -> None:
    assert curator.post("/selection/", sent).status_code == 302
    assert notices(curator) == [message]


def test_several_memories_as_markdown_in_the_order_asked_for(curator: Client) -> None:
    one, two = make_observation("First"), make_prompt("Second")
    gone = make_observation("Third", state=State.TRASHED)
    response = curator.get("/selection/", {"ref": [str(two.ref), str(gone.ref), str(one.ref)]})
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    headings = [line for line in response.content.decode().splitlines() if line.startswith("# ")]
    assert headings == ["# Second", "# First"]
    assert curator.get("/selection/").status_code == 400


def test_one_memory_as_markdown(curator: Client) -> None:
    memory = make_observation("First", "The *text*.")
    response = curator.get(f"/m/{memory.ref}/?format=md")
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert response.content.decode().startswith("# First\n")
    moved = curator.get(f"/m/{memory.pk}/?format=md")
    assert (moved.status_code, moved["Location"]) == (301, f"/m/{memory.ref}/?format=md")


def test_reading_changes_nothing(curator: Client) -> None:
    memory = make_observation("one")
    assert curator.get(f"/m/{memory.ref}/pin/").status_code == 405
    assert curator.get(f"/m/{memory.ref}/tags/").status_code == 405


def test_a_page_of_another_site_cannot_act() -> None:
    client = Client(enforce_csrf_checks=True)
    from django.contrib.auth.models import User

    client.force_login(User.objects.create_user("reader"))
    memory = make_observation("one")
    assert client.post(f"/m/{memory.ref}/pin/", {"pinned": "1"}).status_code == 403
    assert client.post("/selection/", {"ref": str(memory.ref), "action": "pin"}).status_code == 403


def test_nobody_acts_without_signing_in(client: Client) -> None:
    memory = make_observation("one")
    for address in (f"/m/{memory.ref}/pin/", f"/m/{memory.ref}/tags/", "/selection/"):
        assert client.post(address, {"pinned": "1"}).status_code == 302
    memory.refresh_from_db()
    assert memory.pinned is False
