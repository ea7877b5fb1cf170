"""Spans: where in a text, as it was written, its terms stand."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from search.analysis.characters import kept_offsets, unify
from search.analysis.variants import forms, shared_variants
from search.analysis.words import align, groups, normal_form, pieces

_CHUNK = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of a text (code point offsets), its atom, and all tokens under which it is indexed."""

    start: int
    end: int
    atom: str
    tokens: frozenset[str]


def spans(text: str) -> Iterator[Span]:
    """Yield one span per atom of `index_terms`, in the same order; those of scripts without blanks overlap."""
    unified = unify(text)
    kept = kept_offsets(text) if len(unified) != len(text) else range(len(text))
    for chunk in _CHUNK.finditer(unified):
        normal = normal_form(chunk[0])
        origins = align(chunk[0], normal_form) if normal != chunk[0] else None
        for group in groups(pieces(normal)):
            for piece, shared in zip(group, shared_variants(group), strict=True):
                for atom, (start, end) in zip(piece.atoms, piece.bounds(), strict=True):
                    if origins:
                        start, end = origins[start][0], origins[end - 1][1]
                    yield Span(
                        kept[chunk.start() + start],
                        kept[chunk.start() + end - 1] + 1,
                        atom,
                        frozenset([atom, *shared] if piece.run else [atom, *shared, *forms(atom)]),
                    )
