"""Markdown of memories becomes HTML that does nothing and loses nothing."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from memweb.rendering import DEEPEST_MARKDOWN, LONGEST_MARKDOWN, render_markdown

ALLOWED = {
    "a": {"href", "title", "rel"},
    "ol": {"start"},
    "span": {"class"},
    "pre": {"class"},
}
HEADINGS_AND_BLOCKS = {"h3", "h4", "h5", "h6", "p", "ul", "li", "blockquote", "code", "hr", "br"}
TABLES_AND_WORDS = {"table", "thead", "tbody", "tr", "th", "td", "em", "strong", "s"}


def parsed(text: str) -> BeautifulSoup:
    return BeautifulSoup(render_markdown(text), "html.parser")


def assert_harmless(soup: BeautifulSoup) -> None:
    for element in soup.find_all(True):
        assert element.name in ALLOWED.keys() | HEADINGS_AND_BLOCKS | TABLES_AND_WORDS
        assert set(element.attrs) <= ALLOWED.get(element.name, set())
        if element.has_attr("href"):
            # An address that was nothing but what is taken out is empty and leads to the page itself.
            address = str(element["href"])
            assert not address or address.startswith(("http://", "https://", "mailto:"))
            assert element["rel"] == ["noopener", "noreferrer", "nofollow"]


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a **bold** *em* ~~gone~~ `code`", "<p>a <strong>bold</strong> <em>em</em> <s>gone</s> <code>code</code></p>"),
        ("one\ntwo", "<p>one<br>\ntwo</p>"),
        ("# Top\n\n## Next", "<h3>Top</h3>\n<h4>Next</h4>"),
        ("###### Low", "<h6>Low</h6>"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("5. a", '<ol start="5">\n<li>a</li>\n</ol>'),
        ("> said", "<blockquote>\n<p>said</p>\n</blockquote>"),
        ("see https://example.org", "<p>see https://example.org</p>"),
        (
            "[site](https://example.org/a?b=1)",
            '<p><a href="https://example.org/a?b=1" rel="noopener noreferrer nofollow">site</a></p>',
        ),
        (
            "[post](mailto:ops@example.org)",
            '<p><a href="mailto:ops@example.org" rel="noopener noreferrer nofollow">post</a></p>',
        ),
        ("", ""),
    ],
)  # fmt: skip
def test_markdown_becomes_html(text: str, html: str) -> None:
    assert render_markdown(text).strip() == html


@pytest.mark.parametrize(
    "text",
    [
        "[click me](javascript:alert(document.domain))",
        "[x](JaVaScRiPt:alert(1))",
        "[x](data:text/html,hi)",
        "[x](vbscript:x)",
        "[x](file:///etc/passwd)",
        "[x](//evil.example/a)",
        "[x](/admin/)",
        "[x](src/auth.ts)",
        "<javascript:alert(1)>",
        "<script>alert(1)</script>",
        '<img src="x" onerror="alert(1)">',
        '"><svg onload=alert(1)>',
        "{{ 7*7 }} {% debug %}",
    ],
)
def test_what_is_not_allowed_stays_readable_as_it_was_typed(text: str) -> None:
    soup = parsed(text)
    assert soup.get_text().strip() == text
    assert [element.name for element in soup.find_all(True) if element.name != "p"] == []


def test_images_become_their_words_and_address() -> None:
    soup = parsed("![a **fine** picture](http://evil.example/pixel.png?d=1)")
    assert soup.find("img") is None
    assert soup.get_text().strip() == "a fine picture (http://evil.example/pixel.png?d=1)"
    assert parsed("![](https://example.org/a.png)").get_text().strip() == "image (https://example.org/a.png)"


def test_code_fence_keeps_its_content_visible() -> None:
    soup = parsed("```html\n<script>inside fence stays visible</script>\n```")
    code = soup.select_one("pre > code")
    assert code is not None
    assert code.get_text() == "<script>inside fence stays visible</script>\n"
    assert soup.find("script") is None


def test_terminal_codes_and_direction_characters_vanish() -> None:
    soup = parsed(
        "\x1b[31mred\x1b[0m \x1b]8;;http://evil.example\x07link\x1b]8;;\x07 abc\u202egnp.exe\u202c zero\u200bwidth"
    )
    assert soup.get_text().strip() == "red link abcgnp.exe zerowidth"
    assert soup.find("a") is None


@pytest.mark.parametrize("length", [LONGEST_MARKDOWN + 1, 300_000])
def test_very_long_text_is_shown_whole_and_plain(length: int) -> None:
    text = ("**a** <b>\n" * (length // 10 + 1))[:length]
    soup = parsed(text)
    assert [element.name for element in soup.find_all(True)] == ["pre"]
    assert soup.get_text() == text


@pytest.mark.parametrize("depth", [1, 2, 10, 18, 19, 20, 21, DEEPEST_MARKDOWN, 400])
@pytest.mark.parametrize("nest", [lambda n: ">" * n, lambda n: "- " * n, lambda n: "> 1. " * n, lambda n: "> - " * n])
def test_deep_nesting_loses_no_text(depth: int, nest) -> None:  # type: ignore[no-untyped-def]
    soup = parsed(f"before\n\n{nest(depth)} deepest")
    assert "deepest" in soup.get_text()
    assert_harmless(soup)


@pytest.mark.parametrize("piece", ["[", "![", "[![a](", "*a_", "`", "|a", "<a ", "~~a", "&", "[a]: /x\n", "[]", "**a "])
def test_repeated_markup_keeps_its_text(piece: str) -> None:
    soup = parsed(f"{piece * 300}\n\nafter")
    assert soup.get_text().rstrip().endswith("after")
    assert_harmless(soup)


@given(st.text(max_size=300))
def test_any_text_renders_harmlessly(text: str) -> None:
    assert_harmless(parsed(text))


@given(
    st.lists(
        st.sampled_from(
            ["<script>", "](", "[", "!", "javascript:", "http://a", ")", "`", "\n", "> ", '"', "&#58;", "<", "\\"]
        )
    )
)
def test_any_mix_of_hostile_pieces_renders_harmlessly(pieces: list[str]) -> None:
    assert_harmless(parsed("".join(pieces)))


def test_security_corpus_renders_harmlessly(shared: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, shared / "cases" / "make_security_corpus.py", tmp_path], check=True)  # noqa: S603 - our own file
    with sqlite3.connect(tmp_path / "E_security_corpus.db") as source:
        texts = [
            str(cell)
            for row in source.execute(
                "SELECT title, subtitle, narrative, facts, concepts, files_modified, project FROM observations"
            )
            for cell in row
            if cell
        ]
    source.close()
    assert len(texts) > 100
    for text in texts:
        assert_harmless(parsed(text))
