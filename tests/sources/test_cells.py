"""List cells in every shape that was met."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memweb.sources.cells import Contents, read_list


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        (None, []),
        ("", []),
        ("[]", []),
        ("  ", []),
        ("null", []),
        ('["a", "b"]', ["a", "b"]),
        (["a", "b"], ["a", "b"]),
        ('"[\\"a\\",\\"b\\"]"', ["a", "b"]),
        (json.dumps(json.dumps(json.dumps(["a", "b"]))), ["a", "b"]),
        ("['a', \"b's\"]", ["a", "b's"]),
        ("a|b| c ", ["a", "b", "c"]),
        ("a, b", ["a, b"]),
        ('"one fact"', ["one fact"]),
        ("one fact", ["one fact"]),
        ('{"a":1}', ['{"a": 1}']),
        ('[1, null, ["x"], {"k":"v"}, true, 2.5]', ["1", "x", '{"k": "v"}', "true", "2.5"]),
        ('["", " ", null, "a"]', ["a"]),
        ('["a","b', ['["a","b']),
        ("{", ["{"]),
        ("[WIP] not a list", ["[WIP] not a list"]),
        ("7", ["7"]),
        (7, ["7"]),
        ("(see there) | other", ["(see there)", "other"]),
        ('[[["deep"]]]', ["deep"]),
    ],
)
def test_facts_of_any_shape(cell: object, values: list[str]) -> None:
    assert read_list(cell, Contents.FACTS).values == values


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        ("how-it-works,problem-solution", ["how-it-works", "problem-solution"]),
        ("a|b", ["a", "b"]),
        ('"gotcha"', ["gotcha"]),
        ("[null, 7]", ["7"]),
        ('["with, comma"]', ["with, comma"]),
        ('["how-it-works"', ['["how-it-works"']),
        ('"a,b"', ["a", "b"]),
    ],
)
def test_concepts_split_at_commas_outside_json(cell: str, values: list[str]) -> None:
    assert read_list(cell, Contents.CONCEPTS).values == values


@pytest.mark.parametrize(
    ("cell", "values"),
    [
        ('{"path":"src/a.ts"}', ["src/a.ts"]),
        ('[{"file_path":"a"},{"other":1}]', ["a", '{"other": 1}']),
        ("a,b.ts", ["a,b.ts"]),
        ("a.ts\nb.ts", ["a.ts", "b.ts"]),
        ('[""," ","../../etc/passwd"]', ["../../etc/passwd"]),
    ],
)
def test_files_of_any_shape(cell: str, values: list[str]) -> None:
    assert read_list(cell, Contents.FILES).values == values


@pytest.mark.parametrize(
    ("cell", "is_clean"),
    [
        (None, True),
        ("", True),
        ("[]", True),
        ("null", True),
        ('["a"]', True),
        (["a"], True),
        ('["a", ""]', False),
        ("a", False),
        ('["a", 1]', False),
        ('"a"', False),
        ("['a']", False),
    ],
)
def test_only_lists_of_texts_are_clean(cell: object, is_clean: bool) -> None:
    assert read_list(cell, Contents.FACTS).is_clean is is_clean


def test_deep_nesting_and_long_literals_do_no_harm() -> None:
    for cell in ("[" * 100_000, "[" * 200_000 + "]" * 200_000, '{"a":' * 50_000, "['" + "x" * 200_000 + "']"):
        assert read_list(cell, Contents.FACTS).values == [cell]


@given(
    st.one_of(st.text(), st.recursive(st.none() | st.text() | st.floats() | st.integers(), st.lists).map(json.dumps))
)
def test_any_cell_gives_texts_without_blanks(cell: str) -> None:
    for contents in Contents:
        for text in read_list(cell, contents).values:
            assert isinstance(text, str)
            assert text.strip()
