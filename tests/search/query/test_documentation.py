"""docs/search-syntax.md says what the code does."""

import re
from pathlib import Path

import pytest

from search.query import KINDS, STATES, FieldName, explain, is_time_text, parse
from search.query.parser import MAX_DEPTH, MAX_LENGTH, MAX_VALUES, MAX_WORDS

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "search-syntax.md").read_text(encoding="utf-8")
CODE = re.compile(r"`([^`]+)`")


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading, without its two head lines."""
    section = re.split(r"^#+ ", PAGE.split(f"# {heading}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines[2:]]


def test_page_lists_every_field():
    assert [CODE.findall(name) for name, _, _ in rows("Fields")] == [[f"{name}:"] for name in FieldName]


def test_page_lists_every_state():
    assert [CODE.findall(state) for state, _ in rows("States")] == [[f"is:{state}"] for state in STATES]


def test_page_lists_every_kind():
    (values,) = [CODE.findall(values) for name, values, _ in rows("Fields") if name == "`kind:`"]
    assert values == [*KINDS, *(kind[0] for kind in KINDS)]


@pytest.mark.parametrize("form", [form for _, forms in rows("Times") for form in CODE.findall(forms)])
def test_time_forms_of_the_page_are_accepted(form):
    assert is_time_text(form.strip('"')) is True
    assert parse(f"after:{form}").notes == ()


@pytest.mark.parametrize("example", [CODE.findall(example)[0] for _, _, example in rows("Fields")])
def test_field_examples_of_the_page_parse_without_a_note(example):
    assert parse(example).notes == ()
    assert explain(parse(example).tree) != "all memories"


@pytest.mark.parametrize(("query", "words"), rows("Examples"))
def test_examples_of_the_page_mean_what_it_says(query, words):
    parsed = parse(query.strip("`"))
    assert parsed.notes == ()
    assert explain(parsed.tree) == words


def test_page_names_the_limits():
    assert f"first {MAX_WORDS} words" in PAGE
    assert f"first {MAX_VALUES} values" in PAGE
    assert f"first {MAX_LENGTH:,} characters" in PAGE
    assert f"{MAX_DEPTH} levels" in PAGE
