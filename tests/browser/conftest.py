"""A real browser on a real server. Whatever goes wrong inside a page fails the test that opened it."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright
from pytest_django.live_server_helper import LiveServer

from memweb.accounts.owner import ensure_owner

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Chromium reports a violated policy on the console as well, but not for every directive.
REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`))
"""

OpenPage = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium of this machine; without one the tests are skipped and say how to get it."""
    if CHROMIUM is None:
        pytest.skip("Chromium was not found; on Debian and Ubuntu: apt install chromium")
    # Playwright keeps an event loop running in this thread, in which Django would refuse to query.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture
def owner(transactional_db: None) -> User:
    return ensure_owner()


@pytest.fixture
def mishaps() -> list[str]:
    """Errors of pages: scripts, console, policy, foreign requests. A test that provokes some takes them out."""
    return []


@pytest.fixture
def open_page(browser: Browser, live_server: LiveServer, owner: User, mishaps: list[str]) -> Iterator[OpenPage]:
    """Return a function that opens an address in a fresh browser profile, signed in unless told otherwise."""
    contexts = []

    def open_page(
        address: str,
        *,
        signed_in: bool = True,
        theme: Any = "light",
        width: int = 1280,
        time_zone: str = "Europe/Berlin",
        javascript: bool = True,
    ) -> Page:
        context = browser.new_context(
            base_url=live_server.url,
            viewport={"width": width, "height": 800},
            color_scheme=theme,
            timezone_id=time_zone,
            locale="en-GB",
            java_script_enabled=javascript,
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        context.set_default_timeout(10_000)
        if signed_in:
            client = Client()
            client.force_login(owner)
            name = settings.SESSION_COOKIE_NAME
            context.add_cookies([{"name": name, "value": client.cookies[name].value, "url": live_server.url}])
        context.add_init_script(REPORT_VIOLATIONS)
        page = context.new_page()
        page.on("console", lambda message: note_console(message, mishaps))
        page.on("pageerror", lambda error: mishaps.append(f"script error: {error}"))
        page.on("request", lambda request: note_foreign(request, live_server.url, mishaps))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert mishaps == []


def note_console(message: ConsoleMessage, mishaps: list[str]) -> None:
    # htmx calls it an error when a newer request takes the place of one on its way, which is what it is asked to do.
    is_replaced = message.text.startswith(("htmx:sendAbort,", "htmx:afterRequest,"))
    if message.type in {"error", "warning"} and not is_replaced:
        mishaps.append(f"console: {message.text}")


def note_foreign(request: Request, home: str, mishaps: list[str]) -> None:
    if not request.url.startswith((home, "data:", "blob:")):
        mishaps.append(f"foreign request: {request.url}")
