"""The Atom feed of a saved search: for whoever knows its address, well-formed whatever memories hold."""

from datetime import UTC
from xml.etree import ElementTree

import pytest
from django.contrib.auth.models import User
from django.test import Client

from memweb.memories.models import State
from search.saved.models import SavedSearch
from search.saved.saving import renew_feed, save_search
from tests.factories import make_observation, make_prompt, moment

pytestmark = pytest.mark.django_db

ATOM = "{http://www.w3.org/2005/Atom}"
HOSTILE = "\x1b[31m <script>alert(1)</script> & \x00 \ufffe \u202egnp.exe ]]>"


@pytest.fixture
def saved(db: None) -> SavedSearch:
    return save_search(User.objects.create_user("reader"), "Log & in <b>", "q=login&order=oldest", UTC)


def entries(client: Client, saved: SavedSearch) -> list[ElementTree.Element]:
    response = client.get(saved.feed_url)
    assert (response.status_code, response["Content-Type"]) == (200, "application/atom+xml; charset=utf-8")
    return ElementTree.fromstring(response.content).findall(f"{ATOM}entry")  # noqa: S314 - our own feed


def titles(client: Client, saved: SavedSearch) -> list[str | None]:
    return [entry.findtext(f"{ATOM}title") for entry in entries(client, saved)]


def test_newest_come_first_without_signing_in(client: Client, saved: SavedSearch) -> None:
    for number in range(3):
        make_observation(f"login {number}", created_at=moment(number))
    make_observation("elsewhere")
    assert titles(client, saved) == ["login 2", "login 1", "login 0"]


def test_what_is_archived_or_trashed_never_leaves(client: Client, saved: SavedSearch) -> None:
    make_observation("login secret", state=State.TRASHED)
    make_observation("login old", state=State.ARCHIVED)
    make_prompt("login shown")
    for query in ("q=login", "q=login+is:any", "q=login+is:archived", "q=login&state=trashed"):
        other = save_search(saved.user, query, query, UTC)
        assert set(titles(client, other)) <= {"login shown"}


@pytest.mark.parametrize("token", ["x", "é", "%00", "0" * 43])
def test_wrong_token_leads_nowhere(client: Client, saved: SavedSearch, token: str) -> None:
    assert client.get(f"/saved/{saved.pk}/feed/{token}/").status_code == 404
    assert client.get(f"/saved/{saved.pk + 1}/feed/{saved.feed_token}/").status_code == 404


def test_renewed_address_replaces_the_one_before(client: Client, saved: SavedSearch) -> None:
    before = saved.feed_url
    renew_feed(saved)
    assert client.get(before).status_code == 404
    assert client.get(saved.feed_url).status_code == 200


def test_feed_of_a_user_who_is_shut_out_is_gone(client: Client, saved: SavedSearch) -> None:
    User.objects.update(is_active=False)
    assert client.get(saved.feed_url).status_code == 404


def test_hostile_texts_leave_the_feed_well_formed(client: Client, saved: SavedSearch) -> None:
    make_observation(f"login {HOSTILE}", HOSTILE, type=HOSTILE, project=HOSTILE)
    [entry] = entries(client, saved)
    title, summary = entry.findtext(f"{ATOM}title") or "", entry.findtext(f"{ATOM}summary") or ""
    assert "<script>" in title
    assert "<script>" not in summary
    assert not {"\x1b", "\x00", "\u202e"} & set(title + summary)


def test_ids_stay_and_links_are_whole(client: Client, saved: SavedSearch) -> None:
    memory = make_observation("login")
    [first] = entries(client, saved)
    memory.title = "login again"
    memory.save()
    renew_feed(saved)
    [second] = entries(client, saved)
    assert first.findtext(f"{ATOM}id") == second.findtext(f"{ATOM}id")
    link = second.find(f"{ATOM}link")
    assert link is not None
    assert link.get("href") == f"http://testserver/m/{memory.ref}/"


def test_reader_that_has_it_already_gets_nothing(client: Client, saved: SavedSearch) -> None:
    make_observation("login")
    first = client.get(saved.feed_url)
    again = client.get(saved.feed_url, headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    make_observation("login too", created_at=moment(5))
    assert client.get(saved.feed_url, headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_feed_without_entries_is_valid(client: Client, saved: SavedSearch) -> None:
    assert entries(client, saved) == []
