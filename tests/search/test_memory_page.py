"""The page of a memory: what stands around it, what was done to it, and what is said of one that is gone."""

from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from django.contrib.auth.models import User
from django.test import Client

from memweb.memories.curation import carry_out
from memweb.memories.models import State
from tests.factories import make_drawer, make_observation, make_prompt, make_session, make_summary, moment

pytestmark = pytest.mark.django_db


def soup(client: Client, address: str, status: int = 200, headers: Any = None) -> BeautifulSoup:
    response = client.get(address, headers=headers)
    assert response.status_code == status, response.content[:500]
    return BeautifulSoup(response.content.decode(), "html.parser")


def section(page: BeautifulSoup, heading: str) -> Tag:
    found = next(one for one in page.select("aside section") if one.h2 and one.h2.get_text() == heading)
    assert isinstance(found, Tag)
    return found


def texts(page: BeautifulSoup | Tag, selector: str) -> list[str]:
    return [" ".join(one.get_text(" ").split()) for one in page.select(selector)]


def test_place_in_the_session_names_what_was_asked_and_what_stands_beside(reader: Client) -> None:
    session = make_session("s1")
    first = make_prompt("Why is it slow?", session=session, created_at=moment(0))
    before = make_observation("Before it", session=session, created_at=moment(1))
    memory = make_observation("The cause", session=session, created_at=moment(2))
    make_observation("trashed", session=session, state=State.TRASHED, created_at=moment(2.5))
    after = make_summary("After it", session=session, created_at=moment(3))
    make_prompt("Thanks", session=session, created_at=moment(4))
    place = section(soup(reader, f"/m/{memory.ref}/"), "In its session")
    assert texts(place, "dt, dd a") == ["Asked", "Why is it slow?", "Before", "Before it", "After", "After it"]
    assert texts(place, "dd .mono") == [str(first.ref), str(before.ref), str(after.ref)]
    assert place.select("a")[0]["href"] == f"/m/{first.ref}/"


def test_prompt_of_the_same_number_led_to_it(reader: Client) -> None:
    session = make_session("s1")
    make_prompt("The one", session=session, prompt_number=2, created_at=moment(0))
    make_prompt("The next", session=session, prompt_number=3, created_at=moment(1))
    memory = make_observation("Late note", session=session, prompt_number=2, created_at=moment(2))
    place = section(soup(reader, f"/m/{memory.ref}/"), "In its session")
    assert texts(place, "dd a")[0] == "The one"


def test_file_stands_once_with_all_that_was_done_to_it(reader: Client) -> None:
    memory = make_observation("It", files=["a.py", "b.py"], modified=["b.py", "c.py"])
    files = section(soup(reader, f"/m/{memory.ref}/"), "Files")
    assert sorted(texts(files, "li")) == ["a.py read", "b.py read, modified", "c.py modified"]


def test_link_of_a_file_finds_its_path_as_it_is_written(reader: Client) -> None:
    memory = make_observation("It", files=["odd\x1b[31m\u202ename.py"])
    [link] = section(soup(reader, f"/m/{memory.ref}/"), "Files").select("a")
    assert link.get_text() == "oddname.py"
    assert texts(soup(reader, str(link["href"])), ".hit-title") == ["It"]


def test_memory_without_a_session_has_no_place(reader: Client) -> None:
    memory = make_observation("alone")
    assert "In its session" not in texts(soup(reader, f"/m/{memory.ref}/"), "h2")


def test_other_memories_of_the_same_files_the_newest_first(reader: Client) -> None:
    memory = make_observation("It", files=["a.py", "b.py"])
    make_observation("Old", files=["a.py"], created_at=moment(-5))
    make_summary("New", files=["b.py"], created_at=moment(5))
    make_observation("Of no time", modified=["b.py"], created_at=None)
    make_observation("Elsewhere", files=["c.py"], created_at=moment(9))
    make_observation("Trashed", files=["a.py"], state=State.TRASHED)
    same = section(soup(reader, f"/m/{memory.ref}/"), "About the same files")
    assert texts(same, "li a bdi") == ["New", "Old", "Of no time"]


def test_similar_memories_share_words_where_meaning_cannot_be_searched(reader: Client) -> None:
    memory = make_observation("Login timeout after deploy", "OR -and (the proxy) drops it")
    near = make_observation("The login has a timeout", "since the deploy")
    make_observation("Nothing of it", "zebra")
    page = soup(reader, f"/m/{memory.ref}/similar/", headers={"HX-Request": "true"})
    assert [str(link["href"]) for link in page.select("a")] == [f"/m/{near.ref}/"]
    assert texts(page, ".aside-note") == ["found by shared words"]
    whole = soup(reader, f"/m/{memory.ref}/similar/")
    assert texts(whole, "h1") == [f"Similar to {memory.ref}"]
    lonely = make_observation("!!!")
    assert texts(soup(reader, f"/m/{lonely.ref}/similar/"), ".aside-note") == ["Nothing comes near."]


@pytest.mark.parametrize("ref", ["zebra", "o4711"])
def test_similar_to_nothing_is_not_found(reader: Client, ref: str) -> None:
    assert texts(soup(reader, f"/m/{ref}/similar/", 404), "h1") == ["There is nothing here"]


def test_superseding_is_shown_on_both_sides(reader: Client) -> None:
    new = make_observation("The correction")
    old = make_observation("The mistake", superseded_by=new)
    page = soup(reader, f"/m/{old.ref}/")
    assert texts(page, ".notice a") == ["The correction"]
    assert texts(section(soup(reader, f"/m/{new.ref}/"), "Supersedes"), "li a bdi") == ["The mistake"]


def test_changes_are_listed_the_newest_first(reader: Client) -> None:
    memory = make_observation("one")
    assert texts(section(soup(reader, f"/m/{memory.ref}/"), "Changes"), "p") == ["Nobody has changed it."]
    user = User.objects.create_superuser("curator")
    carry_out(user, "pin", [memory.ref])
    carry_out(user, "wrong", [memory.ref], "a guess", reason="asked around")
    changes = section(soup(reader, f"/m/{memory.ref}/"), "Changes")
    assert [one.get_text(" ", strip=True).partition(" What")[0] for one in changes.select("li")] == [
        f"just now curator : Mark as wrong: {memory.ref} (a guess) asked around",
        f"just now curator : Pin: {memory.ref}",
    ]
    assert texts(changes, "dt") == ["marked as wrong", "pinned"]
    assert texts(changes, "ins") == ["a guess", "yes"]
    assert changes.select("form") == []


def test_passage_is_shown_with_what_stands_beside_it(reader: Client) -> None:
    session = make_session("s1")
    [_, memory, _] = [make_drawer(f"part {n}", session=session, created_at=moment(n)) for n in range(3)]
    page = soup(reader, f"/m/{memory.ref}/")
    assert texts(page, ".hit-beside") == ["Before: part 0", "After: part 2"]


def test_long_text_is_folded_and_whole(reader: Client) -> None:
    memory = make_observation("one", "word " * 2_000 + "the end", facts=["short"])
    page = soup(reader, f"/m/{memory.ref}/")
    fold = page.select_one("details.long")
    assert fold is not None
    assert texts(fold, "summary") == ["Show all 10,007 characters"]
    assert fold.get_text().strip().endswith("the end")
    assert len(page.select("details.long")) == 1


def test_code_is_coloured(reader: Client) -> None:
    memory = make_observation("one", "```python\nreturn 1\n```")
    assert texts(soup(reader, f"/m/{memory.ref}/"), "pre .hl-k") == ["return"]


def test_trashed_memory_is_gone_and_says_what_can_be_done(reader: Client) -> None:
    memory = make_observation("secret", state=State.TRASHED)
    page = soup(reader, f"/m/{memory.ref}/", 410)
    assert "secret" not in page.get_text()
    assert texts(page, ".alone p")[1:] == [
        f"The memory {memory.ref} is in the trash.",
        "Ask the owner of this memweb to take it out again.",
    ]
    User.objects.update(is_superuser=True)
    page = soup(reader, f"/m/{memory.ref}/", 410)
    assert [button["value"] for button in page.select(".actions button[name=action]")] == ["restore", "purge"]


def test_archived_memory_is_shown_with_its_state(reader: Client) -> None:
    memory = make_observation("old", state=State.ARCHIVED)
    assert "archived" in texts(soup(reader, f"/m/{memory.ref}/"), ".memory-head .badge")


@pytest.mark.parametrize("facts", [["", " ", None, "one", ["two", None]], {"a": "one"}, 7])
def test_facts_of_any_shape_are_shown_without_blank_ones(reader: Client, facts: object) -> None:
    memory = make_observation("title", facts=facts)
    shown = texts(soup(reader, f"/m/{memory.ref}/"), ".memory-section li")
    assert shown == (["one", "two"] if isinstance(facts, list) else [str(facts)])
    assert reader.get(f"/m/{memory.ref}/?format=md").status_code == 200
