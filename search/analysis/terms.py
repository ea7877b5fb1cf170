"""Index terms: the derived columns of one document."""

from collections.abc import Sequence
from dataclasses import dataclass

from search.analysis.characters import unify
from search.analysis.stems import stem
from search.analysis.variants import forms, shared_variants
from search.analysis.words import MAX_ATOM, groups, normal_form, pieces

ANALYZER_VERSION = 1  # stored beside the index; raise it whenever other terms come out

_FIELD_END = " =| "  # no phrase crosses it: atoms hold no "="
_CACHE_SIZE = 200_000
_CACHED_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Terms:
    """Blank-separated tokens: atoms of title and body in order, and what else the document is found under."""

    title: str
    body: str
    variants: str


class _Chunks(dict[str, tuple[str, tuple[str, ...]]]):
    """Chunk -> its atoms as text, its variants. Repeated words are nearly all of the work of an import."""

    def __missing__(self, chunk: str) -> tuple[str, tuple[str, ...]]:
        found = _chunk_terms(chunk)
        if len(chunk) <= _CACHED_LENGTH and not (len(chunk) > 6 and sum(map(str.isdigit, chunk)) * 2 > len(chunk)):
            if len(self) >= _CACHE_SIZE:
                self.clear()
            self[chunk] = found
        return found


def _chunk_terms(chunk: str) -> tuple[str, tuple[str, ...]]:
    if len(chunk) <= MAX_ATOM and chunk.isascii() and (chunk.isdigit() or (chunk.isalpha() and chunk.islower())):
        stemmed = stem(chunk)
        return chunk, () if stemmed == chunk else (stemmed,)
    atoms: list[str] = []
    variants: list[str] = []
    for group in groups(pieces(normal_form(unify(chunk)))):
        for piece in group:
            atoms += piece.atoms
        if not group[0].run:
            variants += [token for piece in group for atom in piece.atoms for token in forms(atom)]
            variants += [token for tokens in shared_variants(group) for token in tokens]
    return " ".join(atoms), tuple(dict.fromkeys(variants))


_chunks = _Chunks()


def index_terms(title: str, body: Sequence[str]) -> Terms:
    """Return the terms of a document whose body consists of these fields; any text will do, it never raises."""
    variants: list[str] = []
    found = _atoms(title, variants)
    seen = set(found)
    title_atoms = " ".join(found)
    fields: list[str] = []
    for field in body:
        if found := _atoms(field, variants):
            seen.update(found)
            fields.append(" ".join(found))
    for atoms in [atoms for atoms in seen if " " in atoms]:
        seen.update(atoms.split())
    more = [variant for variant in dict.fromkeys(variants) if variant not in seen]
    return Terms(title_atoms, _FIELD_END.join(fields), " ".join(more))


def _atoms(text: str, variants: list[str]) -> list[str]:
    """Return the atoms of each chunk of a text and append its variants."""
    if "\x1b" in text:  # an escape sequence may hold blanks; all else is unified chunk by chunk, when first met
        text = unify(text)
    found = [_chunks[chunk] for chunk in text.split()]
    variants += [variant for _, more in found for variant in more]
    return [atoms for atoms, _ in found if atoms]
