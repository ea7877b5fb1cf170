"""Another spelling for a query that finds nothing, out of the words that memories really hold."""

from collections.abc import Iterable

from django.db.utils import DatabaseError
from rapidfuzz.distance import DamerauLevenshtein

from memweb.memories.kinds import Kind
from search.analysis import query_words
from search.keyword.limits import rows_within
from search.keyword.schema import TABLES
from search.query import And, Node, Not, Or, Phrase, Prefix, Word, to_text

SECONDS = 0.1
MIN_LENGTH = 4


def suggest(tree: Node) -> str | None:
    """Return the query with its unknown words replaced by near ones; None when there is nothing better."""
    corrected = _corrected(tree)
    return to_text(corrected) if corrected != tree else None


def _corrected(node: Node) -> Node:
    match node:
        case Word(text) | Prefix(text):
            near = near_word(text)
            return Word(near) if near else node
        case Phrase(text):
            words = [near_word(word) or word for word in text.split()]
            return Phrase(" ".join(words)) if words != text.split() else node
        case And(nodes):
            return And(tuple(map(_corrected, nodes)))
        case Or(nodes):
            return Or(tuple(map(_corrected, nodes)))
        case Not():
            return node
        case _:
            return node


def near_word(text: str) -> str | None:
    """Return the most frequent of the nearest indexed words, for a plain word that no memory holds; else None.

    Near is one edit (Damerau-Levenshtein) for words of up to seven letters, two for longer ones, the first letter kept
    or swapped with the second.
    """
    words = query_words(text)
    if len(words) != 1 or len(words[0].alternatives[0].atoms) != 1:
        return None
    word = words[0].alternatives[0].atoms[0]
    if len(word) < MIN_LENGTH or any(character.isdigit() for character in word):
        return None
    if _is_known(word):
        return None
    allowed = 1 if len(word) < 8 else 2
    best: tuple[int, int, str] | None = None
    for term, documents in _vocabulary(word):
        distance = DamerauLevenshtein.distance(word, term, score_cutoff=allowed)
        if distance <= allowed and (best is None or (distance, -documents, term) < best):
            best = (distance, -documents, term)
    return best[2] if best else None


def _is_known(word: str) -> bool:
    sql = " UNION ALL ".join(f"SELECT 1 FROM {TABLES[kind]}_vocab WHERE term = %s" for kind in Kind)  # noqa: S608
    try:
        return bool(rows_within(SECONDS, sql, [word] * len(Kind)).rows)
    except DatabaseError:
        return False


def _vocabulary(word: str) -> Iterable[tuple[str, int]]:
    """Yield indexed words of about the same length that begin like the word, with how many memories hold them."""
    starts = dict.fromkeys((word[:2], word[1] + word[0], word[0] + word[2], word[:1]))
    counts: dict[str, int] = {}
    for kind in Kind:
        for start in starts:
            sql = (
                f"SELECT term, doc FROM {TABLES[kind]}_vocab WHERE term >= %s AND term < %s"  # noqa: S608 - our own table
                " AND length(term) BETWEEN %s AND %s"
            )
            try:
                rows = rows_within(SECONDS, sql, [start, start + "\U0010ffff", len(word) - 2, len(word) + 2]).rows
            except DatabaseError:
                continue
            for term, documents in rows:
                counts[term] = max(counts.get(term, 0), documents)
    return counts.items()
