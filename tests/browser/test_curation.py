"""Curation in a browser: by keys alone, and without a script."""

import pytest
from playwright.sync_api import Page, expect

from memweb.memories.models import Observation
from tests.browser.conftest import OpenPage
from tests.factories import make_observation

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


NAME = "(document.activeElement.getAttribute('aria-label') || document.activeElement.textContent).trim()"


def press(page: Page, name: str) -> None:
    """Reach what has this name with the tabulator, and press it."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate(NAME) == name:
            page.keyboard.press("Enter")
            return
    raise AssertionError(f"{name} cannot be reached with the tabulator")


@pytest.mark.parametrize("width", [1280, 375])
def test_a_memory_is_edited_marked_and_put_back_by_keys_alone(open_page: OpenPage, width: int) -> None:
    memory = make_observation("the old title", "needle")
    page = open_page(f"/m/{memory.ref}/", width=width)
    press(page, "Edit")
    page.get_by_label("Title", exact=True).focus()
    page.keyboard.press("Control+A")
    page.keyboard.type("the new title")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("the new title")
    press(page, "Curate…")
    for _ in range(3):
        page.keyboard.press("Tab")
    page.keyboard.type("it was the cache")
    press(page, "Mark as wrong")
    expect(page.locator(".notice.is-warning")).to_contain_text("it was the cache")
    press(page, "Changes")
    expect(page.locator(".changes-list li")).to_have_count(2)
    press(page, f"Undo: Mark as wrong: {memory.ref} (it was the cache)")
    expect(page.locator(".site-messages")).to_contain_text("Undone for 1 memory")
    row = Observation.objects.get()
    assert (row.title, row.wrong_reason) == ("the new title", None)


def test_a_selection_goes_through_the_trash_without_a_script(open_page: OpenPage, mishaps: list[str]) -> None:
    memories = [make_observation(f"needle {number}", f"text {number}") for number in range(3)]
    page = open_page("/?q=needle", javascript=False)
    for memory in memories[:2]:
        page.locator(f"input[data-action=select][value={memory.ref}]").check()
    page.locator("select[name=verb]").select_option("trash")
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("h1")).to_have_text("Move to trash: 2 memories")
    page.get_by_role("button", name="Move to trash").click()
    expect(page.locator(".site-messages")).to_have_text("2 memories moved to the trash.")
    page.goto(f"/m/{memories[0].ref}/")
    page.get_by_role("button", name="Restore").click()
    expect(page.locator("h1")).to_have_text("needle 0")
    mishaps[:] = [one for one in mishaps if "410" not in one]  # the browser's own line about what is in the trash
