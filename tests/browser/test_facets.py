"""Narrowing by hand: facets, folders, pills and bars edit the text; by mouse, by keyboard alone, without scripts."""

import re
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import OpenPage
from tests.factories import make_observation, make_prompt

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
TYPES = ("bugfix", "feature", "decision")


@pytest.fixture
def memories(transactional_db: None) -> None:
    """30 notes, one a day, in three types and projects, with 12 concepts and files in two directories; one prompt."""
    for number in range(30):
        make_observation(
            f"Login note {number}",
            type=TYPES[number % 3],
            project=f"project {number % 2}",
            concepts=[f"concept {number % 12}"],
            files=[f"src/{'auth' if number % 2 else 'web'}/file{number % 6}.py"],
            created_at=START + timedelta(days=number),
        )
    make_prompt("Login without a time", created_at=None)


def query_of(page: Page) -> str:
    return parse_qs(urlsplit(page.url).query).get("q", [""])[0]


def value(page: Page, facet: str, label: str) -> Locator:
    return page.locator(f"#facet-{facet} .facet-row", has=page.get_by_text(label, exact=True)).last


def tick(page: Page, facet: str, label: str) -> Locator:
    return value(page, facet, label).locator("> .facet-value")


def total(page: Page, text: str) -> None:
    expect(page.locator("#results-total")).to_contain_text(text)


@pytest.mark.usefixtures("memories")
def test_ticks_edit_the_text_and_the_text_ticks(open_page: OpenPage) -> None:
    page = open_page("/?q=login+")
    tick(page, "type", "bugfix").click()
    total(page, "10 bugfixes")
    assert query_of(page) == "login type:bugfix"
    expect(page.locator("#q")).to_have_value("login type:bugfix")
    expect(tick(page, "type", "bugfix")).to_have_attribute("aria-current", "true")
    expect(tick(page, "type", "bugfix")).to_be_focused()
    expect(tick(page, "type", "feature")).to_contain_text("10")

    tick(page, "type", "feature").click()
    total(page, "20 bugfixes or features")
    page.locator("#q").fill("login type:feature")
    total(page, "10 features")
    expect(tick(page, "type", "bugfix")).not_to_have_attribute("aria-current", "true")
    expect(tick(page, "type", "feature")).to_have_attribute("aria-current", "true")

    tick(page, "type", "feature").click()
    total(page, "31 memories")
    assert query_of(page) == "login"


@pytest.mark.usefixtures("memories")
def test_values_are_left_out_and_taken_back(open_page: OpenPage) -> None:
    page = open_page("/")
    value(page, "type", "bugfix").hover()
    page.get_by_role("link", name="Leave out bugfix").click()
    total(page, "21 memories not of type bugfix")
    expect(page.locator("#q")).to_have_value("-type:bugfix")
    expect(tick(page, "type", "bugfix")).to_have_class(re.compile("is-excluded"))
    page.locator(".pill", has_text="not type: bugfix").click()
    total(page, "31 memories")
    expect(page.locator("#q")).to_have_value("")


@pytest.mark.usefixtures("memories")
def test_everything_by_keyboard_alone(open_page: OpenPage) -> None:
    page = open_page("/?q=login+")
    tick(page, "type", "bugfix").focus()
    page.keyboard.press("Enter")
    total(page, "10 bugfixes")
    expect(tick(page, "type", "bugfix")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Leave out bugfix")).to_be_focused()
    page.keyboard.press("Enter")
    total(page, "21 memories")
    expect(page.locator(".facets a:focus")).to_have_count(1)
    page.keyboard.press("Enter")
    total(page, "31 memories")

    first = page.locator("a.histogram-bar").first
    first.focus()
    page.keyboard.press("End")
    last = page.locator("a.histogram-bar").last
    expect(last).to_be_focused()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowRight")
    expect(last).to_be_focused()
    assert page.locator("a.histogram-bar[tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    total(page, "1 memory")
    expect(page.locator("#q")).to_have_value("after:2026-03-31 before:2026-03-31 login")


@pytest.mark.usefixtures("memories")
def test_folders_unfold_and_stay_so(open_page: OpenPage) -> None:
    page = open_page("/")
    assert page.locator("#facet-file .facet-label").all_inner_texts() == ["src/"]
    fold = page.get_by_role("link", name="Show what is in src/")
    fold.click()
    expect(tick(page, "file", "auth/")).to_contain_text("15")
    expect(fold).to_have_attribute("aria-expanded", "true")
    fold.click()
    expect(tick(page, "file", "auth/")).to_be_hidden()
    fold.click()
    page.get_by_role("link", name="Show what is in auth/").click()
    expect(tick(page, "file", "file1.py")).to_contain_text("5")
    assert urlsplit(page.url).query == ""
    tick(page, "file", "file1.py").click()
    total(page, "5 memories touching src/auth/file1.py")
    expect(tick(page, "file", "file3.py")).to_contain_text("5")
    expect(tick(page, "file", "src/auth/file1.py")).to_have_attribute("aria-current", "true")


@pytest.mark.usefixtures("memories")
def test_long_facets_are_searched_in_place(open_page: OpenPage) -> None:
    page = open_page("/?q=login+")
    labels = page.locator("#facet-concept .facet-label")
    expect(labels).to_have_count(8)
    page.get_by_role("link", name="4 more concepts").click()
    expect(labels).to_have_count(12)
    find = page.locator("#find-concept")
    expect(find).to_be_focused()
    find.press_sequentially("ept 1", delay=20)
    expect(labels).to_have_count(3)
    assert labels.all_inner_texts() == ["concept 1", "concept 10", "concept 11"]
    expect(find).to_be_focused()
    expect(find).to_have_value("ept 1")
    assert query_of(page) == "login "
    tick(page, "concept", "concept 11").click()
    total(page, "2 memories")
    expect(page.locator("#q")).to_have_value('login concept:"concept 11"')
    expect(tick(page, "concept", "concept 11")).to_have_attribute("aria-current", "true")


def drag(page: Page, start: int, end: int) -> None:
    """Drag over the chart from the middle of one bar to that of another."""
    box = page.locator(".histogram-chart").bounding_box()
    assert box is not None
    count = page.locator(".histogram-bar").count()
    places = [box["x"] + box["width"] * (place + 0.5) / count for place in (start, end)]
    page.mouse.move(places[0], box["y"] + 30)
    page.mouse.down()
    page.mouse.move(places[1], box["y"] + 20, steps=8)
    assert page.locator(".histogram-bar.is-chosen").count() == abs(end - start) + 1
    page.mouse.up()


@pytest.mark.usefixtures("memories")
def test_dragging_narrows_the_period(open_page: OpenPage) -> None:
    page = open_page("/?q=login+type:bugfix,feature,decision")
    assert page.locator(".histogram-bar").count() == 30
    drag(page, 2, 6)
    total(page, "5 bugfixes, features or decisions")
    period = "after:2026-03-04 before:2026-03-08"
    expect(page.locator("#q")).to_have_value(f"login type:bugfix,feature,decision {period}")
    expect(page).to_have_url(re.compile("after%3A2026-03-04"))
    assert query_of(page) == f"login type:bugfix,feature,decision {period}"
    drag(page, 4, 3)
    total(page, "2 bugfixes, features or decisions")
    assert query_of(page).endswith("after:2026-03-07 before:2026-03-08")
    page.locator("#histogram-all").click()
    total(page, "30 bugfixes, features or decisions")
    page.go_back()
    total(page, "2 bugfixes, features or decisions")


@pytest.mark.usefixtures("memories")
def test_a_click_on_a_bar_narrows_to_it(open_page: OpenPage) -> None:
    page = open_page("/")
    page.locator("a.histogram-bar").nth(3).click()
    total(page, "1 memory on 5 March 2026")
    assert query_of(page) == "after:2026-03-05 before:2026-03-05"


@pytest.mark.usefixtures("memories")
def test_jump_to_a_date(open_page: OpenPage) -> None:
    page = open_page("/?q=login+")
    page.locator("#date").fill("2026-03-10")
    page.get_by_role("button", name="Jump to this date").click()
    expect(page.locator(".hit-title").first).to_have_text("Login note 8")
    expect(page).to_have_url(re.compile("date=2026-03-10"))
    expect(page.get_by_role("link", name="Newest", exact=True)).to_have_attribute("aria-current", "true")
    page.reload()
    expect(page.locator(".hit-title").first).to_have_text("Login note 8")
    page.get_by_role("link", name="First page").click()
    expect(page.locator(".hit-title").first).to_have_text("Login note 29")
    page.go_back()
    expect(page.locator(".hit-title").first).to_have_text("Login note 8")


@pytest.mark.usefixtures("memories")
def test_without_scripts(open_page: OpenPage) -> None:
    page = open_page("/?q=login+", javascript=False)
    tick(page, "type", "bugfix").click()
    total(page, "10 bugfixes")
    tick(page, "type", "bugfix").click()
    page.get_by_role("link", name="4 more concepts").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Concept")
    page.locator("#find-concept").fill("concept 9")
    page.get_by_role("button", name="Find").click()
    assert page.locator(".facet-label").all_inner_texts() == ["concept 9"]
    tick(page, "concept", "concept 9").click()
    total(page, "2 memories with “login” with concept “concept 9”")
    page.go_back()
    page.get_by_role("link", name="Back to the results").click()
    page.get_by_role("link", name="Show what is in src/").click()
    assert page.locator(".facet-label").all_inner_texts() == ["auth/", "web/"]
    page.get_by_role("link", name="Back to the results").click()
    page.locator("#date").fill("2026-03-10")
    page.get_by_role("button", name="Jump to this date").click()
    expect(page.locator(".hit-title").first).to_have_text("Login note 8")
    page.locator("a.histogram-bar").first.click()
    total(page, "1 memory")


@pytest.mark.usefixtures("memories")
def test_panel_folds_on_narrow_screens(open_page: OpenPage) -> None:
    page = open_page("/?q=login+", width=375)
    expect(tick(page, "type", "bugfix")).to_be_hidden()
    page.locator("#facets > summary").click()
    tick(page, "type", "bugfix").click()
    total(page, "10 bugfixes")
    expect(tick(page, "type", "bugfix")).to_be_visible()
    expect(page.locator(".facets-active")).to_contain_text("1")
    page.locator("#facets > summary").click()
    expect(tick(page, "type", "bugfix")).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= 375


@pytest.mark.usefixtures("memories")
@pytest.mark.parametrize("width", [375, 1280])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_facets_are_accessible(open_page: OpenPage, theme: str, width: int) -> None:
    for address in (
        "/?q=login+-type:bugfix+project:%22project+1%22",
        "/?q=after:2026-03-04+before:2026-03-04",
        "/search/facets/?q=login",
        "/search/facets/concept/",
        "/search/facets/file/?under=src/",
    ):
        page = open_page(address, theme=theme, width=width)
        page.evaluate("document.querySelectorAll('details').forEach(fold => (fold.open = true))")
        found = Axe().run(page).response["violations"]
        assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found] == []


@pytest.mark.usefixtures("memories")
def test_links_work_in_the_moment_they_appear(open_page: OpenPage) -> None:
    page = open_page("/?q=login+")
    page.evaluate("""() => {
        window.isSamePage = true;
        const press = () => {
            const link = document.querySelector("[aria-label='Leave out bugfix']");
            link.focus();
            link.click();
        };
        const watch = new MutationObserver(() => {
            if (!document.getElementById("results-total")?.textContent.includes("10 bugfixes")) return;
            watch.disconnect();
            setTimeout(press, 1);
        });
        watch.observe(document.getElementById("results"), { childList: true, subtree: true });
    }""")
    tick(page, "type", "bugfix").click()
    total(page, "21 memories")
    assert page.evaluate("window.isSamePage")
    expect(page.locator("#exclude-type-bugfix")).to_be_focused()
