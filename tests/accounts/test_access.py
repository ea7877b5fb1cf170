"""Nothing is shown to somebody who is not signed in, except a short list."""

from collections.abc import Iterator
from http import HTTPStatus

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RegexPattern, RoutePattern
from pytest_django import DjangoAssertNumQueries

pytestmark = pytest.mark.django_db

# Addresses that answer everybody, each with its reason.
PUBLIC = {
    "accounts/login/": "tells how to sign in",
    "accounts/link/<str:token>/": "signs in, or says why not",
    "accounts/logout/": "ends a session that is not there",
    "admin/login/": "the same sign-in page",
    "healthz": "says that the server answers and whether it does without its vector index",
}
SAMPLES = {"int": "1", "str": "x", "slug": "x", "uuid": "00000000-0000-4000-8000-000000000000", "path": "x"}
SIGN_IN_PAGES = ("/accounts/login/", "/admin/login/")


def routes(patterns: list[URLPattern | URLResolver], before: str = "") -> Iterator[tuple[str, str]]:
    """Yield the route of every view and an address that leads to it."""
    for entry in patterns:
        pattern = entry.pattern
        route = before + str(pattern)
        if isinstance(entry, URLResolver):
            yield from routes(entry.url_patterns, route)
        elif isinstance(pattern, RegexPattern):
            yield route, before + "x"
        else:
            yield route, example(route)


def example(route: str) -> str:
    """Return an address of a route; of several converters each takes its sample."""
    address = route
    for name, converter in RoutePattern(route).converters.items():
        kind = next((kind for kind in SAMPLES if f"<{kind}:{name}>" in route), None)
        # A converter of our own has a sample value that it wrote itself, or matches any word.
        sample = SAMPLES[kind] if kind else getattr(converter, "sample", "x")
        start = min(address.find(opening) for opening in (f"<{name}>", f":{name}>") if opening in address)
        start = address.rfind("<", 0, start + 1)
        address = address[:start] + sample + address[address.index(">", start) + 1 :]
    return address


ROUTES = [entry for entry in routes(get_resolver().url_patterns) if entry[0] not in PUBLIC]


def is_closed(client: Client, method: str, address: str) -> bool:
    response = client.generic(method, f"/{address}")
    if response.status_code in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
        return True
    return response.status_code == HTTPStatus.FOUND and response["Location"].split("?")[0] in SIGN_IN_PAGES


@pytest.mark.parametrize(("route", "address"), ROUTES, ids=[route for route, _ in ROUTES])
def test_view_is_closed_to_somebody_who_is_not_signed_in(client: Client, route: str, address: str) -> None:
    answers = {method: is_closed(client, method, address) for method in ("GET", "HEAD", "POST", "PUT", "DELETE")}
    assert answers == dict.fromkeys(answers, True)


def test_list_of_public_addresses_names_existing_ones_only() -> None:
    assert set(PUBLIC) <= {route for route, _ in routes(get_resolver().url_patterns)}


def test_redirect_to_sign_in_remembers_the_page(client: Client) -> None:
    assert client.get("/admin/auth/user/?q=a")["Location"] == "/accounts/login/?next=/admin/auth/user/%3Fq%3Da"


@pytest.mark.parametrize(
    ("current", "page"),
    [
        ("http://testserver/admin/auth/user/?q=a", "/admin/auth/user/%3Fq%3Da"),
        ("https://evil.example/x", "/x"),
        ("http://[broken", "/"),
        ("", "/"),
    ],
)
def test_fragment_leads_the_whole_page_to_sign_in(client: Client, current: str, page: str) -> None:
    response = client.get("/admin/auth/group/", headers={"hx-request": "true", "hx-current-url": current})
    assert response.headers["HX-Redirect"] == f"/accounts/login/?next={page}"
    assert response.content == b""


def test_health_is_public_and_says_only_ok(client: Client, django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(0):
        response = client.get("/healthz")
    assert (response.status_code, response.content) == (HTTPStatus.OK, b"ok")
    assert client.post("/healthz").status_code == HTTPStatus.METHOD_NOT_ALLOWED


def test_page_that_does_not_exist_says_so_to_everybody(client: Client) -> None:
    response = client.get("/no/such/page/")
    assert response.status_code == HTTPStatus.NOT_FOUND
    assert response.context["user"].is_authenticated is False


@pytest.mark.parametrize("address", ["/accounts/login/", "/accounts/link/x/", "/admin/login/", "/healthz"])
def test_public_page_is_for_reading_only(address: str) -> None:
    response = Client(enforce_csrf_checks=True).post(address)
    assert (response.status_code, response["Allow"]) == (HTTPStatus.METHOD_NOT_ALLOWED, "GET, HEAD")


def test_form_without_its_token_is_refused(admin_client: Client) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.cookies = admin_client.cookies
    for address in ("/accounts/logout/", "/admin/memories/tag/add/"):
        assert browser.post(address).status_code == HTTPStatus.FORBIDDEN
