"""Saved searches: kept under a name in one normal form, opened, renamed, deleted, by nobody but their owner."""

from collections.abc import Callable
from datetime import UTC

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from search.saved.models import SavedSearch
from search.saved.saving import MOST_SAVED, rename_search, save_search
from tests.factories import make_observation, make_prompt, moment

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(reader: Client) -> User:
    return User.objects.get(username="reader")


def page_of(client: Client, address: str, status: int = 200) -> BeautifulSoup:
    response = client.get(address)
    assert response.status_code == status
    return BeautifulSoup(response.content.decode(), "html.parser")


def notices(client: Client) -> list[str]:
    return [one.get_text(strip=True) for one in page_of(client, "/saved/").select(".site-messages .notice")]


@pytest.mark.parametrize(
    ("query", "normal"),
    [
        ("q=login&order=newest", "q=login&order=newest"),
        ("order=newest&q=login&cursor=abc&unknown=1&limit=20", "q=login&order=newest"),
        ("q=login&obs_type=bugfix", "q=login&type=bugfix"),
        ("", ""),
        ("q=", ""),
    ],
)
def test_search_is_kept_in_its_one_normal_form(user: User, query: str, normal: str) -> None:
    assert save_search(user, "mine", query, UTC).query == normal


@pytest.mark.parametrize(
    ("name", "kept"),
    [("  Rate   limits ", "Rate limits"), ("اسم", "اسم"), ("a\x00b\u202e", "ab"), ("x" * 100, "x" * 100)],
)
def test_name_is_kept_without_needless_blanks_and_controls(user: User, name: str, kept: str) -> None:
    assert save_search(user, name, "q=a", UTC).name == kept


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "needs a name"), (" \x00 ", "needs a name"), ("x" * 101, "at most 100 characters; this one has 101")],
)
def test_name_that_is_none_is_refused(user: User, name: str, message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        save_search(user, name, "q=a", UTC)


@pytest.mark.parametrize("again", ["Login", "LOGIN", " login ", "ｌｏｇｉｎ"])
def test_name_is_given_once_whatever_its_capitals(user: User, again: str) -> None:
    save_search(user, "Login", "q=a", UTC)
    with pytest.raises(ValidationError, match="There is a saved search named") as raised:
        save_search(user, again, "q=b", UTC)
    assert raised.value.code == "taken"
    assert save_search(user, again, "q=b", UTC, replace=True).query == "q=b"
    assert SavedSearch.objects.count() == 1
    other = save_search(user, "Other", "q=c", UTC)
    with pytest.raises(ValidationError):
        rename_search(other, again)
    assert save_search(User.objects.create_user("somebody"), "Login", "q=a", UTC).pk


def test_too_many_are_refused(user: User) -> None:
    for number in range(MOST_SAVED):
        SavedSearch.objects.create(user=user, name=str(number), key=str(number), time_zone="UTC")
    with pytest.raises(ValidationError, match="200 saved searches already"):
        save_search(user, "one more", "q=a", UTC)


def test_saving_from_the_page_opening_renaming_and_deleting(reader: Client, user: User) -> None:
    make_observation("Login loops", type="bugfix")
    form = page_of(reader, "/?q=login+type:bugfix&order=newest").select_one("#save-search form")
    assert form is not None
    sent = {str(field["name"]): str(field["value"]) for field in form.select("input[name]")}
    response = reader.post("/saved/", sent)
    assert response["Location"] == "/?q=login+type%3Abugfix&order=newest"
    saved = SavedSearch.objects.get(user=user)
    assert (saved.name, saved.query) == ("login type:bugfix", "q=login+type%3Abugfix&order=newest")
    state = page_of(reader, "/?q=login+type:bugfix&order=newest").select_one(".save-state")
    assert state is not None
    assert "login type:bugfix" in state.get_text()
    assert reader.get(f"/saved/{saved.pk}/")["Location"] == "/?q=login+type%3Abugfix&order=newest"
    saved.refresh_from_db()
    assert saved.opened_at is not None
    reader.post(f"/saved/{saved.pk}/rename/", {"name": "Loops"})
    assert notices(reader) == ["Renamed to “Loops”."]
    reader.post(f"/saved/{saved.pk}/delete/")
    assert (notices(reader), SavedSearch.objects.count()) == (["Deleted “Loops”."], 0)


def test_refused_search_is_shown_with_what_was_entered(reader: Client, user: User) -> None:
    save_search(user, "Login", "q=a", UTC)
    response = reader.post("/saved/", {"name": "login", "query": "q=b"})
    page = BeautifulSoup(response.content.decode(), "html.parser")
    assert response.status_code == 400
    field = page.select_one("#refused-name")
    assert field is not None
    assert field["value"] == "login"
    assert page.select("button[name=replace]") != []
    reader.post("/saved/", {"name": "login", "query": "q=b", "replace": "on"})
    assert SavedSearch.objects.get().query == "q=b"


ACTIONS: dict[str, Callable[[Client, int], int]] = {
    "open": lambda client, id: client.get(f"/saved/{id}/").status_code,
    "count": lambda client, id: client.get(f"/saved/{id}/new/").status_code,
    "rename": lambda client, id: client.post(f"/saved/{id}/rename/", {"name": "x"}).status_code,
    "renew": lambda client, id: client.post(f"/saved/{id}/renew-feed/").status_code,
    "delete": lambda client, id: client.post(f"/saved/{id}/delete/").status_code,
}


@pytest.mark.parametrize("action", ACTIONS)
def test_saved_search_of_somebody_else_is_not_there(reader: Client, user: User, action: str) -> None:
    theirs = save_search(User.objects.create_user("somebody"), "Secret plan", "q=a", UTC)
    assert ACTIONS[action](reader, theirs.pk) == 404
    assert SavedSearch.objects.filter(name="Secret plan", feed_token=theirs.feed_token).exists()
    assert "Secret plan" not in page_of(reader, "/saved/").get_text()
    assert ACTIONS[action](Client(), theirs.pk) == 302


@pytest.mark.parametrize("action", ["rename", "renew-feed", "delete"])
def test_reading_changes_nothing(reader: Client, user: User, action: str) -> None:
    saved = save_search(user, "Mine", "q=a", UTC)
    assert reader.get(f"/saved/{saved.pk}/{action}/").status_code == 405


def test_news_are_counted_since_the_last_opening(reader: Client, user: User) -> None:
    make_observation("login before")
    saved = save_search(user, "Mine", "q=login", UTC)
    address = f"/saved/{saved.pk}/new/"
    assert reader.get(address).content.strip() == b""
    make_observation("login after")
    make_prompt("login too")
    make_prompt("something else")
    assert "2 new" in reader.get(address).content.decode()
    reader.get(f"/saved/{saved.pk}/")
    assert reader.get(address).content.strip() == b""


def test_statements_do_not_grow_with_rows(reader: Client, user: User) -> None:
    counts = []
    for number in range(100):
        save_search(user, f"search {number}", f"q=w{number}", UTC)
        make_observation(f"w{number}", created_at=moment(number))
        if number + 1 in (1, 10, 100):
            reader.get("/saved/")
            with CaptureQueriesContext(connection) as queries:
                assert len(page_of(reader, "/saved/").select(".saved-row")) == number + 1
            counts.append(len(queries))
    assert counts[0] == counts[1] == counts[2] <= 8


def test_empty_box_offers_saved_searches(reader: Client, user: User) -> None:
    saved = save_search(user, "<b>Mine</b>", "q=a", UTC)
    save_search(User.objects.create_user("somebody"), "Theirs", "q=a", UTC)
    page = page_of(reader, "/completions/?q=")
    options = [(one.get_text(strip=True), one["data-href"]) for one in page.select("[data-href]")]
    assert options == [("<b>Mine</b>", f"/saved/{saved.pk}/")]


def test_syntax_page_shows_the_documentation(reader: Client) -> None:
    page = page_of(reader, "/syntax/")
    titles = [one.get_text() for one in page.select("h2")]
    assert "Results put together" in titles
    targets = {str(link["href"])[1:] for link in page.select(".syntax-contents a")}
    assert targets == {str(one["id"]) for one in page.select("h2")} - {"keys-title"}
    assert page.select(".prose p br") == []
    assert len(page.select(".prose table")) >= 3
