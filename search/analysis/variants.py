"""Variants: the further tokens under which atoms are found."""

import re
from collections.abc import Iterator, Sequence
from operator import add

from search.analysis.stems import stem
from search.analysis.words import MAX_ATOM, Piece

_MAX_COMPOUNDS = 12  # of a chunk: minified code is one chunk
_MAX_JOINED = 8  # atoms of a word whose neighbours are joined
_REACH = 4  # words of a path that may come before one in camelCase
_HEAD = re.compile(r"([a-z]{3,})[0-9]")
_HASH = re.compile(r"[0-9a-f]{7,64}")


def compound(group: Sequence[Piece]) -> str:
    """Return a group of words as one token, `usersettings.tsx` for `UserSettings.tsx`, however it was joined."""
    return ".".join([piece.joined for piece in group[:MAX_ATOM]])[:MAX_ATOM]


def forms(atom: str) -> list[str]:
    """Return the stem of a word where it differs, and the letters that a number follows, `python` of `python3`."""
    if atom.isdigit():
        return []
    found = []
    if (stemmed := stem(atom)) != atom:
        found.append(stemmed)
    if (head := _HEAD.match(atom)) and not _HASH.fullmatch(atom):
        found += [head[1], stem(head[1])]
    return found


def shared_variants(group: Sequence[Piece]) -> Iterator[list[str]]:
    """Yield, for each piece of a group, the tokens that stand for more than one atom.

    Phrases of atoms need the letter case that was written. So that any other will do, there are the piece as one token,
    neighbours in it (`github` of `GitHubActions`), and paths from their start or shortly before such a piece on.
    """
    compounds: list[tuple[int, str]] = []
    if len(group) > 1 and any(piece.split for piece in group):
        starts = [place for place in range(len(group) - 1) if not place or _splits_soon(group, place)]
        compounds = [(start, compound(group[start : start + MAX_ATOM])) for start in starts[:_MAX_COMPOUNDS]]
    for place, piece in enumerate(group):
        tokens = [token for start, token in compounds if start <= place]
        if piece.split:
            tokens += [piece.joined, stem(piece.joined)]
            if 2 < len(piece.atoms) <= _MAX_JOINED:
                tokens += map(add, piece.atoms, piece.atoms[1:])
        yield tokens


def _splits_soon(group: Sequence[Piece], start: int) -> bool:
    return any(group[place].split for place in range(start, min(start + _REACH, len(group))))
