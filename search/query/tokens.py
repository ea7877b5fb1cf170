"""Query text -> tokens, in one linear pass. Every string has tokens; what looks wrong carries a note."""

import re
import string
from collections.abc import Iterator
from enum import Enum, auto
from typing import NamedTuple

from search.query import notes
from search.query.fields import TIME_FIELDS, FieldName, accepted_value
from search.query.notes import Note

QUOTES = '"“”„'
OPERATORS = frozenset({"OR", "AND", "|"})

_NOT_BLANK = re.compile(r"\S")
_CHUNK = re.compile(rf"[^\s{QUOTES}]*")
_PARENTHESIS = re.compile(r"[()]")
_PARENTHESIS_OR_COMMA = re.compile(r"[(),]")
_FIELD = re.compile(r"([A-Za-z]+):")
_STARS = re.compile(rf"\*+(?=[\s(){QUOTES}]|\Z)")
_CURLY_END = re.compile(rf"[{QUOTES}]")
_FIELD_NAMES = {str(name): name for name in FieldName}


class TokenKind(Enum):
    WORD = auto()
    PHRASE = auto()
    PREFIX = auto()
    FIELD = auto()
    NOT = auto()
    AND = auto()
    OR = auto()
    OPEN = auto()
    CLOSE = auto()


class Value(NamedTuple):
    """A value of a field where it stands in the text: `start` and `end` are offsets, its quotes included."""

    text: str
    start: int
    end: int
    is_quoted: bool = False
    is_closed: bool = True


class Token(NamedTuple):
    """One piece of a query. `end` is the offset behind it; `name` and `values` belong to fields.

    `written` holds every value as typed, also those that the field does not take and those that are still empty; a
    word or phrase that was meant as a field has them too, and its `name`.
    A named tuple because a pasted text makes thousands of them, three times as fast as dataclasses.
    """

    kind: TokenKind
    text: str
    end: int
    name: FieldName | None = None
    values: tuple[str, ...] = ()
    note: Note | None = None
    written: tuple[Value, ...] = ()


def scan(text: str) -> Iterator[Token]:
    """The tokens of text, in order. Time is linear in its length; nothing raises.

    A NOT is always followed by the token it negates.
    """
    return _Scanner(text).tokens()


class _Scanner:
    def __init__(self, text: str) -> None:
        self._text = text
        self._chunk_end = 0
        self._closings: dict[int, int] = {}

    def tokens(self) -> Iterator[Token]:
        end = 0
        while next_token := _NOT_BLANK.search(self._text, end):
            position, character = next_token.start(), next_token[0]
            if character == ")":
                token = Token(TokenKind.CLOSE, ")", position + 1)
            elif character == "(":
                token = Token(TokenKind.OPEN, "(", position + 1)
            elif character == "-" and self._negates(position):
                yield Token(TokenKind.NOT, "-", position + 1)
                if self._text[position + 1] == "(":
                    token = Token(TokenKind.OPEN, "(", position + 2)
                else:
                    token = self._negated(self._term(position + 1))
            else:
                token = self._term(position)
            yield token
            end = token.end

    def _negates(self, position: int) -> bool:
        """A minus negates what touches it, but `--flag`, `->` and a minus alone are words."""
        following = self._text[position + 1 : position + 2]
        if not following or following.isspace() or following in "-)":
            return False
        if following == "(" or following in QUOTES:
            return True
        word = self._text[position + 1 : self._word_end(position + 1)]
        return not all(character in string.punctuation for character in word)

    def _negated(self, token: Token) -> Token:
        if token.kind in (TokenKind.OR, TokenKind.AND):
            return Token(TokenKind.PHRASE, token.text, token.end)
        return token._replace(note=None) if token.note is notes.CAPITAL_NOT else token

    def _term(self, start: int) -> Token:
        if self._text[start] in QUOTES:
            return self._quoted(start)
        field = _FIELD.match(self._text, start)
        if field and (name := _FIELD_NAMES.get(field[1].lower())):
            return self._field(name, start, field.end())
        end = self._word_end(start)
        word = self._text[start:end]
        if word in OPERATORS:
            return Token(TokenKind.AND if word == "AND" else TokenKind.OR, word, end)
        stem = word.rstrip("*")
        if stem and stem != word:
            return Token(TokenKind.PREFIX, stem, end)
        return Token(TokenKind.WORD, word, end, note=self._misread_word(word, end))

    def _misread_word(self, word: str, end: int) -> Note | None:
        """The note for a word that elsewhere is an operator."""
        if word == "-":
            return notes.LONE_MINUS
        # NOT at the end may still become NOTE.
        is_not = word.startswith("NOT(") or (word == "NOT" and _NOT_BLANK.search(self._text, end))
        return notes.CAPITAL_NOT if is_not else None

    def _quoted(self, start: int) -> Token:
        content, end, closed = _read_quoted(self._text, start)
        note = None if closed else notes.UNCLOSED_QUOTE
        if stars := _STARS.match(self._text, end):
            return Token(TokenKind.PREFIX, content, stars.end(), note=note)
        return Token(TokenKind.PHRASE, content, end, note=note)

    def _field(self, name: FieldName, start: int, position: int) -> Token:
        first, note = position, None
        written: list[Value] = []
        values: list[str] = []
        # A time may hold a comma (10:00:00,5) and is never a list.
        separator = "" if name in TIME_FIELDS else ","
        while True:
            begin, closed, is_quoted = position, True, self._text[position : position + 1] in tuple(QUOTES)
            if is_quoted:
                value, position, closed = _read_quoted(self._text, begin)
                note = None if closed else notes.UNCLOSED_QUOTE
                has_value = closed or value != ""
            else:
                position = self._word_end(begin, separator)
                value = self._text[begin:position]
                has_value = value != ""
            written.append(Value(value, begin, position, is_quoted, closed))
            if has_value:
                values.append(value)
            if not separator or not self._text.startswith(separator, position):
                break
            position += 1
        accepted = [accepted_value(name, value) for value in values]
        if values and None not in accepted:
            kept = tuple(value for value in accepted if value is not None)
            return Token(TokenKind.FIELD, name, position, name, kept, note, tuple(written))
        wrong = [value for value, kept in zip(values, accepted, strict=True) if kept is None]
        problem = notes.wrong_values(name, wrong) if wrong else notes.empty_field(name)
        is_phrase = any(value.is_quoted for value in written)
        text = self._text[start:first] + ",".join(values) if is_phrase else self._text[start:position]
        kind = TokenKind.PHRASE if is_phrase else TokenKind.WORD
        return Token(kind, text, position, name, note=problem, written=tuple(written))

    def _word_end(self, start: int, separator: str = "") -> int:
        """Where the word that begins at start ends.

        Parentheses that pair up without a blank between belong to the word: `useState()`, `f(x)`.
        """
        self._enter_chunk(start)
        ends = _PARENTHESIS_OR_COMMA if separator else _PARENTHESIS
        position = start
        while stop := ends.search(self._text, position, self._chunk_end):
            if stop.start() not in self._closings:
                return stop.start()
            position = self._closings[stop.start()] + 1
        return self._chunk_end

    def _enter_chunk(self, start: int) -> None:
        """Pair the parentheses of the run without blanks and quotes, once, when a scan gets there."""
        if start < self._chunk_end:
            return
        chunk = _CHUNK.match(self._text, start)
        self._chunk_end = chunk.end() if chunk else start
        self._closings = {}
        opened = []
        for parenthesis in _PARENTHESIS.finditer(self._text, start, self._chunk_end):
            if parenthesis[0] == "(":
                opened.append(parenthesis.start())
            elif opened:
                self._closings[opened.pop()] = parenthesis.start()


def _read_quoted(text: str, start: int) -> tuple[str, int, bool]:
    """Content, offset behind it, and whether it was closed. Between straight quotes "" is a quote."""
    first = start + 1
    if text[start] != '"':
        closing = _CURLY_END.search(text, first)
        return (text[first : closing.start()], closing.end(), True) if closing else (text[first:], len(text), False)
    end = first
    while (end := text.find('"', end)) != -1:
        if not text.startswith('""', end):
            return text[first:end].replace('""', '"'), end + 1, True
        end += 2
    return text[first:].replace('""', '"'), len(text), False
