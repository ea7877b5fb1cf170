"""What differs between two values, word by word."""

import re
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
# Comparing takes time with the square of the words: longer texts are shown one after the other.
MOST_WORDS = 4_000
KEPT_AROUND = 12


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text: `same`, `removed` or `added`."""

    text: str
    state: str


def word_difference(old: str, new: str) -> list[Piece]:
    """Return the pieces that lead from one text to the other; of long stretches that are the same, the ends."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if len(before) + len(after) > MOST_WORDS:
        return [Piece(text, state) for text, state in ((old, "removed"), (new, "added")) if text]
    pieces: list[Piece] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece(_shortened(before[a:b]), "same"))
            continue
        if b > a:
            pieces.append(Piece("".join(before[a:b]), "removed"))
        if d > c:
            pieces.append(Piece("".join(after[c:d]), "added"))
    return pieces


def as_text(value: Any) -> str:
    """Return a value of a memory as people read it: lists line by line, pairs with a comma, nothing as nothing."""
    match value:
        case None | "":
            return ""
        case bool():
            return "yes" if value else "no"
        case list():
            return "\n".join(", ".join(map(str, one)) if isinstance(one, list) else str(one) for one in value)
        case _:
            return str(value)


def _shortened(words: list[str]) -> str:
    if len(words) <= 3 * KEPT_AROUND:
        return "".join(words)
    return "".join([*words[:KEPT_AROUND], " … ", *words[-KEPT_AROUND:]])
