"""axe finds nothing on any page, in both themes, on wide and narrow screens."""

from collections.abc import Callable

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.factories import make_observation, make_session, make_summary, moment


@pytest.fixture
def ref(transactional_db: None) -> str:
    """Memories of many forms; returns the name of the fullest one."""
    session = make_session("content-1", project="web-api", title="Repair sign-in")
    full = make_observation(
        "Login loops forever",
        "The cookie was **gone**; see [docs](https://example.org).\n\n> quoted\n\n```\ncode\n```\n\n|a|\n|-|\n|1|",
        subtitle="Since the last release",
        facts=["one", "two"],
        type="bugfix",
        project="web-api",
        session=session,
        concepts=["gotcha"],
        files=[f"src/{'deep/' * 12}auth.py"],
        modified=["src/session.py"],
        tags=["review"],
        source_data={"id": 1},
        pinned=True,
        discovery_tokens=1200,
    )
    make_observation("إصلاح تسجيل الدخول login", "نص", project="مشروع", type="decision", created_at=None)
    make_observation("login " + "very long title " * 30 + "x" * 300, "login " * 500, project="p" * 200, type="odd type")
    for number in range(25):
        make_summary(f"login number {number}", created_at=moment(number))
    return str(full.ref)


def nothing(page: Page) -> None:
    """The page as it is."""


def open_help(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.locator("dialog.keys")).to_be_visible()


def open_folds(page: Page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach(fold => (fold.open = true))")


def mark_hit(page: Page) -> None:
    page.keyboard.press("j")


PAGES: dict[str, tuple[str, Callable[[Page], None]]] = {
    "newest": ("/", nothing),
    "hits": ("/?q=login", open_folds),
    "marked": ("/?q=login", mark_hit),
    "filtered": ("/?q=login+project%3Aweb-api+kind%3Aobservation", nothing),
    "noted": ("/?q=login+before%3Anonsense&order=newest&limit=abc", nothing),
    "relaxed": ("/?q=login+zebra", nothing),
    "no hit": ("/?q=zebra", nothing),
    "misspelt": ("/?q=logni", nothing),
    "help": ("/?q=login", open_help),
    "memory": ("/m/{ref}/", open_folds),
    "edit": ("/m/{ref}/edit/", nothing),
    "new": ("/new/?kind=drawer", nothing),
    "changes": ("/changes/", nothing),
    "conflicts": ("/conflicts/", nothing),
    "not found": ("/m/o99999/", nothing),
}


# Parts of Django's admin that it makes without labels: we choose their fields, not their markup.
DJANGO_PARTS = {
    ".select2": "field with suggestions: its box has no name, its list holds a span",
    ".vDateField, .vTimeField": "date and time share the label of a field that is neither",
    ".inline-group th.original": "heading of the column for what has no column",
    ".inline-group td select, .inline-group td.delete input": "only the heading of the column is their label",
}


def assert_accessible(page: Page) -> None:
    # Axe would load style sheets again to look at what they import, against the policy of the page.
    context = {"exclude": [[part] for part in ", ".join(DJANGO_PARTS).split(", ")]}
    found = Axe().run(page, context=context, options={"preload": False}).response["violations"]
    assert [(one["id"], [node["html"][:200] for node in one["nodes"]]) for one in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth") is True


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_is_accessible(open_page: OpenPage, ref: str, theme: str, width: int, mishaps: list[str]) -> None:
    page = open_page("/", theme=theme, width=width)
    for name, (address, prepare) in PAGES.items():
        page.goto(address.format(ref=ref))
        prepare(page)
        try:
            assert_accessible(page)
        except AssertionError as error:
            raise AssertionError(f"{name}: {error}") from error
    mishaps[:] = [one for one in mishaps if "404" not in one]  # the browser's own line about the page not found


ADMIN_PAGES = [
    "/admin/",
    "/admin/memories/observation/",
    "/admin/memories/observation/?q=login&state__exact=active",
    "/admin/memories/observation/{id}/change/",
    "/admin/memories/sessionsummary/",
    "/admin/memories/tag/add/",
]


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_of_the_admin_is_accessible(open_page: OpenPage, ref: str, theme: str, width: int) -> None:
    page = open_page("/", theme=theme, width=width)
    for address in ADMIN_PAGES:
        page.goto(address.format(id=ref[1:]))
        try:
            assert_accessible(page)
        except AssertionError as error:
            raise AssertionError(f"{address}: {error}") from error


@pytest.mark.parametrize("width", [1280, 375])
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_sign_in_page_is_accessible(open_page: OpenPage, theme: str, width: int, mishaps: list[str]) -> None:
    page = open_page("/", signed_in=False, theme=theme, width=width)
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert_accessible(page)
    page.goto("/accounts/link/no-such-link/")
    expect(page.get_by_role("alert")).to_be_visible()
    assert_accessible(page)
    mishaps[:] = [one for one in mishaps if "403" not in one]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_an_empty_index_is_accessible(open_page: OpenPage, theme: str) -> None:
    assert_accessible(open_page("/", theme=theme))


def test_skip_link_leads_past_the_header(open_page: OpenPage, ref: str) -> None:
    page = open_page(f"/m/{ref}/")
    page.keyboard.press("Tab")
    link = page.get_by_role("link", name="Skip to the content")
    expect(link).to_be_focused()
    expect(link).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_focus_is_visible_on_every_stop(open_page: OpenPage, ref: str) -> None:
    page = open_page("/?q=login")
    seen = 0
    for _ in range(40):
        page.keyboard.press("Tab")
        style = page.evaluate(
            """() => { const element = document.activeElement
                       const { outlineStyle, outlineWidth } = getComputedStyle(element)
                       return [element.tagName, outlineStyle, parseFloat(outlineWidth)] }"""
        )
        if style[0] == "BODY":
            break
        assert style[1:] == ["solid", 2]
        seen += 1
    assert seen > 20
