"""Saved searches in a browser: saved by keys alone, offered by the empty box, usable without a script."""

import pytest
from playwright.sync_api import expect

from search.saved.models import SavedSearch
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility import assert_accessible
from tests.factories import make_observation


def test_search_is_saved_and_offered_again_by_the_empty_box(open_page: OpenPage) -> None:
    make_observation("Login loops", type="bugfix")
    page = open_page("/?q=login")
    page.locator("#save-search summary").focus()
    page.keyboard.press("Enter")
    page.get_by_label("Save this search as").fill("Loops")
    page.keyboard.press("Enter")
    expect(page.locator(".site-messages")).to_have_text("Saved as “Loops”.")
    expect(page.locator(".save-state")).to_contain_text("Loops")
    page.goto("/")
    page.keyboard.press("/")
    expect(page.get_by_role("option", name="Loops")).to_be_visible()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#q")).to_have_attribute("aria-expanded", "true")
    page.get_by_role("option", name="Loops").click()
    page.wait_for_url("**/?q=login")


def test_recent_searches_are_offered_and_forgotten(open_page: OpenPage) -> None:
    make_observation("Login loops")
    page = open_page("/")
    page.locator("#q").press_sequentially("loops", delay=30)
    expect(page.locator(".hit")).to_have_count(1)
    with page.expect_response("**/?q=loops*"):
        page.keyboard.press("Enter")
    page.goto("/")
    page.keyboard.press("/")
    expect(page.get_by_role("option", name="loops", exact=True)).to_be_visible()
    page.get_by_role("option", name="Clear recent searches").click()
    expect(page.get_by_role("option", name="loops", exact=True)).to_have_count(0)


def test_without_javascript_searches_are_saved_renamed_and_deleted(open_page: OpenPage) -> None:
    make_observation("Login loops")
    page = open_page("/?q=login", javascript=False)
    page.locator("#save-search summary").click()
    page.get_by_role("button", name="Save", exact=True).click()
    page.goto("/saved/")
    page.get_by_text("Rename login").click()
    page.get_by_label("New name").fill("Loops")
    page.locator(".saved-row").get_by_role("button", name="Rename").click()
    expect(page.locator(".saved-name")).to_have_text("Loops")
    page.get_by_text("Delete Loops").click()
    page.get_by_role("button", name="Delete this search").click()
    expect(page.get_by_role("heading", name="Nothing is saved yet")).to_be_visible()
    assert SavedSearch.objects.count() == 0


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pages_are_accessible(open_page: OpenPage, theme: str, width: int) -> None:
    make_observation("Login loops")
    page = open_page("/?q=login", theme=theme, width=width)
    page.locator("#save-search summary").click()
    assert_accessible(page)
    page.get_by_label("Save this search as").fill("x" * 100)
    page.keyboard.press("Enter")
    expect(page.locator(".site-messages")).to_be_visible()
    assert_accessible(page)
    page.goto("/saved/")
    page.evaluate("document.querySelectorAll('details').forEach(fold => (fold.open = true))")
    assert_accessible(page)
    page.goto("/syntax/")
    assert_accessible(page)
