"""Signing in by link and signing out, as a browser sees it."""

from http import HTTPStatus

import pytest
from bs4 import BeautifulSoup
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

from memweb.accounts.links import LinkProblem, create_link
from memweb.accounts.models import SignInLink
from memweb.accounts.owner import ensure_owner

pytestmark = pytest.mark.django_db

HOSTILE_NEXT = [
    "///evil.example",
    "//evil.example",
    "https:evil.example",
    "https://evil.example/",
    "http:///evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "/\tevil.example",
    "\r\nSet-Cookie:x=1",
    "/x\r\nSet-Cookie:x=1",
    "javascript:alert(1)",
    " https://evil.example",
    "//[evil",
    "evil.example",
    "/\u2028evil",
]


@pytest.fixture
def owner() -> User:
    return ensure_owner()


@pytest.fixture
def address(owner: User) -> str:
    return f"/accounts/link/{create_link(owner)}/"


def is_signed_in(client: Client) -> bool:
    return "_auth_user_id" in client.session


def link_is_unused() -> bool:
    return SignInLink.objects.get().used_at is None


def test_link_signs_in_and_leads_to_the_start_page(client: Client, address: str) -> None:
    response = client.get(address)
    assert (response.status_code, response["Location"]) == (HTTPStatus.FOUND, "/")
    assert is_signed_in(client)
    cookie = response.cookies[settings.SESSION_COOKIE_NAME]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    assert "no-store" in response["Cache-Control"]


def test_link_leads_to_the_page_that_was_asked_for(client: Client, address: str) -> None:
    assert client.get(address, {"next": "/m/o12/?q=a&b=%C3%A9"})["Location"] == "/m/o12/?q=a&b=%C3%A9"


def test_session_after_the_link_is_not_the_one_before(client: Client, address: str) -> None:
    client.session["planted"] = "by somebody else"
    client.session.save()
    before = client.session.session_key
    client.get(address)
    assert client.session.session_key != before


def test_used_link_is_refused_in_another_browser(client: Client, address: str) -> None:
    client.get(address)
    other = Client()
    response = other.get(address)
    assert response.status_code == HTTPStatus.FORBIDDEN
    page = BeautifulSoup(response.content.decode(), "html.parser")
    alert = page.find(role="alert")
    assert alert is not None and alert.get_text(strip=True) == LinkProblem.USED
    assert "memweb signin" in page.get_text()
    assert not is_signed_in(other)


def test_unknown_link_is_refused(client: Client, owner: User) -> None:
    response = client.get("/accounts/link/unknown/")
    assert response.status_code == HTTPStatus.FORBIDDEN
    alert = BeautifulSoup(response.content.decode(), "html.parser").find(role="alert")
    assert alert is not None and alert.get_text(strip=True) == LinkProblem.UNKNOWN
    assert not is_signed_in(client)


def test_link_is_not_used_up_by_somebody_who_is_signed_in(client: Client, owner: User, address: str) -> None:
    client.force_login(owner)
    assert client.get(address, {"next": "/sessions/"})["Location"] == "/sessions/"
    assert link_is_unused()


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-purpose": "prefetch"},
        {"sec-purpose": "prefetch;prerender"},
        {"purpose": "prefetch"},
        {"x-purpose": "preview"},
        {"x-moz": "prefetch"},
        {"sec-fetch-dest": "image"},
        {"sec-fetch-dest": "iframe"},
        {"sec-fetch-dest": "empty"},
        {"user-agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"},
        {"user-agent": "facebookexternalhit/1.1"},
        {"user-agent": "WhatsApp/2.23"},
        {"user-agent": "Mozilla/5.0 (Windows NT 6.1) SkypeUriPreview Preview/0.5"},
    ],
)
def test_link_is_not_used_up_by_what_is_no_person(client: Client, address: str, headers: dict[str, str]) -> None:
    response = client.get(address, headers=headers)
    assert response.status_code == HTTPStatus.SERVICE_UNAVAILABLE
    assert not is_signed_in(client)
    assert link_is_unused()
    assert client.get(address).status_code == HTTPStatus.FOUND


def test_link_is_not_used_up_by_head(client: Client, address: str) -> None:
    response = client.head(address)
    assert (response.status_code, response.content) == (HTTPStatus.SERVICE_UNAVAILABLE, b"")
    assert link_is_unused()


def test_browser_navigation_signs_in(client: Client, address: str) -> None:
    headers = {
        "sec-fetch-dest": "document",
        "sec-fetch-mode": "navigate",
        "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36",
    }
    assert client.get(address, headers=headers).status_code == HTTPStatus.FOUND
    assert is_signed_in(client)


def test_link_takes_no_post(client: Client, address: str) -> None:
    assert client.post(address).status_code == HTTPStatus.METHOD_NOT_ALLOWED
    assert link_is_unused()


@pytest.mark.parametrize("hostile", HOSTILE_NEXT)
def test_hostile_next_stays_on_our_host(client: Client, owner: User, address: str, hostile: str) -> None:
    assert client.get("/accounts/login/", {"next": hostile}).status_code == HTTPStatus.OK
    response = client.get(address, {"next": hostile})
    assert (response.status_code, response["Location"]) == (HTTPStatus.FOUND, "/")
    assert set(response.cookies) <= {settings.SESSION_COOKIE_NAME, settings.CSRF_COOKIE_NAME}
    signed_in = client.get("/accounts/login/", {"next": hostile})
    assert (signed_in.status_code, signed_in["Location"]) == (HTTPStatus.FOUND, "/")


def test_sign_in_page_needs_no_sign_in_and_tells_the_command(client: Client) -> None:
    response = client.get("/accounts/login/", {"next": "/sessions/"})
    assert response.status_code == HTTPStatus.OK
    page = BeautifulSoup(response.content.decode(), "html.parser")
    assert "memweb signin" in [code.get_text() for code in page.find_all("code")]
    assert page.find(role="alert") is None


def test_admin_has_the_same_sign_in_page(client: Client, owner: User) -> None:
    assert client.get("/admin/")["Location"] == "/admin/login/?next=/admin/"
    assert "memweb signin" in client.get("/admin/login/?next=/admin/").content.decode()
    client.force_login(owner)
    assert client.get("/admin/login/?next=/admin/")["Location"] == "/admin/"


def test_sign_out_ends_the_session(client: Client, owner: User) -> None:
    client.force_login(owner)
    response = client.post("/accounts/logout/")
    assert (response.status_code, response["Location"]) == (HTTPStatus.FOUND, "/accounts/login/")
    assert not is_signed_in(client)


def test_sign_out_is_no_link_and_needs_a_token(owner: User) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(owner)
    assert client.get("/accounts/logout/").status_code == HTTPStatus.METHOD_NOT_ALLOWED
    assert client.post("/accounts/logout/").status_code == HTTPStatus.FORBIDDEN
    assert is_signed_in(client)
