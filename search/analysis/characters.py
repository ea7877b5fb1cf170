"""Characters: what vanishes, what is the same, and what is folded before words are compared."""

import re
import unicodedata
from collections.abc import Iterable

_ESCAPES = (
    r"\x1b\[[0-?]*[ -/]*[@-~]?|\x9b[0-?]+[@-~]"  # CSI: colours, cursor
    r"|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)"  # OSC (links, titles) and the other strings
    r"|\x1b[ -/]+[0-~]|\x1b[@-Z\\-_]"
)
_CONTROLS = r"\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f"
_JOINERS = "\u200c\u200d"
_EMOJI_STYLE = "\ufe0f"
_INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0e\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_EMOJI = "\u00a9\u00ae\u2000-\u3300\U0001f000-\U0001faff"
_JOINING_SCRIPTS = "\u0600-\u08ff\u0900-\u0dff\u1000-\u109f"

# Joiners and the emoji style are part of what a reader sees, but only where they have something to act on.
_REMOVED_FOR_READERS = re.compile(
    rf"{_ESCAPES}|[{_CONTROLS}{_INVISIBLE}]|(?<![{_EMOJI}#*0-9]){_EMOJI_STYLE}"
    rf"|(?<![{_EMOJI}{_JOINING_SCRIPTS}])(?<![{_EMOJI}]{_EMOJI_STYLE})[{_JOINERS}]"
)
_REMOVED = re.compile(rf"{_ESCAPES}|[{_CONTROLS}{_INVISIBLE}{_JOINERS}{_EMOJI_STYLE}]")

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_APOSTROPHES = "\u2018\u2019\u201b\u02bb\u02bc\u055a\uff07"
_BLANK_CONTROLS = "\x0b\x0c\x1c\x1d\x1e\x1f\x85"
_UNUSUAL = re.compile(
    rf"[{_CONTROLS}{_INVISIBLE}{_JOINERS}{_EMOJI_STYLE}{_APOSTROPHES}{_BLANK_CONTROLS}\r\ud800-\udfff\uff01-\uff5e]"
)
_SURROGATES = dict.fromkeys(range(0xD800, 0xE000), "\ufffd")
_BLANKS = dict.fromkeys(map(ord, _BLANK_CONTROLS), " ")
_SHOWN = {**_SURROGATES, **_BLANKS, ord("\r"): "\n"}
# Full-width forms are one to one with ASCII: mapped before anything is cut, so that rules about "." and "+" see them.
_UNIFIED = {
    **_SHOWN,
    **{0xFEE0 + code: chr(code) for code in range(0x21, 0x7F)},
    **dict.fromkeys(map(ord, _APOSTROPHES), "'"),
}


def clean(text: str) -> str:
    """Return the text without what a reader cannot see: ANSI escapes, controls other than newline and tab, bidi and
    zero-width characters. Line ends become newlines, lone surrogates U+FFFD. Joiners stay inside emoji and in the
    scripts that need them.
    """
    if text.isascii() and not _CONTROL.search(text):
        return text
    return _REMOVED_FOR_READERS.sub("", text.replace("\r\n", "\n")).translate(_SHOWN)


def unify(text: str) -> str:
    """Return the text as words are cut from it: nothing invisible, one kind of apostrophe, no full-width ASCII."""
    if text.isascii():
        return text if not _CONTROL.search(text) else _REMOVED.sub("", text).translate(_UNIFIED)
    return text if not _UNUSUAL.search(text) else _REMOVED.sub("", text).translate(_UNIFIED)


def kept_offsets(text: str) -> list[int]:
    """Return, for each code point of `unify(text)`, where it stands in the text."""
    kept: list[int] = []
    start = 0
    for removed in _REMOVED.finditer(text):
        kept.extend(range(start, removed.start()))
        start = removed.end()
    kept.extend(range(start, len(text)))
    return kept


def _character_class(categories: str, blocks: Iterable[tuple[int, int]]) -> str:
    """Return the inside of a regular expression's set: the code points of the blocks in these general categories."""
    ranges: list[list[int]] = []
    for first, last in blocks:
        for code in range(first, last + 1):
            if unicodedata.category(chr(code))[0] in categories:
                if ranges and ranges[-1][1] == code - 1:
                    ranges[-1][1] = code
                else:
                    ranges.append([code, code])
    return "".join(rf"\U{first:08x}-\U{last:08x}" for first, last in ranges)


MARKS = _character_class(
    "M",
    [
        *[(0x300, 0x36F), (0x483, 0x489), (0x591, 0x6ED), (0x711, 0x1CFF), (0x1DC0, 0x1DFF), (0x20D0, 0x20FF)],
        *[(0x2CEF, 0x2DFF), (0x302A, 0x309A), (0xA66F, 0xA6F1), (0xA802, 0xABED), (0xFB1E, 0xFB1E), (0xFE20, 0xFE2F)],
        *[(0x101FD, 0x11FFF), (0x16AF0, 0x16FFF), (0x1E000, 0x1E94A)],
    ],
)
# Marks that readers leave out: accents, Cyrillic titlo, Hebrew and Arabic points, the Arabic stretch (a letter).
OPTIONAL_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u08ca-\u08e1\u08e3-\u08ff"
)
_OPTIONAL = re.compile(f"[{OPTIONAL_MARKS}]")
_LETTERS = {"ı": "i", "ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ŧ": "t", "æ": "ae", "œ": "oe", "ð": "d", "þ": "th"}


class _Folds(dict[int, str]):
    """Code point -> what it is compared as; computed when first met, forgotten when there are too many."""

    def __missing__(self, code: int) -> str:
        if len(self) > 20_000:
            self.clear()
        self[code] = folded = _fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str:
    if "\u0400" <= character <= "\u052f":  # in Cyrillic a mark makes another letter, save in yo
        lowered = character.casefold()
        return {"\u0451": "\u0435"}.get(lowered, _OPTIONAL.sub("", lowered))
    bare = _without_marks(_without_marks(character).casefold())
    return "".join(_LETTERS.get(letter, letter) for letter in bare)


def _without_marks(text: str) -> str:
    decomposed = unicodedata.normalize("NFD", text)
    bare = _OPTIONAL.sub("", decomposed)
    return text if bare == decomposed else unicodedata.normalize("NFC", bare)


_FOLDS = _Folds()


def fold(text: str) -> str:
    """Return NFKC text as it is compared: casefolded, without optional marks, Latin letters in their ASCII form."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text.translate(_FOLDS))


def normalize(text: str) -> str:
    """Return the text with everything that search ignores levelled: `unify`, NFKC, and `fold`. Blanks stay."""
    return fold(unicodedata.normalize("NFKC", unify(text)))
