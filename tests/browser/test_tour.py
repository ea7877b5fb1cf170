"""The whole way of somebody who looks for something: search, facet, hit, why, timeline, earlier, session, and back."""

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from memweb.memories.models import Observation
from tests.browser.conftest import OpenPage
from tests.factories import make_observation, make_prompt, make_session, moment


@pytest.fixture
def needle(transactional_db: None) -> Observation:
    """One bugfix about a login among sixty memories of a session."""
    session = make_session("long", title="A long run", project="web-api", started_at=moment(0))
    shared: dict[str, Any] = {"session": session, "project": "web-api"}
    for number in range(60):
        make_prompt(f"prompt {number} about a {'login' if number else 'page'}", created_at=moment(number), **shared)
    make_observation("Login page renamed", type="change", created_at=moment(70), **shared)
    return make_observation(
        "Login loops forever", "The cookie is gone.", type="bugfix", created_at=moment(40.5), **shared
    )


def reach(page: Page, selector: str, most: int = 90) -> None:
    """Press Tab until the focus is on an element."""
    for _ in range(most):
        if page.evaluate("selector => document.activeElement?.matches(selector)", selector):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{selector} is not reached by Tab")


def test_whole_way_by_keys_alone(open_page: OpenPage, needle: Observation) -> None:
    page = open_page("/")
    page.keyboard.press("/")
    page.keyboard.type("login", delay=20)
    expect(page.locator("#results-total")).to_contain_text("61")
    page.keyboard.press("Escape")
    reach(page, ".facets a[href*='type%3Abugfix']")
    page.keyboard.press("Enter")
    expect(page.locator(".hit")).to_have_count(1)
    expect(page.locator("#q")).to_have_value("type:bugfix login")
    results = page.url
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.locator(".hit[aria-current] .why-bar")).to_be_visible()
    page.keyboard.press("t")
    page.wait_for_url("**/timeline/*")
    expect(page.locator(f"#{needle.ref}")).to_be_in_viewport()
    reach(page, "#more-before", most=200)
    page.keyboard.press("Enter")
    expect(page.locator("[data-key-row]")).to_have_count(31)
    expect(page.locator("#more-before")).to_be_focused()
    reach(page, ".timeline-run h3 a")
    page.keyboard.press("Enter")
    page.wait_for_url("**/sessions/**")
    expect(page.get_by_role("heading", level=1)).to_have_text("A long run")
    page.go_back()
    page.wait_for_url("**/timeline/**before=20**")
    page.go_back()
    page.wait_for_url(results)
    expect(page.locator("#q")).to_have_value("type:bugfix login")
    expect(page.locator(".hit")).to_have_count(1)


def test_way_back_restores_place_and_focus(open_page: OpenPage, needle: Observation) -> None:
    page = open_page("/?q=login&order=oldest&limit=50")
    for _ in range(30):
        page.keyboard.press("j")
    marked = page.locator(".hit[aria-current]")
    ref = marked.get_attribute("data-ref")
    place = page.evaluate("scrollY")
    assert place > 500
    page.keyboard.press("o")
    page.wait_for_url(f"**/m/{ref}/")
    page.go_back()
    expect(page.locator(f'.hit[data-ref="{ref}"] .hit-title a')).to_be_focused()
    page.wait_for_function("place => Math.abs(scrollY - place) < 60", arg=place)


def test_way_back_from_a_timeline_restores_focus(open_page: OpenPage, needle: Observation) -> None:
    page = open_page("/?q=login")
    page.keyboard.press("j")
    page.keyboard.press("j")
    ref = page.locator(".hit[aria-current]").get_attribute("data-ref")
    page.keyboard.press("t")
    page.wait_for_url("**/timeline/*")
    page.go_back()
    page.wait_for_url("**/?q=login")
    expect(page.locator(f'.hit[data-ref="{ref}"] .hit-title a')).to_be_focused()
    page.keyboard.press("o")
    page.wait_for_url(f"**/m/{ref}/")


@pytest.mark.parametrize("pressed", [".pill", "a.histogram-bar[tabindex='0']"])
def test_focus_stays_near_what_is_gone(open_page: OpenPage, needle: Observation, pressed: str) -> None:
    make_observation("Login of long ago", type="bugfix", created_at=moment(-100_000))
    page = open_page("/?q=login+type:bugfix")
    expect(page.locator("#results-total")).to_have_text("2 bugfixes with “login”")
    page.locator(pressed).first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#results-total")).not_to_have_text("2 bugfixes with “login”")
    expect(page.locator("#results-total")).to_be_focused()


def test_whole_way_without_javascript(open_page: OpenPage, needle: Observation) -> None:
    page = open_page("/", javascript=False, width=375)
    page.locator("#q").fill("login type:bugfix")
    page.get_by_role("button", name="Search", exact=True).click()
    hit = page.locator(".hit")
    expect(hit).to_have_count(1)
    hit.locator(".why summary").click()
    expect(hit.locator(".why-bar")).to_be_visible()
    hit.get_by_label(f"Timeline around {needle.ref}").click()
    page.locator("#more-before").click()
    assert page.locator("[data-key-row]").count() == 31
    page.locator(".timeline-run h3 a").first.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("A long run")
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth") is True
