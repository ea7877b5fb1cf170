"""Names of any length take little room; the whole name is in the title."""

import pytest

from tests.browser.conftest import OpenPage
from tests.factories import make_observation, make_session

LONG = {name: f"{name}-{'x' * 3000}" for name in ("project", "type", "concept", "tag", "session")} | {
    "file": f"src/{'deep/' * 600}auth.py"
}
# Where a name is shown, and how many lines of text it may take there.
PLACES = {
    "/?q=needle": {
        ".hit .type .cut": 1,
        ".hit a.cut": 1,
        ".hit .path": 1,
        ".hit .chip": 1,
        ".hit bdi.cut": 1,
        ".facet-value": 2,
    },
    f"/?q=needle+project:{LONG['project']}+-type:{LONG['project']}+tag:{LONG['tag']}": {
        ".pill": 2,
        ".results-total": 4,
    },
    "/m/{ref}/": {
        ".memory-head .cut": 1,
        ".memory-aside .chip": 1,
        ".memory-aside .files a": 4,
        ".memory-aside .provenance dd": 4,
    },
}

OVERFLOWING = """elements => elements.filter((element) => {
  const { height, right } = element.getBoundingClientRect()
  const lines = height / parseFloat(getComputedStyle(element).lineHeight)
  const page = document.querySelector("main .page")
  const edge = page.getBoundingClientRect().right - parseFloat(getComputedStyle(page).paddingRight)
  return lines > LINES + 0.5 || right > edge + 1 || !element.closest("[title]")
}).map((element) => element.outerHTML.slice(0, 200))"""


@pytest.fixture
def ref(transactional_db: None) -> str:
    """A memory whose every name is very long; returns the name of it that is not."""
    memory = make_observation(
        "needle",
        type=LONG["type"],
        project=LONG["project"],
        session=make_session("s", title=LONG["session"], project=LONG["project"]),
        concepts=[LONG["concept"]],
        files=[LONG["file"]],
        tags=[LONG["tag"]],
        agent=LONG["type"],
        source_row="r" * 3000,
    )
    return str(memory.ref)


@pytest.mark.parametrize("width", [1280, 375])
def test_long_names_are_cut_and_told_whole_in_the_title(open_page: OpenPage, ref: str, width: int) -> None:
    page = open_page("/", width=width)
    for address, places in PLACES.items():
        page.goto(address.format(ref=ref))
        for fold in page.locator("details").all():
            fold.evaluate("fold => (fold.open = true)")
        for selector, lines in places.items():
            found = page.locator(selector)
            assert found.count() > 0, selector
            assert found.evaluate_all(OVERFLOWING.replace("LINES", str(lines))) == [], selector
        assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth") is True


@pytest.mark.parametrize("kind", ["observation", "project", "session", "concept", "tag", "filepath"])
def test_long_names_take_a_line_in_lists_of_the_admin(open_page: OpenPage, ref: str, kind: str) -> None:
    page = open_page(f"/admin/memories/{kind}/")
    cells = page.locator("#result_list :is(tbody th, tbody td):not(.action-checkbox)")
    assert cells.count() > 0
    assert max(cells.evaluate_all("cells => cells.map((cell) => cell.offsetHeight)")) < 60
    # Names of thousands of pixels would show; a further digit of a number takes but a few.
    assert page.locator("#result_list").evaluate("table => table.offsetWidth") < 1100
