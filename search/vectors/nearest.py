"""The door to the stored vectors for search: nearest memories, similarities, token states, how much is embedded.

The vectors in the database are what counts. An index over them, such as Chroma's, may be registered to answer broad
questions faster; what it answers is looked up in the stored vectors, so it can be late or damaged but never wrong.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import connection
from numpy.typing import NDArray

from memweb.memories.kinds import Kind
from search.vectors.comparison import Key, Neighbour, VectorRows, kind_code
from search.vectors.embedding import States, Vectors

__all__ = [
    "EXACT_ROWS",
    "BroadIndexUnavailable",
    "Coverage",
    "Key",
    "Nearest",
    "Neighbour",
    "coverage",
    "nearest",
    "register_broad_index",
    "similarities",
    "token_states",
]

# So many vectors are compared one by one when no index answers a broad question: 400,000 of 384 numbers take 60 ms.
EXACT_ROWS = 400_000

# Given a vector and how many embeddings are wanted: their ids, with their distances, nearest first.
BroadIndex = Callable[[Vectors, int], Sequence[tuple[int, float]]]

_KINDS = {kind.letter: kind for kind in Kind}
_broad_index: list[BroadIndex] = []


class BroadIndexUnavailable(Exception):
    """The registered index cannot answer now; the message says why, in one sentence for people."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """Memories near a vector, nearest first, and who found them: `chroma`, or `exact` comparison of all vectors.

    `problem` says in words why something is not as it should be; None when all is well.
    """

    neighbours: list[Neighbour]
    source: str
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many memories can be found by the vectors of `model`, the one that is searched; None: there are none yet.

    `is_complete`: no memory waits for its vectors, neither a new nor a changed one.
    """

    embedded: int
    total: int
    model: str | None
    is_complete: bool


def register_broad_index(index: BroadIndex | None) -> None:
    """Make `index` answer the questions without a filter from now on; None: none does.

    It raises BroadIndexUnavailable when it cannot answer; the stored vectors are then compared one by one.
    """
    _broad_index[:] = [] if index is None else [index]


def nearest(vector: Vectors, limit: int, allowed: Mapping[Kind, Sequence[int]] | None = None) -> Nearest:
    """Return the `limit` memories nearest to a vector of length 1; with `allowed`, only of these ids.

    A selection is always answered exactly. Without one the registered index answers, else exact comparison when there
    are at most EXACT_ROWS vectors.
    """
    rows = _rows()
    if rows is None or rows.vectors.shape[1] != len(vector):
        return Nearest([], "exact", None if rows is None else "the stored vectors are of another model")
    if allowed is not None:
        return Nearest(rows.nearest(vector, limit, allowed), "exact")
    problem = None
    if _broad_index:
        try:
            return Nearest(_ask(_broad_index[0], rows, vector, limit), "chroma")
        except BroadIndexUnavailable as error:
            problem = str(error)
    if rows.shown > EXACT_ROWS:
        reason = problem or "no vector index is open"
        return Nearest([], "exact", f"{reason}; {rows.shown:,} vectors are too many to compare one by one")
    return Nearest(rows.nearest(vector, limit), "exact", problem)


def similarities(vector: Vectors, keys: Sequence[Key]) -> dict[Key, float]:
    """Return the cosine of the best chunk of each of these memories that has a vector."""
    rows = _rows()
    if rows is None or rows.vectors.shape[1] != len(vector):
        return {}
    return rows.similarities(vector, keys)


def token_states(keys: Sequence[Key]) -> dict[Key, list[States]]:
    """Return the token states of these memories, one array (tokens, width) for each chunk; one statement."""
    sql = """
        SELECT e.kind, e.memory_id, t.states, m.state_width
        FROM search_embeddingmodel AS m CROSS JOIN json_each(%s) AS k
        CROSS JOIN search_embedding AS e ON e.model_id = m.id
            AND e.kind = json_extract(k.value, '$[0]') AND e.memory_id = json_extract(k.value, '$[1]')
        CROSS JOIN search_tokenstates AS t ON t.embedding_id = e.id
        WHERE m.is_searched AND m.state_width > 0 ORDER BY e.chunk
    """
    found: dict[Key, list[States]] = {}
    with connection.cursor() as cursor:
        cursor.execute(sql, [json.dumps([(kind.letter, id) for kind, id in dict.fromkeys(keys)])])
        for letter, id, states, width in cursor.fetchall():
            if len(states) % width == 0:
                found.setdefault((_KINDS[letter], id), []).append(np.frombuffer(states, np.int8).reshape(-1, width))
    return found


def coverage() -> Coverage:
    """Return how many memories have vectors, and whether none waits."""
    counts = " + ".join(f"(SELECT count(*) FROM {table})" for table in _TABLES)
    sql = f"""
        SELECT (SELECT name FROM search_embeddingmodel WHERE is_searched), {counts},
            (SELECT count(*) FROM search_embeddingtask),
            (SELECT count(*) FROM search_embedding AS e JOIN search_embeddingmodel AS m ON m.id = e.model_id
             WHERE m.is_searched AND e.chunk = 0)
    """
    with connection.cursor() as cursor:
        cursor.execute(sql)
        model, total, waiting, embedded = cursor.fetchone()
    return Coverage(embedded, total, model, model is not None and waiting == 0)


def _ask(index: BroadIndex, rows: VectorRows, vector: Vectors, limit: int) -> list[Neighbour]:
    """Ask for more embeddings until they belong to enough memories: one with many chunks may take many places."""
    wanted = limit
    while True:
        answers = index(vector, wanted)
        found = rows.nearest_of(vector, [id for id, _ in answers], limit)
        if len(found) >= limit or len(answers) < wanted:
            return found
        wanted *= 4


_TABLES = ("memories_drawer", "memories_observation", "memories_userprompt", "memories_sessionsummary")


def _rows() -> VectorRows | None:
    """Return the vectors of the searched model; None when no model is searched."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT id, dimension FROM search_embeddingmodel WHERE is_searched")
        model = cursor.fetchone()
        if model is None:
            return None
        cursor.execute(
            "SELECT id, kind, memory_id, chunk, vector FROM search_embedding WHERE model_id = %s ORDER BY id",
            [model[0]],
        )
        found = [row for row in cursor.fetchall() if len(row[4]) == 2 * model[1]]
    vectors: NDArray[np.float32] = np.frombuffer(b"".join(row[4] for row in found), "<f2").astype(np.float32)
    return VectorRows(
        np.array([row[0] for row in found], np.int64),
        np.array([kind_code(row[1]) for row in found], np.uint8),
        np.array([row[2] for row in found], np.int64),
        np.array([row[3] for row in found], np.int64),
        vectors.reshape(-1, model[1]),
    )
