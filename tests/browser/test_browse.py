"""Looking around in a browser: a long session loads at both ends, and every list is fit for everybody."""

import pytest
from playwright.sync_api import Page, expect

from memweb.memories.models import Session, UserPrompt
from tests.browser.conftest import OpenPage
from tests.browser.test_accessibility import assert_accessible
from tests.factories import make_observation, make_prompt, make_session, moment


@pytest.fixture
def session(transactional_db: None) -> Session:
    """A session of 350 prompts, one a minute."""
    session = make_session("long", title="A long run", started_at=moment(0))
    for number in range(350):
        make_prompt(f"prompt {number} " + "what was asked " * 5, session=session, created_at=moment(number))
    return session


def refs(page: Page) -> list[str]:
    return [str(ref) for ref in page.eval_on_selector_all("[data-key-row]", "rows => rows.map(row => row.id)")]


def whole(session: Session) -> list[str]:
    ids = UserPrompt.objects.filter(session=session).order_by("created_at").values_list("pk", flat=True)
    return [f"p{id}" for id in ids]


def test_session_loads_at_both_ends_and_keeps_the_place(open_page: OpenPage, session: Session) -> None:
    everything = whole(session)
    middle = everything[200]
    page = open_page(f"/sessions/{session.pk}/?at={middle}#{middle}")
    expect(page.locator(f"#{middle}")).to_be_in_viewport()
    expect(page.locator("[data-key-row]")).to_have_count(101)
    page.locator(".entries-more").first.scroll_into_view_if_needed()
    first = page.locator(f"#{everything[150]}")
    expect(page.locator("[data-key-row]")).to_have_count(201)
    expect(first).to_be_in_viewport()  # what came in above did not push it away
    page.locator(".entries-more").last.scroll_into_view_if_needed()
    expect(page.locator("[data-key-row]")).to_have_count(300)
    assert refs(page) == everything[50:]
    page.locator(".entries-more").first.scroll_into_view_if_needed()
    expect(page.locator("[data-key-row]")).to_have_count(350)
    assert refs(page) == everything
    expect(page.locator(".entries-more")).to_have_count(0)


def test_session_is_read_by_links_without_javascript(open_page: OpenPage, session: Session) -> None:
    everything = whole(session)
    page = open_page(f"/sessions/{session.pk}/", javascript=False)
    assert refs(page) == everything[:100]
    page.get_by_role("link", name="Later").click()
    assert refs(page) == everything[100:200]
    page.get_by_role("link", name="Earlier").click()
    assert refs(page) == everything[:100]


def test_long_text_opens_in_place(open_page: OpenPage, session: Session) -> None:
    memory = make_prompt("word " * 2_000 + "the end", session=session, created_at=moment(-1))
    page = open_page(f"/sessions/{session.pk}/")
    entry = page.locator(f"#{memory.ref}")
    entry.get_by_role("link", name="Show all").click()
    expect(entry).to_contain_text("the end")


def test_from_a_hit_to_its_session_and_back(open_page: OpenPage, session: Session) -> None:
    memory = make_observation("Needle found", session=session, created_at=moment(120.5))
    page = open_page("/?q=needle")
    page.locator(".hit").get_by_role("link", name="A long run").click()
    expect(page.locator(f"#{memory.ref}")).to_be_in_viewport()
    expect(page.locator("[aria-current=true][data-anchor]")).to_have_attribute("id", str(memory.ref))
    page.go_back()
    expect(page.locator(".hit")).to_have_count(1)


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_list_is_accessible(open_page: OpenPage, theme: str, width: int) -> None:
    session = make_session(
        "s1", title="very long title " * 30 + "x" * 300, platform="odd platform" * 9, started_at=moment(0)
    )
    shared = {"session": session, "project": "p" * 200}
    make_observation("إصلاح تسجيل الدخول", "نص", type="odd type" * 20, files=[f"src/{'d/' * 80}a.py"], **shared)
    make_prompt("word " * 1_000 + "x" * 400, created_at=moment(90), **shared)
    make_observation("lost", created_at=None, concepts=["c" * 200, "gotcha"], **shared)
    page = open_page("/", theme=theme, width=width)
    addresses = ["/sessions/", f"/sessions/{session.pk}/", "/projects/", "/files/", "/files/?path=src/", "/concepts/"]
    for address in [*addresses, "/sessions/?q=zebra", "/concepts/?find=zebra"]:
        page.goto(address)
        page.wait_for_load_state("networkidle")
        try:
            assert_accessible(page)
        except AssertionError as error:
            raise AssertionError(f"{address}: {error}") from error
