"""The timeline in a browser: the anchor in view, more on either side in place, keys alone, no script."""

import pytest
from playwright.sync_api import Page, expect

from memweb.memories.models import Observation
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility import assert_accessible
from tests.factories import make_observation, make_prompt, make_session, moment


@pytest.fixture
def memories(transactional_db: None) -> list[Observation]:
    """Sixty observations, one a minute, in two sessions."""
    sessions = [make_session(f"s{number}", title=f"Session {number}") for number in range(2)]
    return [
        make_observation(
            f"Number {number}",
            "What was found out. " * 8,
            session=sessions[number // 30],
            files=[f"src/{number}.py"],
            created_at=moment(number),
        )
        for number in range(60)
    ]


def rows(page: Page) -> int:
    return page.locator("[data-key-row]").count()


def is_in_view(page: Page, ref: str) -> bool:
    box = page.locator(f"#{ref}").bounding_box()
    return box is not None and 0 <= box["y"] < 800


def test_anchor_is_in_view_and_keeps_its_place_while_more_is_shown(
    open_page: OpenPage, memories: list[Observation]
) -> None:
    anchor = str(memories[30].ref)
    page = open_page(f"/timeline/?anchor={anchor}")
    expect(page.locator(f"#{anchor} .hit-title a")).to_be_focused()
    assert is_in_view(page, anchor)
    page.locator("#more-before").focus()
    place = page.locator(f"#{anchor}").bounding_box()
    page.keyboard.press("Enter")
    expect(page.locator("[data-key-row]")).to_have_count(31)
    expect(page).to_have_url(f"{page.url.split('/timeline')[0]}/timeline/?anchor={anchor}&before=20")
    expect(page.locator("#more-before")).to_be_focused()
    after = page.locator(f"#{anchor}").bounding_box()
    assert place is not None
    assert after is not None
    assert abs(after["y"] - place["y"]) < 2
    page.locator("#more-after").click()
    expect(page.locator("[data-key-row]")).to_have_count(41)
    page.reload()
    assert rows(page) == 41


def test_link_to_a_row_leads_to_it(open_page: OpenPage, memories: list[Observation]) -> None:
    page = open_page(f"/timeline/?anchor={memories[30].ref}#{memories[38].ref}")
    assert is_in_view(page, str(memories[38].ref))


def test_centring_on_a_row_and_back_by_the_keyboard(open_page: OpenPage, memories: list[Observation]) -> None:
    page = open_page(f"/timeline/?anchor={memories[30].ref}")
    expect(page.locator(f"#{memories[30].ref} .hit-title a")).to_be_focused()
    page.keyboard.press("Tab")  # the title of the next row, then its "centre here"
    page.keyboard.press("Tab")
    focused = page.evaluate("document.activeElement.className")
    assert focused == "timeline-centre"
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/timeline/?anchor={memories[31].ref}*")
    expect(page.locator("[data-anchor]")).to_have_attribute("id", str(memories[31].ref))
    page.go_back()
    expect(page.locator("[data-anchor]")).to_have_attribute("id", str(memories[30].ref))


def test_without_javascript_everything_is_a_link_or_a_form(open_page: OpenPage, memories: list[Observation]) -> None:
    page = open_page(f"/timeline/?anchor={memories[30].ref}", javascript=False)
    page.locator("#more-after").click()
    assert rows(page) == 31
    page.get_by_label("Around").fill("2026-01-20 09:10")
    page.get_by_label("Before", exact=True).fill("2")
    page.get_by_role("button", name="Show").click()
    expect(page.locator(".timeline-moment")).to_have_text("Tuesday 20 January 2026, 09:10:00")
    assert rows(page) == 22
    page.goto("/accounts/time-zone/?next=/timeline/")
    page.locator("#zone").fill("Asia/Tokyo")
    page.get_by_role("button", name="Use this zone").click()
    expect(page).to_have_url(f"{page.url.split('/timeline')[0]}/timeline/")
    expect(page.locator("a.time-zone")).to_have_text("Times in Asia/Tokyo")


def test_chosen_zone_is_not_changed_by_the_script(open_page: OpenPage, memories: list[Observation]) -> None:
    page = open_page("/accounts/time-zone/", time_zone="Europe/Berlin")
    page.locator("#zone").fill("Asia/Tokyo")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "time-zone" not in url)
    page.goto(f"/timeline/?anchor={memories[0].ref}")
    expect(page.locator("a.time-zone")).to_have_text("Times in Asia/Tokyo")
    expect(page.locator("[data-anchor] time")).to_have_text("18:00")


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_and_nothing_is_wider_than_the_screen(
    open_page: OpenPage, memories: list[Observation], theme: str, width: int
) -> None:
    make_prompt("word " * 300 + "x" * 400, session=memories[0].session, created_at=moment(30.5))
    make_observation(
        "إصلاح تسجيل الدخول", "نص", type="odd type" * 20, files=[f"src/{'d/' * 80}a.py"], created_at=moment(30.6)
    )
    make_observation("lost", created_at=None)
    addresses = [
        f"/timeline/?anchor={memories[30].ref}&q=kind:observation",
        "/timeline/",
        "/timeline/?anchor=2030-01-01",
        "/accounts/time-zone/",
    ]
    page = open_page("/", theme=theme, width=width)
    for address in addresses:
        page.goto(address)
        page.wait_for_load_state("networkidle")
        assert_accessible(page)


def test_title_of_a_session_is_whole_where_there_is_room(open_page: OpenPage, transactional_db: None) -> None:
    session = make_session("s1", title="Why labels for parcels to Norway are cut off at the right edge")
    memory = make_observation("It", session=session)
    title = open_page(f"/timeline/?anchor={memory.ref}").locator(".timeline-run h3 a")
    assert title.evaluate("one => one.scrollWidth <= one.clientWidth") is True


def test_switches_that_are_off_look_different(open_page: OpenPage, memories: list[Observation]) -> None:
    page = open_page(f"/timeline/?anchor={memories[0].ref}&kind=observation")
    on, off = (page.locator(f".pill.is-switch[aria-checked={state}]").first for state in ("true", "false"))
    background = "one => getComputedStyle(one).backgroundColor"
    assert on.evaluate(background) != off.evaluate(background)
