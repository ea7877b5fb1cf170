"""Middleware that no page has to think of."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from memweb.failures import DATABASE_FILE_GONE
from memweb.middleware import BodilessHeadMiddleware, DatabaseFileMiddleware
from tests.factories import make_observation


@pytest.mark.parametrize(("method", "body"), [("HEAD", b""), ("GET", b"twelve bytes")])
def test_answer_to_head_has_no_body_but_its_length(method: str, body: bytes) -> None:
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse(b"twelve bytes")

    response = BodilessHeadMiddleware(view)(RequestFactory().generic(method, "/"))
    assert response.content == body
    assert response.get("Content-Length", "12") == "12"


@pytest.mark.django_db
def test_head_of_the_search_page_is_as_long_as_the_page(client: Client) -> None:
    client.force_login(User.objects.create_user("reader"))
    response = client.head("/")
    assert (response.status_code, response.content) == (200, b"")
    assert int(response["Content-Length"]) > 1000


@pytest.fixture
def database(db: None) -> Iterator[Path]:
    """The file of the database; what a test does to it is undone."""
    path = Path(connection.settings_dict["NAME"])
    kept = path.with_name("kept.sqlite3")
    kept.hardlink_to(path)
    yield path
    kept.replace(path)
    kept.unlink(missing_ok=True)


@pytest.mark.parametrize("how", ["removed", "replaced"])
@pytest.mark.parametrize("address", ["/", "/m/o1/", "/admin/", "/accounts/login/", "/healthz", "/no/such/page/"])
def test_database_file_that_is_gone_is_said(client: Client, database: Path, how: str, address: str) -> None:
    assert client.get(address).status_code != 503
    copy = shutil.copy(database, database.with_name("copy.sqlite3"))
    database.unlink()
    if how == "replaced":
        copy.rename(database)
    response = client.get(address)
    assert (response.status_code, response["Retry-After"]) == (503, "10")
    assert DATABASE_FILE_GONE.reason in response.content.decode()
    assert client.get(address, headers={"HX-Request": "true"}).content.decode() == (
        f"{DATABASE_FILE_GONE.reason}. {DATABASE_FILE_GONE.remedy}"
    )
    assert database.exists() is (how == "replaced")


def test_database_file_that_comes_back_is_used_again(client: Client, database: Path) -> None:
    assert client.get("/accounts/login/").status_code == 200
    away = database.rename(database.with_name("away.sqlite3"))
    assert client.get("/accounts/login/").status_code == 503
    away.rename(database)
    assert client.get("/accounts/login/").status_code == 200


def test_database_file_may_be_made_after_the_start(database: Path) -> None:
    away = database.rename(database.with_name("away.sqlite3"))
    answer = DatabaseFileMiddleware(lambda request: HttpResponse("page"))
    assert answer(RequestFactory().get("/")).status_code == 503
    away.rename(database)
    assert answer(RequestFactory().get("/")).status_code == 200
    database.unlink()
    assert answer(RequestFactory().get("/")).status_code == 503


@pytest.fixture
def owner_client(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("owner"))
    return client


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/", 200),
        ("/?q=a", 200),
        ("/m/{ref}/", 200),
        ("/m/{loud}/", 301),
        ("/m/o999999/", 404),
        ("/no/such/page/", 404),
    ],
)
@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_page_is_kept_by_its_browser_only(
    owner_client: Client, address: str, status: int, headers: dict[str, str]
) -> None:
    ref = str(make_observation("a").ref)
    response = owner_client.get(address.format(ref=ref, loud=ref.upper()), headers=headers)
    assert (response.status_code, response["Cache-Control"]) == (status, "private, no-cache")


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/m/o1/"])
def test_way_to_sign_in_is_not_kept_either(client: Client, address: str) -> None:
    assert {"private", "no-cache"} <= set(client.get(address)["Cache-Control"].split(", "))


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/admin/", "/admin/memories/tag/", "/accounts/login/"])
def test_page_with_a_cache_rule_of_its_own_keeps_it(owner_client: Client, address: str) -> None:
    rules = set(owner_client.get(address)["Cache-Control"].split(", "))
    assert {"no-store", "private"} <= rules
