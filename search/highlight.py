"""Marks of what matched, in the original text, and the piece of a text that shows it best."""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from search.analysis import Alternative, Span, clean, spans
from search.keyword.expression import AnyPhrase

SNIPPET_LENGTH = 260
# Longer texts are searched for marks in their beginning only; the index still holds all of them.
MARKED_LENGTH = 20_000
CACHED_LENGTH = 60

_PIECE = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Range:
    start: int
    end: int


class Highlighter:
    """Finds the words of a query in texts, by the same analysis that the index uses."""

    def __init__(self, words: Iterable[AnyPhrase]) -> None:
        forms = [(alternative, word.exact) for word in words for alternative in word.alternatives]
        single = [(one, exact) for one, exact in forms if len(one.atoms) == 1]
        self._single = {one.atoms[0] for one, exact in single if not one.prefix and not exact}
        self._exact = {one.atoms[0] for one, exact in single if not one.prefix and exact}
        self._prefixes = tuple({one.atoms[0] for one, _ in single if one.prefix})
        self._phrases = [(one, exact) for one, exact in forms if len(one.atoms) > 1]
        self._firsts = {one.atoms[0] for one, _ in self._phrases}
        self._reach = max((len(one.atoms) for one, _ in self._phrases), default=0)
        self._wanted = self._single | self._exact | self._firsts
        self._known: dict[str, list[Range]] = {}
        self._pieces: dict[str, tuple[list[Range], bool] | None] = {}

    @property
    def is_empty(self) -> bool:
        return not (self._single or self._exact or self._prefixes or self._phrases)

    def ranges(self, text: str) -> list[Range]:
        """Return where the text matches, in order, without overlaps."""
        if self.is_empty or not text:
            return []
        if text not in self._known:
            self._known[text] = _merged(list(self._matches(text)))
        return self._known[text]

    def _matches(self, text: str) -> Iterator[Range]:
        pieces = [(one.start(), one[0]) for one in _PIECE.finditer(text[:MARKED_LENGTH])]
        for place, (start, piece) in enumerate(pieces):
            if piece not in self._pieces:
                self._pieces[piece] = self._look_at(piece) if self._may_match(piece) else None
            found = self._pieces[piece]
            if found is None:
                continue
            ranges, begins_phrase = found
            for one in ranges:
                yield Range(start + one.start, start + one.end)
            if begins_phrase:
                yield from self._phrases_from(pieces[place : place + self._reach])

    def _may_match(self, piece: str) -> bool:
        """Return quickly whether a piece is worth a look: most are not."""
        tokens = _piece_tokens(piece)
        return not self._wanted.isdisjoint(tokens) or (
            bool(self._prefixes) and any(token.startswith(self._prefixes) for token in tokens)
        )

    def _look_at(self, piece: str) -> tuple[list[Range], bool]:
        """Return where single words match in a piece without blanks, and whether a phrase may begin in it."""
        ranges = []
        begins_phrase = False
        for span in _piece_spans(piece):
            begins_phrase = begins_phrase or not self._firsts.isdisjoint(span.tokens)
            if span.atom in self._exact or self._single & span.tokens:
                ranges.append(Range(span.start, span.end))
            elif self._prefixes and any(token.startswith(self._prefixes) for token in span.tokens):
                # A pair of characters found by its first one: only that one was asked for.
                is_half = span.end - span.start == 2 and not piece[span.start].isascii()
                ranges.append(Range(span.start, span.end - is_half))
        return ranges, begins_phrase

    def _phrases_from(self, pieces: Sequence[tuple[int, str]]) -> Iterator[Range]:
        """Yield the phrases that begin in the first of some pieces."""
        first = len(_piece_spans(pieces[0][1]))
        found = [
            Span(one.start + start, one.end + start, one.atom, one.tokens)
            for start, piece in pieces
            for one in _piece_spans(piece)
        ]
        for place in range(first):
            for phrase, exact in self._phrases:
                if _begins(phrase, found, place, exact=exact):
                    yield Range(found[place].start, found[place + len(phrase.atoms) - 1].end)

    def marked(self, text: str) -> SafeString:
        """Return the text, cleaned and escaped, with its matches in <mark>."""
        text = clean(text)
        return _html(text, self.ranges(text))

    def snippet(self, text: str, length: int = SNIPPET_LENGTH) -> SafeString:
        """Return the part of the text with the most matches, at most about `length` characters, escaped and marked."""
        text = flattened(text)
        found = self.ranges(text)
        start, end = _best_window(text, found, length)
        inside = [
            Range(max(one.start, start), min(one.end, end)) for one in found if one.start < end and one.end > start
        ]
        html = _html(text[start:end], [Range(one.start - start, one.end - start) for one in inside])
        return mark_safe(("… " if start else "") + html + (" …" if end < len(text) else ""))  # noqa: S308 - escaped above


def flattened(text: str) -> str:
    """Return a text on one line, without control characters, cut to what is searched for marks."""
    return " ".join(clean(text[: MARKED_LENGTH * 2]).split())


def _begins(phrase: Alternative, found: Sequence[Span], place: int, *, exact: bool) -> bool:
    """Return whether a phrase begins at a place in the spans of a text, when exact not by other forms of its words."""
    last = len(phrase.atoms) - 1
    if place + last >= len(found):
        return False
    for number, atom in enumerate(phrase.atoms):
        span = found[place + number]
        tokens = {span.atom} if exact else span.tokens
        if atom not in tokens and not (
            phrase.prefix and number == last and any(token.startswith(atom) for token in tokens)
        ):
            return False
    return True


def _piece_spans(piece: str) -> tuple[Span, ...]:
    """Return the spans of a piece without blanks; most pieces have been seen before."""
    return _short_piece_spans(piece) if len(piece) <= CACHED_LENGTH else tuple(spans(piece))


def _piece_tokens(piece: str) -> frozenset[str]:
    """Return all that a piece is found under."""
    return _short_piece_tokens(piece) if len(piece) <= CACHED_LENGTH else _tokens(_piece_spans(piece))


@lru_cache(maxsize=50_000)
def _short_piece_tokens(piece: str) -> frozenset[str]:
    return _tokens(_short_piece_spans(piece))


def _tokens(found: Iterable[Span]) -> frozenset[str]:
    return frozenset(token for span in found for token in (*span.tokens, span.atom))


@lru_cache(maxsize=50_000)
def _short_piece_spans(piece: str) -> tuple[Span, ...]:
    return tuple(spans(piece))


def _merged(ranges: Sequence[Range]) -> list[Range]:
    merged: list[Range] = []
    for one in sorted(ranges, key=lambda one: (one.start, -one.end)):
        if merged and one.start <= merged[-1].end:
            merged[-1] = Range(merged[-1].start, max(one.end, merged[-1].end))
        else:
            merged.append(one)
    return merged


def _html(text: str, ranges: Sequence[Range]) -> SafeString:
    parts, at = [], 0
    for one in ranges:
        parts += [escape(text[at : one.start]), "<mark>", escape(text[one.start : one.end]), "</mark>"]
        at = one.end
    parts.append(escape(text[at:]))
    return mark_safe("".join(parts))  # noqa: S308 - every piece is escaped


def _best_window(text: str, ranges: Sequence[Range], length: int) -> tuple[int, int]:
    """Return start and end of the window with the most marked characters, widened to whole words."""
    if len(text) <= length:
        return 0, len(text)
    best_start, best = 0, -1
    starts = [one.start for one in ranges]
    for number, one in enumerate(ranges):
        last = bisect_left(starts, one.start + length)
        weight = sum(inner.end - inner.start for inner in ranges[number:last])
        if weight > best:
            best_start, best = one.start, weight
    start = max(0, min(best_start - length // 5, len(text) - length))
    end = min(len(text), start + length)
    if start and (blank := text.find(" ", start, start + 30)) >= 0:
        start = blank + 1
    if end < len(text) and (blank := text.rfind(" ", end - 30, end)) >= 0:
        end = blank
    return start, end
