"""What a caret stands in, for every place of it; `|` marks the caret."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.query import FieldName, Piece, parse, piece_at, value_text
from tests.search.query.strategies import query_texts

NAMES = {
    "|": Piece(None, "", 0, 0),
    "ty|": Piece(None, "ty", 0, 2),
    "-ty|": Piece(None, "ty", 1, 3),
    "ty|pe:bugfix": Piece(None, "ty", 0, 5),
    "type|:bugfix": Piece(None, "type", 0, 5),
    "login | cookie": Piece(None, "", 6, 6),
    "login pro|": Piece(None, "pro", 6, 9),
    "(fi|)": Piece(None, "fi", 1, 3),
    "(|": Piece(None, "", 1, 1),
    "-(|": Piece(None, "", 2, 2),
    "a OR ta|": Piece(None, "ta", 5, 7),
}
VALUES = {
    "type:|": Piece(FieldName.TYPE, "", 5, 5),
    "TYPE:b|": Piece(FieldName.TYPE, "b", 5, 6),
    "-type:b|ug login": Piece(FieldName.TYPE, "b", 6, 9),
    "(type:b|)": Piece(FieldName.TYPE, "b", 6, 7),
    "-(type:b|": Piece(FieldName.TYPE, "b", 7, 8),
    "type:bugfix,|": Piece(FieldName.TYPE, "", 12, 12, ("bugfix",)),
    "type:bugfix,fe|,test": Piece(FieldName.TYPE, "fe", 12, 14, ("bugfix", "test")),
    "type:|,bugfix": Piece(FieldName.TYPE, "", 5, 5, ("bugfix",)),
    'project:"my a|': Piece(FieldName.PROJECT, "my a", 8, 13),
    'project:"my a|pp" login': Piece(FieldName.PROJECT, "my a", 8, 16),
    'project:"my a| type:bugfix': Piece(FieldName.PROJECT, "my a", 8, 13),
    'project:"say ""h|i"" twice"': Piece(FieldName.PROJECT, 'say "h', 8, 26),
    'project:“my a|”,"b c"': Piece(FieldName.PROJECT, "my a", 8, 14, ("b c",)),
    'project:|"my app"': Piece(FieldName.PROJECT, "", 8, 16),
    "kind:let|": Piece(FieldName.KIND, "let", 5, 8),
    "is:|": Piece(FieldName.IS, "", 3, 3),
    "after:2026-01-20T10:00:00,|": Piece(FieldName.AFTER, "2026-01-20T10:00:00,", 6, 26),
    "file:f(x|)": Piece(FieldName.FILE, "f(x", 5, 9),
}
NOTHING = ["lo|gin", '"type:|"', '"type:b|', "OR|", "log|*", "log*|", "OR| x"]


def at_mark(marked: str) -> Piece | None:
    return piece_at(marked.replace("|", "", 1), marked.index("|"))


@pytest.mark.parametrize(("marked", "piece"), (NAMES | VALUES).items(), ids=(NAMES | VALUES).keys())
def test_caret_stands_in_a_name_or_a_value(marked: str, piece: Piece) -> None:
    assert at_mark(marked) == piece


@pytest.mark.parametrize("marked", NOTHING)
def test_caret_stands_in_nothing_that_can_be_completed(marked: str) -> None:
    assert at_mark(marked) is None


@pytest.mark.parametrize("caret", [-1, 6, 10**9])
def test_caret_outside_of_the_text_stands_in_nothing(caret: int) -> None:
    assert piece_at("type:", caret) is None


def test_caret_beyond_what_is_read_stands_in_nothing() -> None:
    assert piece_at("a" * 10_000 + " type:", 10_006) is None


@given(query_texts, st.integers(0, 80))
def test_piece_lies_around_the_caret(text: str, caret: int) -> None:
    piece = piece_at(text, caret)
    assert piece is None or 0 <= piece.start <= caret <= piece.end <= len(text)


@given(st.text(max_size=12), st.sampled_from([FieldName.PROJECT, FieldName.CONCEPT, FieldName.FILE]))
def test_written_value_is_read_again(value: str, name: FieldName) -> None:
    text = f"x {name}:{value_text(name, value)}"
    piece = piece_at(text, len(text))
    assert piece is not None
    assert (piece.name, piece.typed, piece.end) == (name, value, len(text))
    assert parse(text).notes == ()
