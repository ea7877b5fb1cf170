"""What the parser tells the person who typed the query: plain sentences with a stable code."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from search.query.fields import KINDS, STATES, TIME_FIELDS, TIME_FORMS, FieldName

_LONGEST_QUOTE = 60


class NoteCode(StrEnum):
    UNCLOSED_QUOTE = "unclosed-quote"
    UNCLOSED_GROUP = "unclosed-group"
    STRAY_PARENTHESIS = "stray-parenthesis"
    DANGLING_OPERATOR = "dangling-operator"
    LONE_MINUS = "lone-minus"
    CAPITAL_NOT = "capital-not"
    EMPTY_FIELD = "empty-field"
    WRONG_VALUE = "wrong-value"
    TOO_DEEP = "too-deep"
    TOO_MANY_WORDS = "too-many-words"
    TOO_MANY_VALUES = "too-many-values"
    TOO_LONG = "too-long"


@dataclass(frozen=True, slots=True)
class Note:
    code: NoteCode
    message: str


UNCLOSED_QUOTE = Note(NoteCode.UNCLOSED_QUOTE, "A quote is not closed, so it was read up to the end of the search.")
UNCLOSED_GROUP = Note(NoteCode.UNCLOSED_GROUP, "A ( is not closed, so its group was read up to the end of the search.")
STRAY_PARENTHESIS = Note(NoteCode.STRAY_PARENTHESIS, "A ) that closes nothing was left out.")
LONE_MINUS = Note(
    NoteCode.LONE_MINUS,
    "A - that stands alone excludes nothing; put it right before a word, as in -draft.",
)
CAPITAL_NOT = Note(
    NoteCode.CAPITAL_NOT,
    "NOT is a word like any other and excludes nothing; put a - right before a word, as in -draft.",
)


def operator_without_left(operator: str) -> Note:
    fate = "was left out" if operator == "|" else "was searched as a word"
    return Note(NoteCode.DANGLING_OPERATOR, f"{operator} has nothing before it, so it {fate}.")


def operator_without_right(operator: str) -> Note:
    return Note(NoteCode.DANGLING_OPERATOR, f"{operator} has nothing after it, so it was left out.")


def operator_beside_nothing(operator: str) -> Note:
    return Note(NoteCode.DANGLING_OPERATOR, f"{operator} stands beside an empty quote or group, so it was left out.")


def empty_field(name: FieldName) -> Note:
    return Note(NoteCode.EMPTY_FIELD, f"{name}: has no value yet, so it was searched as a word.")


def wrong_values(name: FieldName, values: Iterable[str]) -> Note:
    named = ", ".join(f"“{_shortened(value)}”" for value in values)
    return Note(
        NoteCode.WRONG_VALUE,
        f"{name}: does not take {_shortened(named)}, so it was searched as words. Use {_accepted_by(name)}.",
    )


@cache
def too_deep(limit: int) -> Note:
    return Note(NoteCode.TOO_DEEP, f"Groups nest deeper than {limit} levels; the parentheses inside were left out.")


def too_many_words(limit: int, left_out: int) -> Note:
    rest = "1 more was" if left_out == 1 else f"{left_out} more were"
    return Note(NoteCode.TOO_MANY_WORDS, f"Only the first {limit} words of the search were used; {rest} left out.")


def too_many_values(limit: int, left_out: int) -> Note:
    rest = "1 more was" if left_out == 1 else f"{left_out} more were"
    return Note(NoteCode.TOO_MANY_VALUES, f"Only the first {limit} values of fields were used; {rest} left out.")


def too_long(limit: int) -> Note:
    return Note(
        NoteCode.TOO_LONG,
        f"The search is too long; only its beginning was used, at most {limit:,} characters.",
    )


def _accepted_by(name: FieldName) -> str:
    if name in TIME_FIELDS:
        return TIME_FORMS
    match name:
        case FieldName.KIND:
            return _alternatives(KINDS)
        case FieldName.IS:
            return _alternatives(STATES)
        case _:
            return "refs such as o12, S45, #12 or 12"


def _alternatives(values: tuple[str, ...]) -> str:
    return f"{', '.join(values[:-1])} or {values[-1]}"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_QUOTE else f"{text[: _LONGEST_QUOTE - 1]}…"
