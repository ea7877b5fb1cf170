"""What can be done with a hit: by keys, by mouse, without a script; several at once."""

import pytest
from playwright.sync_api import Page, expect

from memweb.memories.models import Observation
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility import assert_accessible
from tests.factories import make_observation, make_session, moment


@pytest.fixture
def hits(transactional_db: None) -> list[Observation]:
    session = make_session("s1", title="Repair sign-in")
    return [
        make_observation(
            f"Login {number}",
            "The login loops. " * 9,
            session=session,
            created_at=moment(number),
            tags=["old"] * (number == 2),
        )
        for number in range(3)
    ]


def marked(page: Page) -> str | None:
    return page.locator(".hit[aria-current]").get_attribute("data-ref")


def test_keys_act_on_the_marked_hit(open_page: OpenPage, hits: list[Observation]) -> None:
    page = open_page("/?q=login&order=oldest")
    for key in "jj":
        page.keyboard.press(key)
    assert marked(page) == str(hits[1].ref)
    row = page.locator(".hit[aria-current]")
    page.keyboard.press("s")
    expect(row.locator("[data-action=pin]")).to_have_attribute("aria-pressed", "true")
    expect(row.locator(".is-pinned")).to_be_visible()
    page.keyboard.press("x")
    expect(row.get_by_label(f"Select {hits[1].ref}")).to_be_checked()
    expect(page.locator(".selection-count")).to_have_text("1 selected")
    page.keyboard.press("t")
    page.wait_for_url(f"**/timeline/?anchor={hits[1].ref}*")
    expect(page.locator("[data-anchor]")).to_have_attribute("id", str(hits[1].ref))
    page.go_back()
    expect(page.locator(f'.hit[data-ref="{hits[1].ref}"] .is-pinned')).to_be_visible()
    hits[1].refresh_from_db()
    assert hits[1].pinned is True


def test_explanation_opens_by_key(open_page: OpenPage, hits: list[Observation]) -> None:
    page = open_page("/?q=login")
    page.keyboard.press("j")
    page.keyboard.press("e")
    expect(page.locator(".hit[aria-current] .why dl")).to_be_visible()
    page.keyboard.press("e")
    expect(page.locator(".hit[aria-current] .why dl")).to_be_hidden()


def test_tags_are_put_on_and_taken_off_in_place(open_page: OpenPage, hits: list[Observation]) -> None:
    page = open_page("/?q=login&order=newest")
    address = page.url
    row = page.locator(".hit").first
    row.hover()
    row.get_by_label(f"Tag {hits[2].ref}").click()
    row.get_by_label(f"Tags for {hits[2].ref}").fill("review, to do")
    page.keyboard.press("Enter")
    expect(row.locator(".marks-tags .chip")).to_have_text(["old", "review", "to do"])
    row.get_by_label(f"Take the tag old off {hits[2].ref}").click()
    expect(row.locator(".marks-tags .chip")).to_have_text(["review", "to do"])
    row.hover()
    row.get_by_label(f"Tag {hits[2].ref}", exact=True).click()
    row.get_by_label(f"Tags for {hits[2].ref}").fill("!!!")
    page.keyboard.press("Enter")
    expect(row.get_by_role("alert")).to_contain_text("cannot be a tag")
    assert page.url == address


def test_copies_of_one_and_of_several(open_page: OpenPage, hits: list[Observation]) -> None:
    page = open_page("/?q=login&order=oldest")
    home = page.url.split("/?")[0]
    read = "navigator.clipboard.readText()"
    first = page.locator(".hit").first
    first.hover()
    first.get_by_label(f"Copy link to {hits[0].ref}").click()
    expect(page.locator("#announcer")).to_have_text(f"Copy link to {hits[0].ref}: Copied")
    assert page.evaluate(read) == f"{home}/m/{hits[0].ref}/"
    first.get_by_label(f"{hits[0].ref} as Markdown").click()
    expect(page.locator("#announcer")).to_have_text(f"{hits[0].ref} as Markdown: Copied")
    assert page.evaluate(read).startswith("# Login 0\n")
    for number in (0, 2):
        page.locator(".hit").nth(number).hover()
        page.get_by_label(f"Select {hits[number].ref}").check()
    page.get_by_role("button", name="Copy links").click()
    expect(page.locator("#announcer")).to_have_text("Copy links: Copied")
    assert page.evaluate(read) == f"{home}/m/{hits[0].ref}/\n{home}/m/{hits[2].ref}/"
    page.get_by_role("button", name="Copy as Markdown", exact=True).click()
    expect(page.locator("#announcer")).to_have_text("Copy as Markdown: Copied")
    assert [line for line in page.evaluate(read).splitlines() if line.startswith("# ")] == ["# Login 0", "# Login 2"]


def test_without_javascript_hits_are_pinned_and_tagged(open_page: OpenPage, hits: list[Observation]) -> None:
    page = open_page("/?q=login&order=oldest", javascript=False)
    page.get_by_label(f"Select {hits[0].ref}").check()
    page.get_by_label(f"Select {hits[1].ref}").check()
    page.get_by_label("Tags for what is selected").fill("review")
    page.locator(".selection").get_by_role("button", name="Tag").click()
    expect(page.locator(".site-messages")).to_have_text("2 memories tagged.")
    assert page.url.endswith("/?q=login&order=oldest")
    expect(page.locator(".marks-tags .chip")).to_have_text(["review", "review", "old"])
    page.get_by_label(f"Pin {hits[2].ref}").click()
    expect(page.locator(".site-messages")).to_have_text(f"Pinned {hits[2].ref}.")


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_open_actions_are_accessible(open_page: OpenPage, hits: list[Observation], theme: str, width: int) -> None:
    make_observation("login " + "x" * 200, tags=["t" * 60, "وسم"], pinned=True)
    page = open_page("/?q=login", theme=theme, width=width)
    page.evaluate("document.querySelectorAll('.hit-select input').forEach(box => box.click())")
    page.evaluate("document.querySelectorAll('details').forEach(fold => (fold.open = true))")
    assert_accessible(page)
