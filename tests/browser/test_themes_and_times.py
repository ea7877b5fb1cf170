"""What a page remembers of its viewer: the theme and the time zone."""

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.factories import make_observation, moment

BACKGROUND = "getComputedStyle(document.body).backgroundColor"
DARK, LIGHT = "rgb(19, 20, 24)", "rgb(255, 255, 255)"


def zone_cookie(page: Page) -> str | None:
    return next((str(one["value"]) for one in page.context.cookies() if one["name"] == "memweb_tz"), None)


def test_theme_follows_the_system_until_chosen_and_is_remembered(open_page: OpenPage) -> None:
    page = open_page("/", theme="dark")
    assert page.evaluate(BACKGROUND) == DARK
    page.get_by_role("button", name="Theme: as the system").click()
    assert page.evaluate(BACKGROUND) == LIGHT
    page.reload()
    expect(page.get_by_role("button", name="Theme: light")).to_be_visible()
    assert page.evaluate(BACKGROUND) == LIGHT
    page.get_by_role("button", name="Theme: light").click()
    page.get_by_role("button", name="Theme: dark").click()
    page.emulate_media(color_scheme="light")
    assert page.evaluate(BACKGROUND) == LIGHT
    expect(page.get_by_role("button", name="Theme: as the system")).to_be_visible()


def test_admin_has_the_same_theme_and_a_way_back(open_page: OpenPage) -> None:
    page = open_page("/", theme="light")
    page.get_by_role("button", name="Theme: as the system").click()
    page.get_by_role("button", name="Theme: light").click()
    page.get_by_role("link", name="Admin").click()
    expect(page.locator("#site-name")).to_have_text("memweb admin")
    assert page.evaluate(BACKGROUND) == DARK
    page.get_by_role("link", name="Back to memweb").click()
    expect(page.locator("#q")).to_be_visible()


def test_times_are_in_the_zone_of_the_browser_from_the_first_page_on(open_page: OpenPage) -> None:
    memory = make_observation("Login loops", created_at=moment(0))
    page = open_page(f"/m/{memory.ref}/", time_zone="Asia/Tehran")
    time = page.locator(".memory-head time").first
    expect(time).to_have_text("Tue 20 Jan 2026, 12:30:00 (Asia/Tehran)")
    assert zone_cookie(page) == "Asia/Tehran"
    expect(page.locator(".time-zone")).to_have_text("Times in Asia/Tehran")
    page.reload()
    expect(time).to_have_text("Tue 20 Jan 2026, 12:30:00 (Asia/Tehran)")


def test_script_and_server_write_times_alike(open_page: OpenPage) -> None:
    for minutes in (0, 60 * 24 * 40, 60 * 24 * 150, 60 * 24 * 230):
        make_observation(f"Login loops {minutes}", created_at=moment(minutes))
    texts = "times => times.map(time => [time.textContent, time.title])"
    page = open_page("/", time_zone="America/New_York")
    expect(page.locator(".time-zone")).to_have_text("Times in America/New_York")
    by_script = page.locator(".hit time").evaluate_all(texts)
    page.reload()
    assert page.locator(".hit time").evaluate_all(texts) == by_script
    assert by_script[-1] == ["20 Jan 2026", "Tue 20 Jan 2026, 04:00:00 (America/New_York)"]


def test_without_scripts_the_time_of_the_server_stands(open_page: OpenPage) -> None:
    memory = make_observation("Login loops", created_at=moment(0))
    page = open_page(f"/m/{memory.ref}/", javascript=False)
    expect(page.locator(".memory-head time").first).to_have_text("Tue 20 Jan 2026, 09:00:00 (UTC)")
