"""Query words: what a document must hold to answer each word that was typed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from search.analysis.characters import clean, unify
from search.analysis.stems import STOP_WORDS, stem
from search.analysis.variants import compound
from search.analysis.words import MAX_ATOM, Piece, align, groups, normal_form, pieces

_ABBREVIATED_HASH = re.compile(r"(?=.*[0-9])(?=.*[a-f])(?:[0-9a-f]{4,64}|[0-9a-f]{8}(?:\.[0-9a-f]{1,12}){1,4})")


@dataclass(frozen=True, slots=True)
class Alternative:
    """A phrase of consecutive atoms; with `prefix` the last one may go on."""

    atoms: tuple[str, ...]
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class QueryWord:
    """One word of a query. A document has it when any alternative matches; the first is the most exact."""

    text: str
    alternatives: tuple[Alternative, ...]
    stop: bool


def query_words(text: str, *, prefix_last: bool = False) -> list[QueryWord]:
    """Return the words of a query in order; what holds no letter or digit is left out.

    A word is what stands between blanks; a stretch of a script without blanks is a word of its own. With
    `prefix_last` the last word also matches as a prefix (search as you type).
    """
    found = [(written, group) for chunk in clean(text).split() for written, group in _groups_as_written(unify(chunk))]
    last = len(found) - 1
    return [
        QueryWord(written, _alternatives(group, prefix_last and place == last), _is_stop_word(group))
        for place, (written, group) in enumerate(found)
    ]


def phrase_atoms(text: str) -> tuple[str, ...]:
    """Return the atoms of a quoted phrase, exact, without stems.

    A run at its end may go on in the document, so it comes without the single character that closes a run.
    """
    found = [piece for chunk in unify(text).split() for piece in pieces(normal_form(chunk))]
    atoms = tuple(atom for piece in found for atom in piece.atoms)
    return atoms[:-1] if found and found[-1].run and len(found[-1].atoms) > 1 else atoms


def _groups_as_written(chunk: str) -> Iterator[tuple[str, Sequence[Piece]]]:
    normal = normal_form(chunk)
    parts = list(groups(pieces(normal)))
    if len(parts) == 1:
        yield chunk, parts[0]
        return
    origins = align(chunk, normal_form) if parts and normal != chunk else [(at, at + 1) for at in range(len(chunk))]
    for group in parts:
        start, end = group[0].bounds()[0][0], group[-1].bounds()[-1][1]
        yield chunk[origins[start][0] : origins[end - 1][1]], group


def _is_stop_word(group: Sequence[Piece]) -> bool:
    return all(piece.atoms[0] in STOP_WORDS and not piece.split for piece in group)


def _alternatives(group: Sequence[Piece], prefix: bool) -> tuple[Alternative, ...]:
    first = group[0]
    atoms = tuple(atom for piece in group for atom in piece.atoms)
    if first.run:
        return (Alternative(atoms, prefix=True) if len(atoms) == 1 else Alternative(atoms[:-1]),)
    forms = [atoms]
    if any(piece.split for piece in group):
        forms.append(tuple(piece.joined for piece in group))
    whole = compound(group)
    found = [Alternative(form) for form in forms]
    if len(group) == 1:
        if first.split or len(atoms) == 1:
            found.append(Alternative((stem(first.joined),)))
    else:
        forms.append((whole,))
        found.append(Alternative((whole,)))
        if len(whole) < MAX_ATOM:  # "UserSettings.tsx" of "UserSettings.tsx:42"
            found.append(Alternative((whole + ".",), prefix=True))
    if prefix or _ABBREVIATED_HASH.fullmatch(whole):
        found += [Alternative(form, prefix=True) for form in forms]
    return tuple(dict.fromkeys(found))
