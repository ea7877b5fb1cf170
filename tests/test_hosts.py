"""Which hosts are answered, and which headers every answer carries."""

import json
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client

pytestmark = pytest.mark.django_db

FOREIGN = [
    "evil.example",
    "evil.example:8000",
    "127.0.0.1.evil.example",
    "localhost.evil.example",
    "evil.example@127.0.0.1",
    "127.0.0.1 evil.example",
    "127.0.0.1:8000/evil.example",
    "0.0.0.0",  # noqa: S104 - a Host header, nothing is bound to it
    "127.0.0.2",
    "[::2]",
    "",
    "*",
    ".",
    "localhost\x00",
]
PATHS = [
    "/",
    "/m/o1/",
    "/no/such/page/",
    "/static/probe.txt",
    "/static/no-such-file.txt",
    "/admin/",
    "/admin/login/",
    "/accounts/login/",
    "/accounts/link/x/",
    "/api/search?q=a",
    "/mcp",
    "/s/x/",
    "/healthz",
]
OWN = ["localhost", "localhost:8000", "127.0.0.1", "127.0.0.1:8000", "[::1]:8000", "LOCALHOST", "localhost."]
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@pytest.fixture
def static_file() -> Iterator[Path]:
    file = Path(settings.STATIC_ROOT) / "probe.txt"
    file.write_text("static", encoding="ascii")
    yield file
    file.unlink()


@pytest.fixture
def signed_in(static_file: Path) -> Client:
    """A browser that may see everything, so that only the host can be why it does not."""
    client = Client()
    client.force_login(User.objects.create_superuser("owner"))
    return client


@pytest.mark.parametrize("host", FOREIGN)
def test_foreign_host_is_refused_on_every_path(signed_in: Client, host: str) -> None:
    answers = {path: signed_in.get(path, headers={"host": host}).status_code for path in PATHS}
    assert answers == dict.fromkeys(PATHS, HTTPStatus.BAD_REQUEST)


@pytest.mark.parametrize("method", ["HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
def test_foreign_host_is_refused_for_every_method(signed_in: Client, method: str) -> None:
    answer = signed_in.generic(method, "/", headers={"host": "evil.example"})
    assert answer.status_code == HTTPStatus.BAD_REQUEST


def test_forwarded_host_is_not_believed(signed_in: Client) -> None:
    headers = {"host": "evil.example", "x-forwarded-host": "localhost"}
    assert signed_in.get("/healthz", headers=headers).status_code == HTTPStatus.BAD_REQUEST


def test_refusal_names_the_setting_and_no_data(signed_in: Client) -> None:
    answer = signed_in.get("/", headers={"host": "<b>evil</b>.example"})
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert "MEMWEB_ALLOWED_HOSTS" in answer.content.decode()
    assert "evil" not in answer.content.decode()


@pytest.mark.parametrize("host", OWN)
def test_own_host_is_answered(signed_in: Client, host: str) -> None:
    assert signed_in.get("/healthz", headers={"host": host}).status_code == HTTPStatus.OK
    answer = signed_in.get("/static/probe.txt", headers={"host": host})
    assert (answer.status_code, b"".join(answer)) == (HTTPStatus.OK, b"static")
    answer.close()


def test_requests_of_the_case_collection_are_refused(signed_in: Client, shared: Path) -> None:
    cases = json.loads((shared / "cases" / "files" / "E_http_requests.json").read_text(encoding="utf-8"))
    hosts = [(case["path"], case["headers"]["Host"]) for case in cases if case["case"] == "E10"]
    assert hosts
    answers = [signed_in.get(path, headers={"host": host}).status_code for path, host in hosts]
    assert answers == [HTTPStatus.BAD_REQUEST] * len(hosts)


@pytest.mark.parametrize("path", ["/accounts/login/", "/healthz", "/no/such/page/", "/admin/", "/static/probe.txt"])
@pytest.mark.parametrize("host", ["localhost", "evil.example"])
def test_every_answer_carries_the_security_headers(static_file: Path, path: str, host: str) -> None:
    answer = Client().get(path, headers={"host": host})
    assert {name: answer.headers.get(name) for name in HEADERS} == HEADERS
    policy = answer.headers["Content-Security-Policy"]
    directives = dict(part.strip().partition(" ")[::2] for part in policy.split(";"))
    assert directives["default-src"] == directives["frame-ancestors"] == directives["base-uri"] == "'none'"
    for directive in ("script-src", "style-src"):
        assert directives[directive].startswith("'self'")
        assert "unsafe" not in directives[directive]
    answer.close()
