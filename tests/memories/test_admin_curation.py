"""The admin: saves are in the history, verbs are actions that ask first, nothing is deleted past the trash."""

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client

from memweb.memories.curation import VERBS
from memweb.memories.models import Change, ChangeSet, Observation
from tests.factories import make_drawer, make_observation, make_one_of_each, make_project
from tests.search.searching import found

pytestmark = pytest.mark.django_db

LIST = "/admin/memories/observation/"


@pytest.fixture
def owner(client: Client, db: None) -> Client:
    client.force_login(User.objects.create_superuser("owner"))
    return client


def form_of(client: Client, address: str) -> dict[str, str]:
    page = BeautifulSoup(client.get(address).content.decode(), "html.parser")
    sent = {
        str(one["name"]): str(one.get("value", ""))
        for one in page.select("form[id$=_form] input[name]")
        if one.get("type") not in {"checkbox", "submit", "file"} or one.has_attr("checked")
    }
    sent |= {
        str(one["name"]): one.get_text().removeprefix("\n") for one in page.select("form[id$=_form] textarea[name]")
    }
    for one in page.select("form[id$=_form] select[name]"):
        chosen = one.select("option[selected]")
        if chosen:
            sent[str(one["name"])] = str(chosen[0]["value"])
    return sent


def test_a_save_of_the_admin_is_in_the_history_and_can_be_undone(owner: Client) -> None:
    memory = make_observation("needle old", tags=["t"], concepts=["c"])
    address = f"{LIST}{memory.pk}/change/"
    response = owner.post(address, {**form_of(owner, address), "title": "needle new", "facts": "[]"})
    assert response.status_code == 302, BeautifulSoup(response.content.decode(), "html.parser").select(".errorlist")
    change = Change.objects.get()
    assert (change.before, change.after) == ({"title": "needle old"}, {"title": "needle new"})
    owner.post(f"/changes/{change.change_set_id}/undo/")
    assert Observation.objects.get().title == "needle old"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("facts", "7", "Facts are a list"), ("facts", "true", "Facts are a list"), ("created_at_0", "9999-12-31", "9999")],
)
def test_values_that_pages_could_not_show_are_refused(owner: Client, name: str, value: str, message: str) -> None:
    memory = make_observation("one")
    address = f"{LIST}{memory.pk}/change/"
    response = owner.post(address, {**form_of(owner, address), name: value})
    assert response.status_code == 200
    assert message in response.content.decode()


def test_facts_of_any_shape_have_a_heading() -> None:
    assert [Observation(facts=facts).heading for facts in (7, True, {"a": 1}, [[" x"], 2])] == [
        "7",
        "True",
        "{'a': 1}",
        "x",
    ]


@pytest.mark.parametrize("name", VERBS)
def test_actions_ask_first_and_then_reach_everything_chosen(owner: Client, name: str) -> None:
    make_project("other")
    memories = [make_observation(f"needle {number}", tags=["t"]) for number in range(12)]
    sent = {"action": name, "_selected_action": [memory.pk for memory in memories]}
    response = owner.post(LIST, sent)
    assert response.status_code == 200
    assert "12 memories" in response.content.decode()
    assert ChangeSet.objects.count() == 0
    argument = {"tag": "new", "untag": "t", "wrong": "guess", "move": "other", "retype": "x"}.get(name, "")
    response = owner.post(LIST, {**sent, "confirmed": "1", "argument": argument, "reason": "tidy"})
    assert response.status_code == 302
    assert ChangeSet.objects.get().reason == "tidy"


def test_all_matching_are_reached_in_batches(owner: Client) -> None:
    memories = [make_observation(f"needle {number}") for number in range(60)]
    sent = {"action": "archive", "_selected_action": [memories[0].pk], "select_across": "1", "index": "0"}
    assert "60 memories" in owner.post(LIST, sent).content.decode()
    owner.post(LIST, {**sent, "confirmed": "1"})
    assert (found("needle"), Change.objects.count()) == ([], 60)


def test_an_argument_that_cannot_be_used_is_asked_for_again(owner: Client) -> None:
    memory = make_observation("one")
    sent = {"action": "move", "_selected_action": [memory.pk], "confirmed": "1", "argument": "<nowhere>"}
    response = owner.post(LIST, sent)
    assert response.status_code == 200
    assert "There is no project “&lt;nowhere&gt;”" in response.content.decode()
    assert ChangeSet.objects.count() == 0


def test_nothing_is_deleted_past_the_trash(owner: Client) -> None:
    for memory in make_one_of_each("one"):
        address = f"/admin/memories/{memory._meta.model_name}/"
        assert owner.post(f"{address}{memory.pk}/delete/", {"post": "yes"}).status_code == 403
        owner.post(address, {"action": "delete_selected", "_selected_action": [memory.pk], "post": "yes"})
        assert type(memory).objects.count() == 1


def test_the_log_is_shown_and_changed_by_nobody(owner: Client) -> None:
    memory = make_drawer("one")
    owner.post("/admin/memories/drawer/", {"action": "pin", "_selected_action": [memory.pk], "confirmed": "1"})
    log = "/admin/memories/changeset/"
    assert f"Pin: {memory.ref}" in owner.get(log).content.decode()
    change_set = ChangeSet.objects.get()
    assert owner.get(f"{log}{change_set.pk}/change/").status_code == 200
    assert owner.post(f"{log}{change_set.pk}/change/", {"summary": "x"}).status_code == 403
    assert owner.post(f"{log}{change_set.pk}/delete/", {"post": "yes"}).status_code == 403
