"""Code is coloured without changing it, whatever its language is called."""

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from memweb.code import LONGEST_CODE, highlight_code
from memweb.rendering import render_markdown


def parsed(code: str, language: str) -> BeautifulSoup:
    return BeautifulSoup(f"<pre>{highlight_code(code, language)}</pre>", "html.parser")


def test_tokens_of_a_known_language_have_classes() -> None:
    soup = parsed("return 1 < 2  # <b>\n", "python")
    assert soup.get_text() == "return 1 < 2  # <b>\n"
    assert [(one.get_text(), one["class"]) for one in soup.find_all("span")] == [
        ("return", ["hl-k"]),
        ("1", ["hl-mi"]),
        ("<", ["hl-o"]),
        ("2", ["hl-mi"]),
        ("# <b>", ["hl-c1"]),
    ]
    assert soup.find("b") is None


@pytest.mark.parametrize("language", ["", "no such language", "x" * 5_000, "<script>", "\x00"])
def test_unknown_language_is_left_alone(language: str) -> None:
    assert highlight_code("a < b", language) == ""


def test_very_long_code_is_left_alone() -> None:
    assert highlight_code("x" * (LONGEST_CODE + 1), "python") == ""


@given(st.text(max_size=200), st.sampled_from(["python", "js", "html", "sql", "diff", "bash", "json", "rust"]))
def test_highlighting_loses_nothing(code: str, language: str) -> None:
    assert parsed(code, language).get_text() == code.replace("\r\n", "\n").replace("\r", "\n")


def test_markdown_keeps_token_classes_and_no_others() -> None:
    html = render_markdown("```python\ndef f(): pass\n```\n\n```\nplain\n```")
    soup = BeautifulSoup(html, "html.parser")
    assert [one.get_text() for one in soup.select("pre code .hl-k")] == ["def", "pass"]
    assert {name for one in soup.find_all(class_=True) for name in one["class"]} <= {"hl-k", "hl-nf"}
    assert soup.find_all("pre")[1].get_text() == "plain\n"
