"""On a phone: what opens leaves other things where they are, dialogs keep off the edges, the way is in view."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.factories import make_observation

PHONE = 375
GUTTER = 12


def box(found: Locator) -> tuple[float, float, float, float]:
    """Return left, top, right and bottom of an element."""
    bounds = found.bounding_box()
    assert bounds is not None
    return bounds["x"], bounds["y"], bounds["x"] + bounds["width"], bounds["y"] + bounds["height"]


def save(page: Page) -> None:
    page.locator("#save-search summary").click()
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.locator(".site-messages")).to_contain_text("Saved as")


@pytest.mark.parametrize("width", [PHONE, 1280])
def test_buttons_of_saved_searches_stay_when_one_opens(open_page: OpenPage, width: int) -> None:
    make_observation("Login loops")
    page = open_page("/?q=login", width=width)
    save(page)
    page.goto("/saved/")
    buttons = page.locator(".saved-actions summary")
    places = [box(buttons.nth(number)) for number in range(3)]
    for number in range(3):
        buttons.nth(number).click()
        panel = page.locator(".saved-actions details[open] > :not(summary)")
        expect(panel).to_have_count(1)
        expect(panel).to_be_visible()
        assert [box(buttons.nth(number)) for number in range(3)] == places
        left, top, right, _ = box(panel)
        assert top > max(bottom for _, _, _, bottom in places)
        row = box(page.locator(".saved-row"))
        assert (left, right) == (row[0], row[2])
    buttons.nth(2).click()
    expect(page.locator(".saved-actions details[open]")).to_have_count(0)
    assert [box(buttons.nth(number)) for number in range(3)] == places


@pytest.mark.parametrize("query", ["login", "login type:bugfix"])
def test_dialog_to_save_keeps_off_the_edges(open_page: OpenPage, query: str) -> None:
    make_observation("Login loops", type="bugfix")
    page = open_page(f"/?q={query}", width=PHONE)
    page.locator("#save-search summary").click()
    left, top, right, _ = box(page.locator("#save-search form"))
    assert left >= GUTTER
    assert right <= PHONE - GUTTER
    assert top >= box(page.locator("#save-search summary"))[3]


@pytest.mark.parametrize("address", ["/", "/timeline/", "/sessions/", "/projects/", "/files/", "/concepts/", "/saved/"])
def test_entry_of_this_page_is_in_view(open_page: OpenPage, address: str) -> None:
    page = open_page(address, width=PHONE)
    page.wait_for_load_state("networkidle")
    left, _, right, _ = box(page.locator(".site-nav [aria-current]"))
    assert left >= 0
    assert right <= PHONE
    assert page.evaluate("[scrollX, scrollY]") == [0, 0]
