"""Reads and writes of the stored vectors: short transactions, any number of rows in each statement."""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from memweb.memories.kinds import Kind
from search.vectors.comparison import Key
from search.vectors.queue import TABLE as TASKS

# Rows removed in one transaction: 10 ms, in which nobody else can write.
REMOVED_AT_ONCE = 1000

_BY_LETTER = {kind.letter: kind for kind in Kind}


@dataclass(frozen=True, slots=True)
class StoredRow:
    """A stored vector without its numbers: `size` is how many bytes they take."""

    id: int
    model_id: int
    chunk: int
    text_hash: bytes
    size: int


@dataclass(frozen=True, slots=True)
class NewRow:
    """A vector to store: float16 numbers as bytes (none: there is nothing to embed), and its token states, if any."""

    key: Key
    chunk: int
    text_hash: bytes
    vector: bytes
    states: bytes | None


def hash_text(text: str) -> bytes:
    """Return what tells whether a text is the one that was embedded."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def read_rows(keys: Iterable[Key]) -> dict[Key, list[StoredRow]]:
    """Return the rows of these memories, of every model, by chunk; two statements however many there are."""
    sql = """
        SELECT e.kind, e.memory_id, e.id, e.model_id, e.chunk, e.text_hash, length(e.vector)
        FROM search_embeddingmodel AS m CROSS JOIN json_each(%s) AS k
        CROSS JOIN search_embedding AS e ON e.model_id = m.id
            AND e.kind = json_extract(k.value, '$[0]') AND e.memory_id = json_extract(k.value, '$[1]')
        ORDER BY e.chunk
    """
    found: dict[Key, list[StoredRow]] = {}
    with connection.cursor() as cursor:
        cursor.execute(sql, [json.dumps([(kind.letter, id) for kind, id in keys])])
        for letter, memory_id, *values in cursor.fetchall():
            found.setdefault((_BY_LETTER[letter], memory_id), []).append(StoredRow(*values))
    return found


def insert_row(cursor: CursorWrapper, model_id: int, row: NewRow) -> bool:
    """Store a vector; return False, and store nothing, when there is one for that chunk already."""
    kind, memory_id = row.key
    cursor.execute(
        "INSERT INTO search_embedding (model_id, kind, memory_id, chunk, text_hash, vector)"
        " VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING RETURNING id",
        [model_id, kind.letter, memory_id, row.chunk, row.text_hash, row.vector],
    )
    inserted = cursor.fetchone()
    if inserted is None:
        return False
    if row.states is not None:
        cursor.execute(
            "INSERT INTO search_tokenstates (embedding_id, states) VALUES (%s, %s)", [inserted[0], row.states]
        )
    return True


def remove_rows(cursor: CursorWrapper, ids: Sequence[int]) -> int:
    """Remove vectors with their token states and note it in their models; return how many there were.

    Belongs into a transaction: whoever reads the models' `removals` must see the rows go at the same time.
    """
    if not ids:
        return 0
    chosen = json.dumps(list(ids))
    # CROSS JOIN keeps SQLite from reading all rows of a model in order to group them.
    cursor.execute(
        "SELECT e.model_id FROM json_each(%s) AS k CROSS JOIN search_embedding AS e ON e.id = k.value", [chosen]
    )
    for model_id, count in Counter(model_id for (model_id,) in cursor.fetchall()).items():
        sql = "UPDATE search_embeddingmodel SET removals = removals + %s WHERE id = %s"
        cursor.execute(sql, [count, model_id])
    cursor.execute("DELETE FROM search_tokenstates WHERE embedding_id IN (SELECT value FROM json_each(%s))", [chosen])
    cursor.execute("DELETE FROM search_embedding WHERE id IN (SELECT value FROM json_each(%s))", [chosen])
    return max(cursor.rowcount, 0)


def remove_some_of_model(model_id: int) -> int:
    """Remove up to REMOVED_AT_ONCE vectors of a model; return how many there were. With the last one the model goes."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT id FROM search_embedding WHERE model_id = %s LIMIT %s", [model_id, REMOVED_AT_ONCE])
        ids = [id for (id,) in cursor.fetchall()]
        removed = remove_rows(cursor, ids)
        if len(ids) < REMOVED_AT_ONCE:
            cursor.execute("DELETE FROM search_embeddingmodel WHERE id = %s", [model_id])
        return removed


def replace_foreign_rows(ids: Sequence[int]) -> int:
    """Remove rows that cannot be ours and queue their memories; return how many were removed."""
    removed = 0
    for start in range(0, len(ids), REMOVED_AT_ONCE):
        some = ids[start : start + REMOVED_AT_ONCE]
        with transaction.atomic(), connection.cursor() as cursor:
            letters = ", ".join(f"'{letter}'" for letter in _BY_LETTER)
            cursor.execute(
                f"INSERT INTO {TASKS} (kind, memory_id, changes) SELECT DISTINCT kind, memory_id, 1"
                f" FROM search_embedding WHERE id IN (SELECT value FROM json_each(%s)) AND kind IN ({letters})"
                " AND typeof(memory_id) = 'integer'"
                " ON CONFLICT (kind, memory_id) DO UPDATE SET changes = changes + 1",
                [json.dumps(list(some))],
            )
            removed += remove_rows(cursor, some)
    return removed
