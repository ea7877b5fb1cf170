"""Searching by hand: type, filter, page, open, come back; by mouse, by keyboard alone, without scripts."""

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenPage
from tests.factories import make_observation, make_prompt, make_summary, moment


@pytest.fixture
def memories(transactional_db: None) -> None:
    """45 notes of a deployment in two projects, and three memories of other things."""
    for number in range(45):
        project = "web-api" if number % 3 else "console"
        make_observation(
            f"Deployment note {number}",
            f"Step {number} of the deployment was checked by hand and took a while.",
            type="discovery",
            project=project,
            created_at=moment(number),
            files=[f"deploy/step_{number}.sh"],
        )
    make_observation(
        "Login loops forever",
        "The login page redirected to itself because the cookie was gone.",
        type="bugfix",
        project="web-api",
        created_at=moment(100),
        concepts=["gotcha"],
    )
    make_prompt("Why does the login page loop?", project="web-api", created_at=moment(90))
    make_summary("Repair the login page", project="console", created_at=moment(110))


def titles(page: Page) -> list[str]:
    return page.locator(".hit-title").all_inner_texts()


def query_of(page: Page) -> str:
    return parse_qs(urlsplit(page.url).query).get("q", [""])[0]


def type_query(page: Page, text: str) -> None:
    """Type like a person and wait for the answer."""
    page.locator("#q").press_sequentially(text, delay=20)
    expect(page).to_have_url(re.compile(rf"[?&]q={re.escape(text).replace(' ', '[+]')}(&|$)"))


@pytest.mark.usefixtures("memories")
def test_typing_finds_memories_and_keeps_the_address(open_page: OpenPage) -> None:
    page = open_page("/")
    assert titles(page)[0] == "Repair the login page"
    type_query(page, "login")
    expect(page.locator("#results-total")).to_contain_text("3 memories")
    assert sorted(titles(page)) == ["Login loops forever", "Repair the login page", "Why does the login page loop?"]
    assert set(page.locator(".hit mark").all_inner_texts()) == {"login", "Login"}
    expect(page.locator("#q")).to_be_focused()
    expect(page.locator("#q")).to_have_value("login")
    expect(page.locator("#announcer")).to_have_text("3 memories, 1–3 shown")
    expect(page).to_have_title("login · memweb")
    page.reload()
    expect(page.locator("#q")).to_have_value("login")
    assert len(titles(page)) == 3


@pytest.mark.usefixtures("memories")
def test_typing_adds_nothing_to_the_history(open_page: OpenPage) -> None:
    page = open_page("/")
    before = page.evaluate("history.length")
    type_query(page, "login")
    assert page.evaluate("history.length") == before


@pytest.mark.usefixtures("memories")
def test_enter_searches_without_leaving_the_page(open_page: OpenPage) -> None:
    page = open_page("/")
    page.evaluate("window.sameDocument = true")
    page.locator("#q").fill("deployment")
    page.keyboard.press("Enter")
    expect(page.locator("#results-total")).to_contain_text("45 memories")
    assert page.evaluate("window.sameDocument") is True


@pytest.mark.usefixtures("memories")
def test_a_late_answer_never_replaces_a_newer_one(open_page: OpenPage) -> None:
    page = open_page("/")
    held: list[Route] = []

    def hold_first(route: Route) -> None:
        if "q=deployment" in route.request.url and not held:
            held.append(route)
        else:
            route.continue_()

    page.route("**/?q=*", hold_first)
    page.locator("#q").fill("deployment")
    page.wait_for_timeout(400)
    assert len(held) == 1
    page.locator("#q").fill("login")
    expect(page.locator("#results-total")).to_contain_text("3 memories")
    held[0].continue_()
    page.wait_for_timeout(400)
    assert len(titles(page)) == 3
    assert query_of(page) == "login"


@pytest.mark.usefixtures("memories")
def test_filters_edit_the_query_and_go_back(open_page: OpenPage) -> None:
    page = open_page("/?q=login")
    page.locator(".facet-value", has_text="web-api").click()
    expect(page.locator("#results-total")).to_contain_text("2 memories")
    assert query_of(page) == "project:web-api login"
    expect(page.locator("#q")).to_have_value("project:web-api login")
    expect(page.locator(".facet-value", has_text="web-api")).to_be_focused()
    expect(page.locator(".facet-value", has_text="web-api")).to_have_attribute("aria-current", "true")

    page.locator(".pill", has_text="project: web-api").click()
    expect(page.locator("#results-total")).to_contain_text("3 memories")
    expect(page.locator("#q")).to_have_value("login")

    page.go_back()
    expect(page.locator("#results-total")).to_contain_text("2 memories")
    expect(page.locator("#q")).to_have_value("project:web-api login")
    page.go_back()
    expect(page.locator("#results-total")).to_contain_text("3 memories")
    assert query_of(page) == "login"
    page.go_forward()
    expect(page.locator("#results-total")).to_contain_text("2 memories")


@pytest.mark.usefixtures("memories")
def test_typing_keeps_the_chosen_order(open_page: OpenPage) -> None:
    page = open_page("/?q=deployment")
    page.get_by_role("link", name="Oldest", exact=True).click()
    expect(page.locator(".hit-title").first).to_have_text("Deployment note 0")
    page.locator("#q").fill("deployment note")
    expect(page).to_have_url(re.compile("order=oldest"))
    expect(page.locator(".hit-title").first).to_have_text("Deployment note 0")
    expect(page.get_by_role("link", name="Oldest", exact=True)).to_have_attribute("aria-current", "true")


@pytest.mark.usefixtures("memories")
def test_pages_neither_repeat_nor_skip(open_page: OpenPage) -> None:
    page = open_page("/?q=deployment&order=newest")
    seen = titles(page)
    while page.locator("[data-key=next]").count():
        before = page.url
        page.locator("[data-key=next]").click()
        page.wait_for_url(lambda url, before=before: url != before)
        expect(page.locator("#results")).not_to_have_class("htmx-request")
        seen += titles(page)
        assert page.evaluate("scrollY") == 0
    assert seen == [f"Deployment note {number}" for number in reversed(range(45))]
    page.locator("[data-key=first]").click()
    expect(page.locator(".hit-title").first).to_have_text("Deployment note 44")


@pytest.mark.usefixtures("memories")
def test_back_from_a_memory_restores_place_and_focus(open_page: OpenPage) -> None:
    page = open_page("/?q=deployment&order=newest")
    link = page.locator(".hit-title a").nth(15)
    title = link.inner_text()
    link.scroll_into_view_if_needed()
    scrolled = page.evaluate("scrollY")
    assert scrolled > 0
    link.click()
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    page.go_back()
    expect(page.locator(".hit-title a").nth(15)).to_be_focused()
    page.wait_for_function("Math.abs(scrollY - arguments) < 5".replace("arguments", str(scrolled)))
    assert page.locator(".hit[aria-current] .hit-title").inner_text() == title

    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    page.locator("[data-key=back]").click()
    expect(page.locator(".hit-title a").nth(15)).to_be_focused()
    assert query_of(page) == "deployment"


@pytest.mark.usefixtures("memories")
def test_the_whole_way_by_keyboard_alone(open_page: OpenPage) -> None:
    page = open_page("/")
    keyboard = page.keyboard
    current = page.locator(".hit[aria-current] .hit-title")

    keyboard.press("/")
    expect(page.locator("#q")).to_be_focused()
    keyboard.type("deployment", delay=20)
    # The beginning of the word finds as many: wait for the answer to all of it.
    expect(page.locator('.results[data-query="deployment"]')).to_have_count(1)
    expect(page.locator("#results-total")).to_contain_text("45 memories")
    keyboard.press("Escape")
    expect(page.locator("#q")).not_to_be_focused()

    all_titles = titles(page)
    for key, number in (("j", 0), ("j", 1), ("j", 2), ("k", 1), ("k", 0), ("k", 0)):
        keyboard.press(key)
        expect(current).to_have_text(all_titles[number])
        expect(page.locator(".hit-title a").nth(number)).to_be_focused()

    keyboard.press("n")
    expect(page.locator("#results-total")).to_be_focused()
    assert not set(titles(page)) & set(all_titles)
    keyboard.press("p")
    expect(page.locator(".hit-title").first).to_have_text(all_titles[0])

    keyboard.press("j")
    keyboard.press("o")
    expect(page.get_by_role("heading", level=1)).to_have_text(all_titles[0])
    page.wait_for_load_state()  # keys work once the scripts of the page have run
    keyboard.press("u")
    expect(page.locator(".hit-title a").first).to_be_focused()
    keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(all_titles[0])


@pytest.mark.usefixtures("memories")
def test_keys_do_nothing_while_typing_or_with_modifiers(open_page: OpenPage) -> None:
    page = open_page("/?q=login")
    for key in ("Control+j", "Alt+j", "Meta+j"):
        page.keyboard.press(key)
        assert page.locator(".hit[aria-current]").count() == 0
    page.locator("#q").fill("")
    page.locator("#q").press_sequentially("jk?/no", delay=20)
    expect(page.locator("#q")).to_have_value("jk?/no")
    expect(page.locator("dialog.keys")).to_be_hidden()
    assert page.locator(".hit[aria-current]").count() == 0


@pytest.mark.usefixtures("memories")
def test_help_names_the_keys_and_can_switch_them_off(open_page: OpenPage) -> None:
    page = open_page("/?q=login")
    page.keyboard.press("?")
    dialog = page.get_by_role("dialog", name="Keyboard shortcuts")
    expect(dialog).to_be_visible()
    keys = dialog.locator("dt").evaluate_all("rows => rows.map(row => [...row.children].map(key => key.textContent))")
    assert keys == [["/"], ["Esc"], ["j"], ["k"], ["o", "Enter"], ["t"], ["x"], ["e"], ["s"], ["n"], ["p"], ["?"]]
    dialog.get_by_label("Use shortcuts of a single key").uncheck()
    page.keyboard.press("Escape")
    expect(dialog).to_be_hidden()
    page.keyboard.press("j")
    assert page.locator(".hit[aria-current]").count() == 0
    page.reload()
    page.keyboard.press("?")
    expect(dialog).to_be_hidden()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    dialog.get_by_label("Use shortcuts of a single key").check()
    dialog.get_by_role("button", name="Close").click()
    page.keyboard.press("j")
    expect(page.locator(".hit[aria-current]")).to_have_count(1)


@pytest.mark.usefixtures("memories")
def test_everything_works_without_scripts(open_page: OpenPage) -> None:
    page = open_page("/", javascript=False)
    page.locator("#q").fill("login")
    page.get_by_role("button", name="Search").click()
    assert query_of(page) == "login"
    assert len(titles(page)) == 3
    page.locator(".facet-value", has_text="web-api").click()
    assert query_of(page) == "project:web-api login"
    assert len(titles(page)) == 2
    page.locator(".pill", has_text="project: web-api").click()
    assert query_of(page) == "login"
    page.locator("#q").fill("deployment")
    page.locator("#q").press("Enter")
    page.get_by_role("link", name="Oldest", exact=True).click()
    page.get_by_role("link", name="Next page").click()
    assert titles(page)[0] == "Deployment note 20"
    page.locator(".hit-title a").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Deployment note 20")
    for name in ("Keyboard shortcuts", "Copy as Markdown"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)


@pytest.mark.usefixtures("memories")
def test_a_link_opened_in_a_new_tab_leaves_the_page_alone(open_page: OpenPage) -> None:
    page = open_page("/?q=login")
    with page.context.expect_page() as opened:
        page.locator(".facet-value", has_text="web-api").click(modifiers=["Control"])
    opened.value.wait_for_load_state()
    assert query_of(opened.value) == "project:web-api login"
    assert query_of(page) == "login"
    expect(opened.value.locator("#results-total")).to_contain_text("2 memories")


@pytest.mark.usefixtures("memories")
def test_filters_fold_away_on_a_narrow_screen_and_stay_open_in_use(open_page: OpenPage) -> None:
    page = open_page("/?q=login", width=375)
    value = page.locator(".facet-value", has_text="web-api")
    expect(value).to_be_hidden()
    page.locator("#facets > summary").click()
    value.click()
    expect(page.locator("#results-total")).to_contain_text("2 memories")
    expect(value).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth") is True


@pytest.mark.usefixtures("memories")
def test_failing_server_is_said_and_old_results_stay(open_page: OpenPage, mishaps: list[str]) -> None:
    page = open_page("/?q=login")
    page.route("**/?q=*", lambda route: route.fulfill(status=500, body="no"))
    page.locator("#q").fill("deployment")
    expect(page.get_by_role("alert")).to_contain_text("The search failed (500)")
    assert len(titles(page)) == 3
    page.unroute("**/?q=*")
    page.route("**/?q=*", lambda route: route.fulfill(status=503, body="The database is in use. Try again."))
    page.locator("#q").fill("deployed")
    expect(page.get_by_role("alert")).to_contain_text("The database is in use. Try again. Below are the results of")
    page.unroute("**/?q=*")
    page.route("**/?q=*", lambda route: route.abort())
    page.locator("#q").fill("deploy")
    expect(page.get_by_role("alert")).to_contain_text("memweb does not answer")
    page.unroute("**/?q=*")
    page.locator("#q").fill("deployment note")
    expect(page.locator("#results-total")).to_contain_text("45 memories")
    expect(page.locator("#search-problem")).to_be_hidden()
    assert mishaps
    mishaps.clear()  # the browser says on its console what the test did on purpose


@pytest.mark.usefixtures("memories")
def test_ended_session_leads_to_the_sign_in_page(open_page: OpenPage) -> None:
    page = open_page("/?q=login")
    page.context.clear_cookies()
    page.locator("#q").fill("deployment")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_misspelt_word_offers_what_is_meant_with_its_hits(open_page: OpenPage, memories: None) -> None:
    page = open_page("/?q=deploymnet")
    offer = page.locator(".did-you-mean")
    expect(offer).to_have_text(re.compile(r"Did you mean\s+deployment\?\s+45 memories"))
    offer.get_by_role("link").click()
    expect(page.locator("#results-total")).to_contain_text("45 memories")
    expect(page.locator("#q")).to_have_value("deployment")


def test_an_empty_index_says_how_to_fill_it(open_page: OpenPage) -> None:
    page = open_page("/")
    expect(page.get_by_role("heading", level=2)).to_have_text("There are no memories yet")
    assert "memweb import" in page.locator(".empty").inner_text()
