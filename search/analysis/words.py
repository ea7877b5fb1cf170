"""Words: a blank-delimited chunk of text cut into pieces, and pieces into atoms, the tokens of the index."""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import add

from search.analysis.characters import MARKS, OPTIONAL_MARKS, fold
from search.analysis.stems import STOP_WORDS

MAX_ATOM = 64  # characters; what is longer is cut, at write time and at query time alike
_MAX_WORD = 200  # a longer word is a blob: only its beginning is kept

# Scripts that set no blanks between words, or join prefixes to them, without their decimal digits: Hebrew, Arabic,
# Thai, Lao, Myanmar, Khmer, Hangul, kana, Bopomofo, Han.
_UNSPACED = (
    "\u0591-\u05f2\u0610-\u065f\u066e-\u06ef\u06fa-\u06ff\u0750-\u077f\u0870-\u08ff"
    "\u0e01-\u0e4f\u0e81-\u0ecf\u0edc-\u0edf"
    "\u1000-\u103f\u104a-\u108f\u109a-\u109f\ua9e0-\ua9ef\ua9fa-\ua9fe\uaa60-\uaa7f\u1780-\u17df"
    "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7fb"
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u302f\u3031-\u3035\u3041-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\U0001aff0-\U0001b16f\U00020000-\U0003ffff"
)
_PIECE = re.compile(
    rf"(?P<run>(?![{OPTIONAL_MARKS}])(?:(?=[{_UNSPACED}])(?:[^\W\d_]|[{MARKS}])|[{OPTIONAL_MARKS}])++)"
    r"|(?P<language>[cCgG]\+\+|[cCfF]#)"
    r"|(?P<version>[vV])(?=[0-9]+\.[0-9])"
    rf"|(?P<word>(?:(?:[A-Za-z0-9]++|(?![{_UNSPACED}])[^\W_])(?:(?![{_UNSPACED}])[{MARKS}])*+(?:'(?=[^\W_])(?![{_UNSPACED}]))?+)++)"
)
_RAW_WORD = re.compile(rf"(?:[^\W_][{MARKS}]*+)++")
_CLUSTER = re.compile(rf"(?s:.)[{MARKS}\u1160-\u11ff\uff9e\uff9f]*")
_BLOB = re.compile(rf"[A-Za-z0-9+/_-]{{{_MAX_WORD},}}")

# aB, ABcd and 2Bc begin a new word; the plural of an acronym (URLs) does not.
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z](?!s$)[a-z])")
_CONTRACTIONS = frozenset({"d", "ll", "m", "re", "ve"})


@dataclass(frozen=True, slots=True)
class Piece:
    """A word (`softLogout`, `don't`, `c++`) or, when `run`, a stretch of a script without blanks.

    `joined` is the whole piece as one token; `split` says that the atoms do not show it. `places` are the start and
    end of each atom in the normal form of the chunk; those of a run follow from its `source`.
    """

    atoms: tuple[str, ...]
    joined: str
    start: int
    places: tuple[tuple[int, int], ...] = ()
    split: bool = False
    run: bool = False
    source: str = ""

    def bounds(self) -> Sequence[tuple[int, int]]:
        """Return the start and end of each atom in the normal form of the chunk."""
        if not self.run:
            return self.places
        if self.joined == self.source:
            origins = [(place, place + 1) for place in range(len(self.source))]
        else:
            origins = align(self.source, fold)
        starts = [self.start + start for start, _ in origins]
        ends = [self.start + end for _, end in origins]
        return list(zip(starts, ends[1:] + ends[-1:], strict=True))


def normal_form(chunk: str) -> str:
    """Return a unified chunk with its words in NFKC and blobs (base64 and the like) blanked after their beginning.

    Symbols stay as they are: NFKC would glue the letters of a trade mark sign to the word before it.
    """
    if len(chunk) >= _MAX_WORD:
        chunk = _BLOB.sub(_blanked, chunk)
    if chunk.isascii():
        return chunk
    return _RAW_WORD.sub(_in_nfkc, chunk).replace("\u02bc", "'")


def _in_nfkc(word: re.Match[str]) -> str:
    return unicodedata.normalize("NFKC", word[0])


def _blanked(match: re.Match[str]) -> str:
    text = match[0]
    separators = sum(map(text.count, "+/_-"))
    if separators * 16 > len(text) or text.islower() or text.isupper() or not any(map(text.__contains__, "0123456789")):
        return text
    return text[:MAX_ATOM].ljust(len(text))


def align(source: str, transform: Callable[[str], str]) -> list[tuple[int, int]]:
    """Return, for each character of `transform(source)`, the start and end in the source that it comes from."""
    origins: list[tuple[int, int]] = []
    start = 0
    for cluster in _CLUSTER.findall(source):
        end = start + len(cluster)
        origins += [(start, end)] * len(transform(cluster))
        start = end
    length = len(transform(source))
    return origins if len(origins) == length else [(0, len(source))] * length


def pieces(text: str) -> list[Piece]:
    """Return the pieces of a chunk in normal form, in order, each with at least one atom."""
    found: list[Piece] = []
    versioned = False
    for match in _PIECE.finditer(text):
        match match.lastgroup:
            case "version":
                versioned = True
                continue
            case "run":
                piece = _run(match[0], match.start())
            case "language":
                piece = Piece((match[0].lower(),), match[0].lower(), match.start(), (match.span(),))
            case _:
                piece = _word(match[0], match.start())
        if versioned:  # "v10.6" is found as 10.6, and still while only "v1" is typed
            piece, versioned = replace(piece, joined=("v" + piece.joined)[:MAX_ATOM], split=True), False
        if piece.atoms:
            found.append(piece)
    return found


def _run(text: str, start: int) -> Piece:
    """Return a run as overlapping pairs of characters and, to close it, its last character alone."""
    folded = fold(text)
    return Piece((*map(add, folded, folded[1:]), *folded[-1:]), folded, start, run=True, source=text)


def _word(text: str, start: int) -> Piece:
    if len(text) > _MAX_WORD:
        beginning = fold(text[:MAX_ATOM])[:MAX_ATOM]
        return Piece((beginning,) if beginning else (), beginning, start, ((start, start + len(text)),))
    parts = text.split("'")
    if len(parts) > 1 and parts[-1] in {"s", "S"}:
        del parts[-1]
    contracted = len(parts) == 2 and fold(parts[1]) in _CONTRACTIONS and fold(parts[0]) in STOP_WORDS
    atoms: list[str] = []
    places: list[tuple[int, int]] = []
    offset, before = start, ""
    for part in parts:
        if part in {"t", "T"} and before[-1:] in {"n", "N"}:
            atoms[-1] = (atoms[-1] + "t")[:MAX_ATOM]
            places[-1] = (places[-1][0], offset + 1)
        else:
            cuts = [] if contracted else [cut.start() for cut in _CAMEL.finditer(_shape(part))]
            for first, last in pairwise([0, *cuts, len(part)]):
                if atom := fold(part[first:last])[:MAX_ATOM]:
                    atoms.append(atom)
                    places.append((offset + first, offset + last))
        offset, before = offset + len(part) + 1, part
    joined = "".join(atoms)[:MAX_ATOM]
    split = len(atoms) > 1 and not contracted  # "shell" does not find "she'll"
    return Piece(tuple(atoms), joined, start, tuple(places), split)


def _shape(word: str) -> str:
    """Return the word with every other letter replaced by an ASCII letter of the same case, marks by their letter."""
    if word.isascii():
        return word
    shape: list[str] = []
    for letter in word:
        if letter.isascii():
            shape.append(letter)
        elif letter.isupper() or letter.istitle():
            shape.append("A")
        elif letter.islower():
            shape.append("a")
        else:
            shape.append(shape[-1] if shape and unicodedata.category(letter)[0] == "M" else "0")
    return "".join(shape)


def groups(found: Sequence[Piece]) -> Iterator[Sequence[Piece]]:
    """Yield what is sought as one: neighbouring words of a chunk (a path, a version) together, each run alone."""
    start = 0
    for place, piece in enumerate(found):
        if piece.run:
            if start < place:
                yield found[start:place]
            yield found[place : place + 1]
            start = place + 1
    if start < len(found):
        yield found[start:]
