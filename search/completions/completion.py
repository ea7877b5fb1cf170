"""Query text and caret -> what may stand there: the page object of the list below the search box."""

from dataclasses import dataclass

from django.utils import timezone

from search.analysis import clean
from search.completions.columns import suggest_agents, suggest_platforms, suggest_rooms, suggest_types
from search.completions.files import suggest_files
from search.completions.names import CONCEPTS, PROJECTS, TAGS
from search.completions.sessions import suggest_sessions
from search.completions.suggestion import SHOWN, Suggestion
from search.completions.words import suggest_kinds, suggest_names, suggest_states, suggest_times
from search.query import FieldName, Piece, piece_at, value_text
from search.texts import whole_characters

_SOURCES = {
    FieldName.TYPE: suggest_types,
    FieldName.PROJECT: PROJECTS.suggest,
    FieldName.CONCEPT: CONCEPTS.suggest,
    FieldName.TAG: TAGS.suggest,
    FieldName.FILE: suggest_files,
    FieldName.SESSION: suggest_sessions,
    FieldName.PLATFORM: suggest_platforms,
    FieldName.ROOM: suggest_rooms,
    FieldName.AGENT: suggest_agents,
    FieldName.KIND: suggest_kinds,
    FieldName.IS: suggest_states,
}


@dataclass(frozen=True, slots=True)
class Option:
    """One line of the list: what is read of it, and the text that it puts in the place of the piece."""

    label: str
    note: str
    count_label: str
    text: str
    goes_on: bool


@dataclass(frozen=True, slots=True)
class CompletionList:
    """What is offered for a query with its caret at `caret`, to replace what lies from `start` to `end`.

    `waits` is to be asked for: before anything is typed it would only be in the way.
    """

    query: str
    caret: int
    label: str
    start: int
    end: int
    options: list[Option]
    waits: bool = False


def complete(query: str, caret: int) -> CompletionList:
    """Return what may stand at the caret; an empty list where nothing can be known."""
    piece = piece_at(query, caret)
    if piece is None:
        return CompletionList(query, caret, "", caret, caret, [])
    if piece.name is None:
        label, options = "Fields", [_name_option(one) for one in suggest_names(piece.typed)]
    else:
        label = f"Values of {piece.name}"
        options = [_value_option(query, piece, one) for one in suggest_values(piece)[:SHOWN]]
    waits = piece.name is None and not piece.typed
    return CompletionList(query, caret, label, piece.start, piece.end, options, waits)


def suggest_values(piece: Piece) -> list[Suggestion]:
    """Return values of the field that is typed, without those that it has already."""
    if piece.name in (FieldName.AFTER, FieldName.BEFORE):
        return suggest_times(piece.typed, timezone.localtime())
    suggest = _SOURCES.get(piece.name) if piece.name else None
    found = suggest(whole_characters(piece.typed)) if suggest else []
    left = [one for one in found if one.value not in piece.others]
    # A value that is typed in full and begins no other needs no completion.
    return [] if piece.typed and [one.value for one in left] == [piece.typed] else left


def _name_option(one: Suggestion) -> Option:
    return Option(f"{one.value}:", one.note, "", f"{one.value}:", goes_on=True)


def _value_option(query: str, piece: Piece, one: Suggestion) -> Option:
    text = value_text(piece.name, one.value) if piece.name else one.value
    # What is complete is followed by the next word, unless something follows already.
    is_last = not one.goes_on and piece.end == len(query)
    count = f"{one.count:,}" if one.count else ""
    return Option(
        clean(one.label or one.value), clean(one.note), count, f"{text} " if is_last else text, goes_on=one.goes_on
    )
