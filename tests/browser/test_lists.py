"""The lists to look around in, by keys alone and without a script."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from memweb.memories.models import Session
from tests.browser.conftest import OpenPage
from tests.browser.test_tour import reach
from tests.factories import make_observation, make_prompt, make_session, moment


@pytest.fixture
def remembered(transactional_db: None) -> Session:
    """Two projects with a session each; the older session has memories about files and concepts."""
    newer = make_session("newer", title="Rewrite the docs", project="docs", started_at=moment(500))
    make_prompt("write", session=newer, project="docs", created_at=moment(500))
    session = make_session("older", title="Repair the login", project="web-api", started_at=moment(0))
    shared: dict[str, Any] = {"session": session, "project": "web-api"}
    make_prompt("Why does it loop?", created_at=moment(0), **shared)
    make_observation(
        "The cookie is gone",
        concepts=["gotcha", "how-it-works"],
        files=["src/auth/login.py", "src/auth/codes.py", "README.md"],
        created_at=moment(1),
        **shared,
    )
    make_observation("It works", concepts=["gotcha"], files=["src/auth/login.py"], created_at=moment(2), **shared)
    return session


def focused_row(page: Page) -> str:
    """Return the title that has the focus, in the row that is marked."""
    return str(page.evaluate("document.querySelector('[data-key-row][aria-current] .hit-title a:focus')?.innerText"))


def go(page: Page, view: str) -> None:
    """Go to a page by the main navigation."""
    reach(page, f".site-nav a[href='/{view}/']")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{view}/")


def test_lists_are_walked_by_keys_alone(open_page: OpenPage, remembered: Session) -> None:
    page = open_page("/")
    go(page, "sessions")
    page.keyboard.press("j")
    assert focused_row(page) == "Rewrite the docs"
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("j")
    assert focused_row(page) == "Repair the login"
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/sessions/{remembered.pk}/")
    page.keyboard.press("j")
    assert focused_row(page).startswith("p")
    page.keyboard.press("j")
    page.keyboard.press("o")
    page.wait_for_url("**/m/o*/")
    page.go_back()
    go(page, "projects")
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert focused_row(page) == "web-api"
    reach(page, ".project-row[aria-current] a[href*='/sessions/']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sessions/?project=web-api")
    expect(page.locator(".browse-row")).to_have_count(1)
    go(page, "files")
    page.keyboard.press("j")
    assert focused_row(page) == "src/"
    page.keyboard.press("Enter")
    page.wait_for_url("**/files/?path=src%2F")
    page.keyboard.press("/")
    page.keyboard.type("CODES")
    page.keyboard.press("Enter")
    page.wait_for_url("**/files/?path=src%2F&find=CODES")
    page.keyboard.press("j")
    assert focused_row(page) == "auth/codes.py"
    go(page, "concepts")
    page.keyboard.press("j")
    assert focused_row(page) == "gotcha"
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=concept%3Agotcha")
    expect(page.locator(".hit")).to_have_count(2)


def test_pages_of_a_list_are_turned_by_keys(open_page: OpenPage) -> None:
    make_observation("one", concepts=[f"c{number:03}" for number in range(130)])
    page = open_page("/concepts/")
    page.keyboard.press("n")
    page.wait_for_url("**/concepts/?after=*")
    expect(page.locator(".label-row")).to_have_count(30)
    page.keyboard.press("p")
    page.wait_for_url("**/concepts/")
    expect(page.locator(".label-row")).to_have_count(100)


def test_lists_are_used_without_javascript(open_page: OpenPage, remembered: Session) -> None:
    page = open_page("/sessions/", javascript=False)
    page.get_by_label("Words of the title or the first prompt").fill("login")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".browse-row")).to_have_count(1)
    page.get_by_role("link", name="Repair the login").click()
    expect(page.locator(".entry")).to_have_count(3)
    page.get_by_role("navigation", name="Prompts").get_by_role("link").click()
    expect(page.locator(".entry[aria-current]")).to_contain_text("Why does it loop?")
    page.get_by_role("link", name="Projects").click()
    page.get_by_label("Part of a name").fill("WEB")
    page.get_by_role("button", name="Find").click()
    expect(page.locator(".project-row")).to_have_count(1)
    page.get_by_role("link", name="Files", exact=True).click()
    page.get_by_role("link", name="src/", exact=True).click()
    page.get_by_role("link", name="auth/", exact=True).click()
    expect(page.locator(".label-row")).to_have_count(2)
    page.get_by_label("Part of a path below this folder").fill("login")
    page.get_by_role("button", name="Find").click()
    expect(page.locator(".label-row .hit-title")).to_have_text(["login.py"])
    page.get_by_role("link", name="Concepts").click()
    page.get_by_label("Part of a name").fill("how")
    page.get_by_role("button", name="Find").click()
    page.get_by_role("link", name="how-it-works").click()
    expect(page.locator(".hit")).to_have_count(1)


def test_long_lists_are_paged_without_javascript(open_page: OpenPage) -> None:
    for number in range(35):
        make_observation("one", project=f"p{number:02}", created_at=moment(number))
    for number in range(55):
        make_session(f"s{number}", title=f"s{number}", started_at=moment(number))
    page = open_page("/projects/", javascript=False)
    page.get_by_role("link", name="Next").click()
    expect(page.locator(".project-row")).to_have_count(5)
    page.get_by_role("link", name="First").click()
    expect(page.locator(".project-row")).to_have_count(30)
    page.get_by_role("link", name="Sessions", exact=True).click()
    page.get_by_role("link", name="Older").click()
    expect(page.locator(".browse-row")).to_have_count(5)
    page.get_by_role("link", name="Newest").click()
    expect(page.locator(".browse-row")).to_have_count(50)
