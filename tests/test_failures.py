"""A database that cannot be used now is an answer of its own, on every way to it; a fault of memweb stays one."""

import json
import logging
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.contrib.messages import constants
from django.contrib.messages.storage.base import Message
from django.contrib.messages.storage.cookie import MessageEncoder
from django.contrib.messages.storage.session import SessionStorage
from django.contrib.sessions.backends.base import UpdateError
from django.db import connection
from django.db.utils import DatabaseError, IntegrityError, OperationalError
from django.http import HttpResponse
from django.test import Client, RequestFactory

from memweb.accounts.links import create_link
from memweb.failures import answer_failure, outage_of
from memweb.memories.models import Tag

LOCKED = "The database is in use by another program"


@pytest.fixture
def owner(transactional_db: None) -> User:
    return User.objects.create_superuser("owner")


@pytest.fixture
def browser(owner: User) -> Client:
    """A browser of the owner with a message to show, so that its session must be saved with the next page."""
    client = Client(raise_request_exception=False)
    client.force_login(owner)
    session = client.session
    session[SessionStorage.session_key] = json.dumps([Message(constants.INFO, "saved")], cls=MessageEncoder)
    session.save()
    return client


@contextmanager
def foreign_lock() -> Iterator[None]:
    """Another program writes, for longer than memweb waits."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 20")
    with closing(sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
    connection.close()


def texts(response: HttpResponse) -> list[str]:
    """Return the paragraphs of a page of an error."""
    return [one.get_text() for one in BeautifulSoup(response.content.decode(), "html.parser").select("main p")]


REQUESTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "page whose session must be saved": ("GET", "/", {}),
    "page of the admin": ("GET", "/admin/", {}),
    "save in the admin": ("POST", "/admin/memories/tag/add/", {"name": "a"}),
    "signing out": ("POST", "/accounts/logout/", {}),
}


@pytest.mark.parametrize("name", REQUESTS)
def test_locked_database_is_said(browser: Client, name: str, caplog: pytest.LogCaptureFixture) -> None:
    method, address, data = REQUESTS[name]
    with caplog.at_level(logging.WARNING), foreign_lock():
        response = getattr(browser, method.lower())(address, data)
    assert (response.status_code, response["Retry-After"]) == (503, "10")
    assert texts(response)[:2] == ["503", f"{LOCKED}."]
    assert [(record.getMessage(), record.exc_info) for record in caplog.records] == [
        (f"{LOCKED} (database is locked)", None)
    ]
    assert Tag.objects.count() == 0


@pytest.mark.parametrize("name", [*REQUESTS][1:])
def test_locked_database_is_one_line_for_htmx(browser: Client, name: str) -> None:
    method, address, data = REQUESTS[name]
    with foreign_lock():
        response = getattr(browser, method.lower())(address, data, headers={"HX-Request": "true"})
    assert (response.status_code, response["Content-Type"]) == (503, "text/plain; charset=utf-8")
    assert response.content.decode().startswith(f"{LOCKED}. ")
    assert "\n" not in response.content.decode()


def test_sign_in_link_outlasts_a_lock_and_is_not_logged(owner: User, caplog: pytest.LogCaptureFixture) -> None:
    token = create_link(owner)
    client = Client(raise_request_exception=False)
    with foreign_lock():
        assert client.get(f"/accounts/link/{token}/").status_code == 503
    assert token not in caplog.text
    assert client.get(f"/accounts/link/{token}/")["Location"] == "/"


def test_page_that_writes_nothing_does_not_mind_a_lock(owner: User) -> None:
    client = Client()
    client.force_login(owner)
    with foreign_lock():
        assert client.get("/").status_code == 200


def test_session_that_was_deleted_meanwhile_is_no_outage(browser: Client) -> None:
    store = browser.session
    store["a"] = 1
    store.delete()
    with pytest.raises(UpdateError):
        store.save()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (OperationalError("database is locked"), LOCKED),
        (OperationalError("database table is locked: x"), LOCKED),
        (OperationalError("database or disk is full"), "The disk that holds the database is full"),
        (OperationalError("attempt to write a readonly database"), "The database cannot be written"),
        (OperationalError("no such table: x"), None),
        (DatabaseError("database disk image is malformed"), None),
        (IntegrityError("locked"), None),
        (ValueError("database is locked"), None),
        (None, None),
    ],
)
def test_outage_is_what_can_pass(error: Exception | None, reason: str | None) -> None:
    outage = outage_of(error)
    assert (outage and outage.reason) == reason


@pytest.mark.parametrize(("error", "status"), [(ValueError("x"), 500), (OperationalError("database is locked"), 503)])
def test_answer_follows_the_error(error: Exception, status: int) -> None:
    try:
        raise error
    except type(error):
        response = answer_failure(RequestFactory().get("/"))
    assert response.status_code == status
