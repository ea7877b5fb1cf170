"""The form of a memory, its verbs, the trash, the list of changes, and questions before a selection is changed."""

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from memweb.memories.models import ChangeSet, ImportConflict, Memory, Observation
from tests.factories import make_observation, make_one_of_each, make_project, refs
from tests.search.searching import found

pytestmark = pytest.mark.django_db


def soup(client: Client, address: str, status: int = 200) -> BeautifulSoup:
    response = client.get(address)
    assert response.status_code == status
    return BeautifulSoup(response.content.decode(), "html.parser")


def sent_by(page: BeautifulSoup) -> dict[str, str]:
    """Return what the form would send as it stands."""
    fields = {one["name"]: one.get("value", "") for one in page.select(".edit-form input[name]")}
    texts = {one["name"]: one.get_text().removeprefix("\n") for one in page.select(".edit-form textarea")}
    return {name: str(value) for name, value in (fields | texts).items() if name != "csrfmiddlewaretoken"}


def test_a_form_that_is_sent_as_it_stands_changes_nothing(curator: Client) -> None:
    memories = make_one_of_each("needle\n\n  with blanks ")
    memories.append(
        make_observation("<b>", concepts=["a, b"], files=["modified x"], modified=["y"], facts=[{"a": 1}, "  b"])
    )
    for memory in memories:
        address = f"/m/{memory.ref}/edit/"
        response = curator.post(address, sent_by(soup(curator, address)))
        assert response.status_code == 302
    assert ChangeSet.objects.count() == 0


def test_every_field_can_be_edited_in_the_form(curator: Client) -> None:
    memory, project = make_observation("old", facts=[{"a": 1}]), make_project("other")
    address = f"/m/{memory.ref}/edit/"
    sent = sent_by(soup(curator, address)) | {
        "title": "new",
        "facts": "{'a': 1}\nsecond",
        "concepts": "gotcha\nhow",
        "tags": "t",
        "files": "src/a.py\nmodified src/b.py",
        "project_id": "other",
        "created_at": "2026-02-03 04:05",
        "reason": "it was wrong",
    }
    assert curator.post(address, sent)["Location"] == f"/m/{memory.ref}/"
    row = Observation.objects.get()
    assert (row.title, row.facts, row.project) == ("new", [{"a": 1}, "second"], project)
    assert sorted((link.file.path, link.role) for link in row.file_links.all()) == [
        ("src/a.py", "read"),
        ("src/b.py", "modified"),
    ]
    assert found("new concept:gotcha tag:t file:src/b.py project:other") == [str(memory.ref)]
    assert ChangeSet.objects.get().reason == "it was wrong"


def test_what_cannot_be_saved_comes_back_as_it_was_typed(curator: Client) -> None:
    memory = make_observation("old")
    address = f"/m/{memory.ref}/edit/"
    response = curator.post(address, {"title": "kept", "created_at": "soon", "project_id": "nowhere", "tags": "x" * 61})
    page = BeautifulSoup(response.content.decode(), "html.parser")
    assert response.status_code == 422
    assert sent_by(page)["title"] == "kept"
    assert {one["name"] for one in page.select("[aria-invalid]")} == {"created_at", "project_id"}
    assert "“soon” is not a time" in page.get_text()
    assert Observation.objects.get().title == "old"


def test_second_saver_sees_the_difference_and_can_save_again(curator: Client) -> None:
    memory = make_observation("old title")
    address = f"/m/{memory.ref}/edit/"
    sent = sent_by(soup(curator, address))
    curator.post(address, {**sent, "title": "their title"})
    response = curator.post(address, {**sent, "title": "my title"})
    page = BeautifulSoup(response.content.decode(), "html.parser")
    assert response.status_code == 409
    assert [one.get_text() for one in page.select(".edit-conflict del, .edit-conflict ins")] == ["their", "my"]
    assert (Observation.objects.get().title, sent_by(page)["title"]) == ("their title", "my title")
    assert curator.post(address, sent_by(page)).status_code == 302
    assert Observation.objects.get().title == "my title"


def test_verbs_of_one_memory_and_the_way_through_the_trash(curator: Client) -> None:
    memory = make_observation("needle")
    address = f"/m/{memory.ref}/curate/"
    curator.post(address, {"action": "wrong", "argument": "<i>guess"})
    assert "Marked as wrong: <i>guess" in soup(curator, f"/m/{memory.ref}/").get_text()
    curator.post(address, {"action": "purge"})
    assert Observation.objects.count() == 1
    curator.post(address, {"action": "trash"})
    soup(curator, f"/m/{memory.ref}/", 410)
    curator.post(address, {"action": "restore"})
    soup(curator, f"/m/{memory.ref}/")
    curator.post(address, {"action": "trash"})
    assert curator.post(address, {"action": "purge"})["Location"] == "/"
    soup(curator, f"/m/{memory.ref}/", 404)


def test_changes_are_listed_and_undone(curator: Client) -> None:
    assert "Nobody has changed anything yet" in soup(curator, "/changes/").get_text()
    memory = make_observation("needle")
    curator.post(f"/m/{memory.ref}/curate/", {"action": "archive"})
    page = soup(curator, "/changes/")
    form = page.select_one(".changes-list form")
    assert form is not None
    assert found("needle") == []
    curator.post(str(form["action"]), {"next": "/changes/"})
    assert found("needle") == [str(memory.ref)]
    assert len(soup(curator, "/changes/").select(".changes-list .badge")) == 1
    curator.post(str(form["action"]), {"next": "/changes/"})
    assert "has been undone already" in soup(curator, "/changes/").get_text()


def test_list_of_changes_goes_on_and_needs_few_statements(
    curator: Client, django_assert_max_num_queries: object
) -> None:
    memory = make_observation("needle")
    for number in range(60):
        curator.post(f"/m/{memory.ref}/curate/", {"action": "archive" if number % 2 else "trash"})
    with django_assert_max_num_queries(12):  # type: ignore[operator]
        page = soup(curator, "/changes/")
    older = page.select_one("a.button[href^='?before']")
    assert older is not None
    second = soup(curator, f"/changes/{older['href']}")
    assert len(page.select(".changes-list li")) + len(second.select(".changes-list li")) == 60


@pytest.mark.parametrize("verb", ["archive", "trash", "restore", "wrong", "right", "untag", "move", "retype", "merge"])
def test_a_selection_is_asked_about_and_nothing_done_before(curator: Client, verb: str) -> None:
    memories = [make_observation(f"<needle> {number}") for number in range(12)]
    response = curator.post("/selection/", {"action": "ask", "verb": verb, "ref": refs(memories), "next": "/?q=x"})
    page = BeautifulSoup(response.content.decode(), "html.parser")
    assert "12 memories" in (page.h1 or page).get_text()
    assert len(page.select(".ask-examples li")) == 11
    assert ChangeSet.objects.count() == 0
    sent = {"action": verb, "ref": [one["value"] for one in page.select("input[name=ref]")], "next": "/?q=x"}
    make_project("other")
    argument = {"wrong": "guess", "untag": "t", "move": "other", "retype": "x"}.get(verb, "")
    assert curator.post("/selection/", {**sent, "argument": argument})["Location"] == "/?q=x"
    assert ChangeSet.objects.count() == 1


@pytest.mark.parametrize("sent", [{"verb": ""}, {"verb": "burn"}, {}])
def test_a_question_that_makes_no_sense_is_told(curator: Client, sent: dict[str, str]) -> None:
    memory = make_observation("one")
    response = curator.post("/selection/", {"action": "ask", "ref": str(memory.ref), "next": "/", **sent})
    assert response.status_code == 302
    assert soup(curator, "/").select(".site-messages .notice")


def test_readers_see_no_way_to_change_and_are_refused(reader: Client) -> None:
    memory: Memory = make_observation("needle")
    page = soup(reader, f"/m/{memory.ref}/")
    assert page.select(".curating, [data-action=edit]") == []
    assert reader.get(f"/m/{memory.ref}/edit/").status_code == 403
    assert reader.post(f"/m/{memory.ref}/curate/", {"action": "trash"}).status_code == 403
    assert reader.post("/selection/", {"action": "ask", "verb": "trash", "ref": str(memory.ref)}).status_code == 403
    assert ChangeSet.objects.count() == 0


@pytest.mark.parametrize("address", ["/m/o999/edit/", "/m/zebra/edit/"])
def test_form_of_a_missing_memory_is_told(curator: Client, address: str) -> None:
    assert soup(curator, address, 404).select("form.edit-form") == []


def test_bad_addresses_of_changes_are_told(curator: Client) -> None:
    assert curator.post("/changes/999/undo/").status_code == 404
    soup(curator, "/changes/?before=x")
    soup(curator, "/changes/?before=" + "9" * 40)


@pytest.mark.parametrize(
    ("kind", "field"), [("observation", "title"), ("summary", "request"), ("prompt", "text"), ("drawer", "text")]
)
def test_memories_of_every_kind_are_written_by_hand(curator: Client, kind: str, field: str) -> None:
    make_project("demo")
    sent = sent_by(soup(curator, f"/new/?kind={kind}"))
    response = curator.post("/new/", {**sent, field: "needle", "project_id": "demo", "tags": "own"})
    assert response.status_code == 302
    assert [f"/m/{ref}/" for ref in found("needle tag:own")] == [response["Location"]]


def test_what_is_missing_of_a_new_memory_is_said(curator: Client) -> None:
    response = curator.post("/new/", {"kind": "observation", "narrative": "kept"})
    page = BeautifulSoup(response.content.decode(), "html.parser")
    assert (response.status_code, sent_by(page)["narrative"]) == (422, "kept")
    assert [one["name"] for one in page.select("[aria-invalid]")] == ["project_id"]
    soup(curator, "/new/?kind=zebra", 404)


@pytest.mark.parametrize(("take", "title"), [("mine", "ours <b>"), ("theirs", "theirs <i>")])
def test_a_conflict_is_shown_and_decided(curator: Client, take: str, title: str) -> None:
    assert "Nothing that was edited here" in soup(curator, "/conflicts/").get_text()
    memory = make_observation("ours <b>", concepts=["a"])
    conflict = ImportConflict.objects.create(
        kind="observation", memory_id=memory.pk, theirs={"title": "theirs <i>", "concepts": ["b"], "gone": 1}
    )
    page = soup(curator, "/conflicts/")
    assert [one.get_text() for one in page.select("dt")] == ["title", "concepts"]
    curator.post(f"/conflicts/{conflict.pk}/", {"take": "both"})
    assert ImportConflict.objects.count() == 1
    curator.post(f"/conflicts/{conflict.pk}/", {"take": take})
    assert (ImportConflict.objects.count(), Observation.objects.get().title) == (0, title)
    assert curator.post(f"/conflicts/{conflict.pk}/", {"take": take}).status_code == 404
