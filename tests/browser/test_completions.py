"""Suggestions while typing: by keyboard alone, by mouse, beside the search that goes on, and never in the way."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility import assert_accessible
from tests.factories import make_observation, moment


@pytest.fixture
def memories(transactional_db: None) -> None:
    for number in range(6):
        make_observation(
            f"Login note {number}",
            type="bugfix" if number < 4 else "feature",
            project="web api" if number % 2 else "console",
            created_at=moment(number),
            files=[f"src/auth/step_{number}.py"],
        )


def labels(page: Page) -> list[str]:
    return page.locator(".completion-label").all_inner_texts()


def chosen(page: Page) -> str | None:
    """Return the label of the option that the box points at, as a screen reader finds it."""
    id = page.locator("#q").get_attribute("aria-activedescendant")
    return page.locator(f"#{id} .completion-label").inner_text() if id else None


def query_of(page: Page) -> str:
    return parse_qs(urlsplit(page.url).query).get("q", [""])[0]


def expect_closed(page: Page) -> None:
    expect(page.locator("#completions")).to_be_hidden()
    expect(page.locator("#q")).to_have_attribute("aria-expanded", "false")


@pytest.mark.usefixtures("memories")
def test_a_filter_is_written_by_keyboard_alone(open_page: OpenPage) -> None:
    page = open_page("/")
    keyboard = page.keyboard
    keyboard.press("/")
    keyboard.type("login ty", delay=20)
    box = page.get_by_role("combobox", name="Search what agents remember")
    expect(box).to_have_attribute("aria-expanded", "true")
    expect(page.locator("#completions-status")).to_have_text("1 suggestion, Fields")
    assert (labels(page), chosen(page)) == (["type:"], None)

    keyboard.press("ArrowDown")
    assert chosen(page) == "type:"
    expect(page.get_by_role("option", name="type:")).to_have_attribute("aria-selected", "true")
    keyboard.press("Enter")
    expect(box).to_have_value("login type:")
    expect(page.locator("#completions-status")).to_have_text("2 suggestions, Values of type")
    expect(page.get_by_role("listbox", name="Values of type")).to_be_visible()
    assert page.locator(".completion-count").all_text_contents() == ["4 memories", "2 memories"]

    keyboard.press("ArrowDown")
    keyboard.press("ArrowDown")
    assert chosen(page) == "feature"
    keyboard.press("ArrowUp")
    assert chosen(page) == "bugfix"
    keyboard.press("ArrowUp")
    assert chosen(page) is None
    keyboard.press("ArrowUp")
    assert chosen(page) == "feature"
    keyboard.press("Tab")
    expect(box).to_be_focused()
    expect(box).to_have_value("login type:feature ")
    expect(page.locator("#results-total")).to_contain_text("2 features with “login”")
    assert query_of(page).strip() == "login type:feature"
    expect_closed(page)


@pytest.mark.usefixtures("memories")
def test_enter_and_tab_are_the_pages_own_when_nothing_is_chosen(open_page: OpenPage) -> None:
    page = open_page("/")
    page.keyboard.press("/")
    page.keyboard.type("type:", delay=20)
    expect(page.get_by_role("option")).to_have_count(2)
    page.keyboard.press("Enter")
    expect_closed(page)
    expect(page.locator("#q")).to_have_value("type:")
    page.keyboard.type("b", delay=20)
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("Tab")
    expect(page.locator("#q")).not_to_be_focused()
    expect(page.locator("#q")).to_have_value("type:b")
    expect_closed(page)


@pytest.mark.usefixtures("memories")
def test_escape_closes_until_the_text_changes(open_page: OpenPage) -> None:
    page = open_page("/")
    page.keyboard.press("/")
    page.keyboard.type("type:", delay=20)
    expect(page.get_by_role("option")).to_have_count(2)
    page.keyboard.press("Escape")
    expect_closed(page)
    expect(page.locator("#q")).to_be_focused()
    expect(page.locator("#q")).to_have_value("type:")
    page.keyboard.press("ArrowDown")
    page.wait_for_timeout(300)
    expect_closed(page)
    page.keyboard.type("f")
    expect(page.get_by_role("option")).to_have_count(2)  # feature, and bugfix that holds it
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    expect(page.locator("#q")).not_to_be_focused()


@pytest.mark.usefixtures("memories")
def test_value_in_the_middle_is_replaced_and_quoted(open_page: OpenPage) -> None:
    page = open_page("/")
    box = page.locator("#q")
    box.fill("-project:we,console 💥 login")
    box.evaluate("box => box.setSelectionRange(11, 11)")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(box).to_have_value('-project:"web api",console 💥 login')
    assert box.evaluate("box => box.selectionStart") == len('-project:"web api"')
    page.keyboard.press("Control+z")
    expect(box).to_have_value("-project:we,console 💥 login")


@pytest.mark.usefixtures("memories")
def test_caret_behind_other_characters_is_found(open_page: OpenPage) -> None:
    page = open_page("/")
    page.locator("#q").focus()
    page.keyboard.type("💥💥 type:bug", delay=10)
    page.get_by_role("option", name="bugfix").click()
    expect(page.locator("#q")).to_have_value("💥💥 type:bugfix ")
    expect(page.locator("#q")).to_be_focused()


@pytest.mark.usefixtures("memories")
def test_all_fields_are_offered_when_asked_for(open_page: OpenPage) -> None:
    page = open_page("/")
    page.locator("#q").focus()
    page.keyboard.type("login ", delay=20)
    page.wait_for_timeout(300)
    expect_closed(page)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("option")).to_have_count(14)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#q")).to_have_value("login type:")


@pytest.mark.usefixtures("memories")
def test_results_go_on_while_suggestions_are_open(open_page: OpenPage) -> None:
    page = open_page("/")
    page.locator("#q").focus()
    page.keyboard.type("login p", delay=20)
    expect(page.locator('.results[data-query="login p"]')).to_have_count(1)
    assert labels(page) == ["project:", "platform:"]
    page.keyboard.press("Backspace")
    page.keyboard.press("Backspace")
    expect(page.locator('.results[data-query="login"]')).to_have_count(1)
    expect_closed(page)


@pytest.mark.usefixtures("memories")
def test_late_suggestions_do_not_open(open_page: OpenPage) -> None:
    page = open_page("/")
    held: list[Route] = []
    page.route("**/completions/?q=type*", lambda route: held.append(route))
    page.locator("#q").focus()
    page.keyboard.type("type:", delay=20)
    page.wait_for_timeout(300)
    page.keyboard.type("zebra ", delay=20)
    page.wait_for_timeout(300)
    assert held
    for route in held:
        route.continue_()
    page.wait_for_timeout(300)
    assert labels(page) == []
    expect_closed(page)


@pytest.mark.usefixtures("memories")
def test_suggestions_that_fail_leave_the_search_alone(open_page: OpenPage, mishaps: list[str]) -> None:
    page = open_page("/")
    page.route("**/completions/*", lambda route: route.fulfill(status=500, body="no"))
    page.locator("#q").focus()
    page.keyboard.type("login type:bugfix", delay=20)
    expect(page.locator("#results-total")).to_contain_text("bugfix")
    page.wait_for_load_state("networkidle")
    expect_closed(page)
    assert mishaps
    mishaps.clear()  # the browser says on its console what the test did on purpose


@pytest.mark.usefixtures("memories")
def test_ended_session_shows_no_sign_in_page_in_the_list(open_page: OpenPage) -> None:
    page = open_page("/")
    page.context.clear_cookies()
    page.locator("#q").focus()
    page.keyboard.type("type:", delay=20)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


@pytest.mark.usefixtures("memories")
@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_open_suggestions_are_accessible(open_page: OpenPage, theme: str, width: int) -> None:
    make_observation("x", files=[f"src/{'very_long_name_' * 12}.py", "src/نص.py"], project="p" * 150)
    page = open_page("/", theme=theme, width=width)
    for text in ("p", "file:src/", "project:", "is:"):
        page.locator("#q").fill("")
        page.locator("#q").press_sequentially(text, delay=20)
        expect(page.get_by_role("option").first).to_be_visible()
        page.keyboard.press("ArrowDown")
        assert_accessible(page)
        edges = page.locator("#completions").evaluate("one => [one.scrollWidth - one.clientWidth]")
        assert edges == [0]


@pytest.mark.usefixtures("memories")
def test_box_without_scripts_is_a_plain_search_box(open_page: OpenPage) -> None:
    page = open_page("/?q=type:b", javascript=False)
    expect(page.get_by_role("searchbox")).to_have_value("type:b")
    expect(page.locator("#completions")).to_be_hidden()
    assert re.search("q=", page.url)
