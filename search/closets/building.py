"""Makes closet lines of the drawers of a group: what each stretch of them is about, their headings, what they quote.

The same drawers always give the same lines. Nothing but their texts is used, and no words of a language except the
function words of the analyzer: a word that stands in many drawers of a group tells little of any, in every language.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log, sqrt

from search.analysis import clean
from search.analysis.stems import STOP_WORDS, stem
from search.analysis.words import normal_form, pieces

# Part of the name under which lines are stored: raise it whenever the same drawers would give other lines.
RECIPE = "1"

# Neighbouring drawers that one line tells of, and characters of them (of a longer one the beginning is read).
STRETCH, STRETCH_LENGTH = 6, 8_000
READ_LENGTH = 8_000
SENTENCES, SENTENCE_LENGTH, LINE_LENGTH = 3, 200, 400
NAMES = 4
HEADING_LENGTHS = range(3, 121)
# A heading covers the drawers up to the next one, but no more than these.
HEADED = 8
QUOTES, QUOTE_LENGTHS = 3, range(15, 151)
# A sign of a script without blanks says as much as three letters.
QUOTE_LENGTHS_UNSPACED = range(5, 151)

_FENCED = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(\S.*)$|^(\S.*)\n(?:={3,}|-{3,})[ \t]*$", re.MULTILINE)
_QUOTE = re.compile(r'"([^"\n]+)"|[“„]([^“”„\n]+)[”“]|«([^«»\n]+)»')
_QUOTE_UNSPACED = re.compile(r"「([^「」\n]+)」|『([^『』\n]+)』")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])|\n+")
_WORD = re.compile(r"[^\W\d_](?:[\w-]*\w)?")
_INSIDE_SENTENCE = re.compile(r"[\w,]\s+$")


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of a drawer."""

    id: int
    text: str


@dataclass(frozen=True, slots=True)
class Line:
    """A text, and the ids of the drawers that it points at, in their order."""

    text: str
    drawers: tuple[int, ...]


def closet_lines(passages: Sequence[Passage]) -> list[Line]:
    """Return the lines of a group whose drawers are given in their order; no two have the same text."""
    read = [Passage(one.id, clean(one.text[:READ_LENGTH])) for one in passages]
    drawers: dict[str, dict[int, None]] = {}
    for line in (*_topics(read), *_headings(read), *_quotes(read)):
        drawers.setdefault(line.text, {}).update(dict.fromkeys(line.drawers))
    return [Line(text, tuple(ids)) for text, ids in drawers.items()]


def _topics(passages: Sequence[Passage]) -> Iterator[Line]:
    """Yield a line for each stretch of drawers: its most telling sentences, and the names in it."""
    keys = _Keys()
    sentences = {one.id: [(text, keys.of(text)) for text in _sentences(one.text)] for one in passages}
    holding = Counter(key for some in sentences.values() for key in {key for _, found in some for key in found})
    names = _names(passages)
    for stretch in _stretches(passages):
        inside = [one for passage in stretch for one in sentences[passage.id]]
        counts = Counter(key for _, found in inside for key in found)
        weights = {key: count * log(1 + len(passages) / holding[key]) for key, count in counts.items()}
        named = Counter(word for passage in stretch for word in _WORD.findall(passage.text) if word in names)
        best = sorted(named, key=lambda word: (-named[word], word))[:NAMES]
        text = " | ".join(filter(None, (" ".join(_most_telling(inside, weights)), ", ".join(best))))
        if text:
            yield Line(text, tuple(passage.id for passage in stretch if sentences[passage.id]))


def _most_telling(sentences: Sequence[tuple[str, Sequence[str]]], weights: Mapping[str, float]) -> list[str]:
    """Return the sentences whose words weigh most, in the order in which they stand; no word counts a second time."""
    left = dict(weights)
    chosen: list[int] = []
    length = 0
    while len(chosen) < SENTENCES:
        # fsum rounds once: the order of a set is another one in each process.
        worths = [fsum(left[key] for key in set(keys)) / sqrt(len(keys) or 1) for _, keys in sentences]
        best = max(range(len(worths)), key=worths.__getitem__, default=None)
        if best is None or not worths[best] or (chosen and length + len(sentences[best][0]) > LINE_LENGTH):
            break
        chosen.append(best)
        length += len(sentences[best][0])
        left.update(dict.fromkeys(sentences[best][1], 0.0))
    return [sentences[place][0] for place in sorted(chosen)]


def _stretches(passages: Sequence[Passage]) -> Iterator[list[Passage]]:
    """Yield neighbouring drawers, as many together as one line tells of."""
    stretch: list[Passage] = []
    length = 0
    for passage in passages:
        if stretch and (len(stretch) == STRETCH or length + len(passage.text) > STRETCH_LENGTH):
            yield stretch
            stretch, length = [], 0
        stretch.append(passage)
        length += len(passage.text)
    if stretch:
        yield stretch


def _sentences(text: str) -> list[str]:
    found = (" ".join(one.split())[:SENTENCE_LENGTH] for one in _SENTENCE_END.split(text))
    return [one for one in found if one]


class _Keys(dict[str, tuple[str, ...]]):
    """Chunk between blanks -> what its words are counted by: stems, in scripts without blanks pairs of characters."""

    def of(self, text: str) -> list[str]:
        """Return the keys of the telling words of a text, in order."""
        return [key for chunk in text.split() for key in self[chunk]]

    def __missing__(self, chunk: str) -> tuple[str, ...]:
        found = pieces(normal_form(chunk))
        keys = [atom for piece in found if piece.run for atom in piece.atoms if len(atom) > 1]
        keys += [stem(piece.joined) for piece in found if not piece.run and piece.joined not in STOP_WORDS]
        self[chunk] = tuple(key for key in keys if len(key) > 1)
        return self[chunk]


def _names(passages: Sequence[Passage]) -> set[str]:
    """Return the words that two drawers at least hold capitalised inside a sentence, and none holds small."""
    holding: Counter[str] = Counter()
    small: set[str] = set()
    for passage in passages:
        found: set[str] = set()
        for match in _WORD.finditer(passage.text):
            word, start = match[0], match.start()
            if word.islower():
                small.add(word)
            elif word[0].isupper() and _INSIDE_SENTENCE.search(passage.text, max(0, start - 4), start):
                found.add(word)
        holding.update(found)
    return {
        word
        for word, count in holding.items()
        if count > 1 and len(word) > 1 and word.lower() not in small and word.lower() not in STOP_WORDS
    }


def _headings(passages: Sequence[Passage]) -> Iterator[Line]:
    """Yield each heading, pointing at its drawer; the last one of a drawer also at those that follow without one."""
    heading = ""
    covered: list[int] = []
    for passage in passages:
        found = _headings_in(passage.text)
        if heading and len(covered) < HEADED:
            # The text before the first heading of a drawer still belongs to the one before.
            covered.append(passage.id)
        if found:
            if heading:
                yield Line(heading, tuple(covered))
            yield from (Line(one, (passage.id,)) for one in found[:-1])
            heading, covered = found[-1], [passage.id]
    if heading:
        yield Line(heading, tuple(covered))


def _headings_in(text: str) -> list[str]:
    if "#" not in text and "\n===" not in text and "\n---" not in text:
        return []
    found = (" ".join((one[1] or one[2]).rstrip("# \t").split()) for one in _HEADING.finditer(_FENCED.sub("", text)))
    return [one for one in found if len(one) in HEADING_LENGTHS]


def _quotes(passages: Sequence[Passage]) -> Iterator[Line]:
    """Yield the first sentences that each drawer quotes."""
    for passage in passages:
        found = {
            match.start(): quote
            for pattern, lengths in ((_QUOTE, QUOTE_LENGTHS), (_QUOTE_UNSPACED, QUOTE_LENGTHS_UNSPACED))
            for match in pattern.finditer(passage.text)
            if len(quote := next(filter(None, match.groups())).strip()) in lengths
        }
        quotes = dict.fromkeys(quote for _, quote in sorted(found.items()))
        yield from (Line(f"“{quote}”", (passage.id,)) for quote in list(quotes)[:QUOTES])
