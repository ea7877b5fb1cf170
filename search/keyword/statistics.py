"""Collection statistics for ranking: how many memories there are, how long they are, how many hold a word."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.utils import DatabaseError

from memweb.memories.kinds import Kind
from search.keyword.expression import Expression, to_match
from search.keyword.limits import rows_within
from search.keyword.schema import COLUMNS, TABLES

# Document frequencies are counted up to here and extrapolated beyond: a common word needs no exact figure.
COUNTED = 500


@dataclass(frozen=True, slots=True)
class Collection:
    """`documents` memories of `average_length` atoms (title, body); `frequencies`: memories that hold each word."""

    documents: int
    average_length: float
    frequencies: dict[Expression, int]


def collection_statistics(words: Sequence[Expression], kinds: Iterable[Kind]) -> Collection:
    """Return statistics over whole kinds, not over the candidates of one query; takes few statements at any size."""
    sizes = {kind: size for kind, size in index_sizes(kinds).items() if size.documents}
    documents = sum(size.documents for size in sizes.values())
    length = sum(size.atoms for size in sizes.values())
    frequencies = dict.fromkeys(words, 0)
    for (kind, word), (count, reached) in _counts(words, list(sizes)).items():
        frequencies[word] += count if count < COUNTED else _extrapolated(count, reached, sizes[kind])
    return Collection(documents, length / documents if documents else 1.0, frequencies)


def _counts(words: Sequence[Expression], kinds: Sequence[Kind]) -> dict[tuple[Kind, Expression], tuple[int, int]]:
    """Return how many rows hold each word, up to COUNTED, and the last of these; kinds that cannot be read not.

    Rows are counted in the order of their ids, so the last one tells how far COUNTED reached.
    """
    wanted = [(kind, word) for kind in kinds for word in words]
    parts = [
        f"SELECT * FROM (SELECT count(*), max(rowid) FROM"
        f" (SELECT rowid FROM {TABLES[kind]} WHERE {TABLES[kind]} MATCH %s ORDER BY rowid LIMIT {COUNTED}))"
        for kind, _ in wanted
    ]
    if not parts:
        return {}
    try:
        rows = rows_within(0.5, " UNION ALL ".join(parts), [to_match(word) for _, word in wanted]).rows
    except DatabaseError:
        # One damaged index must not cost the others their statistics.
        if len(kinds) == 1:
            return {}
        return {key: count for kind in kinds for key, count in _counts(words, [kind]).items()}
    return dict(zip(wanted, rows, strict=False))


@dataclass(frozen=True, slots=True)
class IndexSize:
    documents: int
    atoms: int
    last_id: int


def index_sizes(kinds: Iterable[Kind]) -> dict[Kind, IndexSize]:
    """Return how many documents and atoms each index holds; those that cannot be read are left out.

    FTS5 keeps these totals itself, in the record with id 1: varints for the rows and for the tokens of each column.
    """
    wanted = list(kinds)
    parts = [
        f"SELECT '{kind}', block, (SELECT max(id) FROM {TABLES[kind]}_docsize) FROM {TABLES[kind]}_data WHERE id = 1"
        for kind in wanted
    ]
    if not parts:
        return {}
    try:
        with connection.cursor() as cursor:
            cursor.execute(" UNION ALL ".join(parts))
            rows = cursor.fetchall()
    except DatabaseError:
        if len(wanted) == 1:
            return {}
        return {kind: size for one in wanted for kind, size in index_sizes([one]).items()}
    return {Kind(name): _size(bytes(block or b""), last_id or 0) for name, block, last_id in rows}


def _size(block: bytes, last_id: int) -> IndexSize:
    numbers = list(varints(block))
    if len(numbers) != 1 + len(COLUMNS):
        return IndexSize(0, 0, 0)
    return IndexSize(numbers[0], numbers[1] + numbers[2], last_id)


def varints(block: bytes) -> Iterable[int]:
    """Yield the numbers of SQLite's variable-length form: seven bits a byte, highest first, nine bytes at most."""
    value, length = 0, 0
    for byte in block:
        length += 1
        if length == 9:
            yield value << 8 | byte
            value, length = 0, 0
            continue
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            yield value
            value, length = 0, 0


def _extrapolated(count: int, reached: int, size: IndexSize) -> int:
    return min(size.documents, max(count, round(count * size.last_id / max(reached, 1))))
