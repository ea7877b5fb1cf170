"""What a caret stands in: a word that may become the name of a field, or one value of a field."""

from dataclasses import dataclass

from search.query.fields import FieldName
from search.query.parser import MAX_LENGTH
from search.query.tokens import Token, TokenKind, Value, scan


@dataclass(frozen=True, slots=True)
class Piece:
    """The part of a query that is being typed.

    `typed` is what stands before the caret, without quotes; `start` and `end` are the offsets of what a completion
    replaces. `name` is None while a name is typed; `others` are the further values of the field.
    """

    name: FieldName | None
    typed: str
    start: int
    end: int
    others: tuple[str, ...] = ()


def piece_at(text: str, caret: int) -> Piece | None:
    """Return what the caret stands in, None in a phrase, an operator, or where a word is not at its end.

    Between pieces that is a name of which nothing is typed yet. Never raises; time is linear in the text.
    """
    if not 0 <= caret <= min(len(text), MAX_LENGTH):
        return None
    start = 0
    for token in scan(text[:MAX_LENGTH]):
        start += len(text[start : token.end]) - len(text[start : token.end].lstrip())
        if caret < start:
            break
        # A sign is no word: what touches it from behind has not begun.
        if caret < token.end or (caret == token.end and token.kind not in _SIGNS):
            return _inside(text, token, start, caret)
        start = token.end
    return Piece(None, "", caret, caret)


_SIGNS = frozenset({TokenKind.NOT, TokenKind.OPEN, TokenKind.CLOSE})


def _inside(text: str, token: Token, start: int, caret: int) -> Piece | None:
    if token.name is None:
        is_word = token.kind is TokenKind.WORD and caret == token.end
        return Piece(None, token.text, start, caret) if is_word else None
    first = token.written[0].start
    if caret < first:
        return Piece(None, text[start:caret], start, first)
    # A caret between two values stands at the end of the first one.
    at = next(value for value in token.written if caret <= value.end)
    others = tuple(value.text for value in token.written if value is not at and value.text)
    # A quote that is not closed runs to the end of the text, over what was there before it was typed.
    return Piece(token.name, _typed(text, token.name, at, caret), at.start, at.end if at.is_closed else caret, others)


def _typed(text: str, name: FieldName, value: Value, caret: int) -> str:
    """Return the value as it would be if the text ended at the caret."""
    if not value.is_quoted:
        return text[value.start : caret]
    [token] = scan(f"{name}:{text[value.start : caret]}")
    return token.written[0].text
