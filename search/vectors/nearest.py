"""The door to the stored vectors for search: nearest memories, similarities, token states, how much is embedded.

The vectors in the database are what counts. An index over them, such as Chroma's, may be registered to answer broad
questions faster; what it answers is looked up in the stored vectors, so it can be late or damaged but never wrong.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

import numpy as np
from django.db import connection

from memweb.memories.kinds import Kind
from search.vectors.comparison import Key, Neighbour, VectorRows
from search.vectors.coverage import Coverage, coverage
from search.vectors.embedding import (
    Embedder,
    EmbedderUnavailable,
    States,
    Vectors,
    current_embedder,
    embedder_name,
    embedder_named,
)
from search.vectors.matrix import VectorMatrix, read_state, vectors_folder
from search.vectors.matrix_file import MatrixDamaged
from search.vectors.texts import embedder_of

__all__ = [
    "EXACT_ROWS",
    "BroadIndexUnavailable",
    "Coverage",
    "Key",
    "Nearest",
    "Neighbour",
    "coverage",
    "nearest",
    "query_embedder",
    "register_broad_index",
    "similarities",
    "token_states",
]

# So many vectors are compared one by one when no index answers a broad question: 400,000 of 384 numbers take 60 ms.
EXACT_ROWS = 400_000

# Given a vector and how many embeddings are wanted: their ids, with their distances, nearest first.
BroadIndex = Callable[[Vectors, int], Sequence[tuple[int, float]]]

# A search reads new vectors for no longer than this; a first build adds some hundred in that time.
_SECONDS = 0.25

Compared = TypeVar("Compared")
_CHANGING = "the file of the stored vectors is changed by another program while it is read"

_KINDS = {kind.letter: kind for kind in Kind}
_broad_index: list[BroadIndex] = []
_lock = Lock()
_matrix: list[VectorMatrix] = []


@dataclass(frozen=True, slots=True)
class _Stored:
    rows: VectorRows
    problem: str | None


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


def register_broad_index(index: BroadIndex | None) -> None:
    """Make `index` answer the questions without a filter from now on; None: none does.

    It raises BroadIndexUnavailable when it cannot answer; the stored vectors are then compared one by one.
    """
    _broad_index[:] = [] if index is None else [index]


def query_embedder(*, waits: bool = False) -> Embedder:
    """Return the embedder to embed questions with: the one of the vectors that are searched now.

    That is the one that the settings choose, except while its vectors are built beside those of another one. `waits`:
    for as long as it takes to load it. Raises EmbedderUnavailable.
    """
    chosen = embedder_name()
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM search_embeddingmodel WHERE is_searched")
        row = cursor.fetchone()
    if row is None or chosen is None or embedder_of(row[0]) == chosen:
        return current_embedder(waits=waits)
    try:
        return embedder_named(embedder_of(row[0]), waits=waits)
    except EmbedderUnavailable as error:
        raise EmbedderUnavailable(
            f"the vectors of {chosen} are still being made, and those of before cannot be asked: {error}"
        ) from error


def warm_up() -> None:
    """Load what questions need: the embedder of the vectors that are searched, these vectors, and the chosen embedder,
    which will be asked when its vectors are complete. Raises EmbedderUnavailable.
    """
    embedder = query_embedder(waits=True)
    nearest(embedder.embed_query("memweb").vectors[0], 1, embedder=embedder.name)
    current_embedder(waits=True)


def nearest(
    vector: Vectors,
    limit: int,
    allowed: Mapping[Kind, Sequence[int]] | None = None,
    *,
    embedder: str | None = None,
) -> Nearest:
    """Return the `limit` memories nearest to a vector of length 1; with `allowed`, only of these ids.

    A selection is always answered exactly. Without one the registered index answers, else exact comparison when there
    are at most EXACT_ROWS vectors. `embedder` is the name of what made the vector, if not what the settings choose.
    """
    return _again(lambda: _nearest(vector, limit, allowed, embedder)) or Nearest([], "exact", _CHANGING)


def _nearest(
    vector: Vectors, limit: int, allowed: Mapping[Kind, Sequence[int]] | None, embedder: str | None
) -> Nearest:
    stored = _stored(vector, embedder)
    if not isinstance(stored, _Stored):
        return Nearest([], "exact", stored)
    if allowed is not None:
        return Nearest(stored.rows.nearest(vector, limit, allowed), "exact", stored.problem)
    problem = stored.problem
    if _broad_index:
        try:
            return Nearest(_ask(_broad_index[0], stored.rows, vector, limit), "chroma", problem)
        except BroadIndexUnavailable as error:
            problem = str(error)
    if stored.rows.shown > EXACT_ROWS:
        reason = problem or "no vector index is open"
        return Nearest([], "exact", f"{reason}; {stored.rows.shown:,} vectors are too many to compare one by one")
    return Nearest(stored.rows.nearest(vector, limit), "exact", problem)


def similarities(vector: Vectors, keys: Sequence[Key], *, embedder: str | None = None) -> dict[Key, float]:
    """Return the cosine of the best chunk of each of these memories that has a vector."""
    return _again(lambda: _similarities(vector, keys, embedder)) or {}


def _similarities(vector: Vectors, keys: Sequence[Key], embedder: str | None) -> dict[Key, float]:
    stored = _stored(vector, embedder)
    return stored.rows.similarities(vector, keys) if isinstance(stored, _Stored) else {}


def _again(compare: Callable[[], Compared]) -> Compared | None:
    """Return what comparing gives, once more where the file of vectors turned out to be damaged; None: that too."""
    for _ in range(2):
        with suppress(MatrixDamaged):
            return compare()
    return None


def token_states(keys: Sequence[Key], *, embedder: str | None = None) -> dict[Key, list[States]]:
    """Return the token states of these memories, one array (tokens, width) for each chunk; one statement."""
    sql = """
        SELECT e.kind, e.memory_id, t.states, m.state_width, m.name
        FROM search_embeddingmodel AS m CROSS JOIN json_each(%s) AS k
        CROSS JOIN search_embedding AS e ON e.model_id = m.id
            AND e.kind = json_extract(k.value, '$[0]') AND e.memory_id = json_extract(k.value, '$[1]')
        CROSS JOIN search_tokenstates AS t ON t.embedding_id = e.id
        WHERE m.is_searched AND m.state_width > 0 ORDER BY e.chunk
    """
    found: dict[Key, list[States]] = {}
    with connection.cursor() as cursor:
        chosen = json.dumps([(kind.letter, id) for kind, id in dict.fromkeys(keys)])
        cursor.execute(sql, [chosen])
        for letter, id, states, width, model in cursor.fetchall():
            if len(states) % width == 0 and _is_comparable(model, embedder):
                found.setdefault((_KINDS[letter], id), []).append(np.frombuffer(states, np.int8).reshape(-1, width))
    return found


def _ask(index: BroadIndex, rows: VectorRows, vector: Vectors, limit: int) -> list[Neighbour]:
    """Ask for more embeddings until they belong to enough memories: one with many chunks may take many places."""
    wanted = limit
    while True:
        answers = index(vector, wanted)
        found = rows.nearest_of(vector, [id for id, _ in answers], limit)
        if len(found) >= limit or len(answers) < wanted:
            return found
        wanted *= 4


def _is_comparable(model: str, embedder: str | None) -> bool:
    """Return whether vectors of a stored model are of this embedder, or else of the one that the settings choose."""
    wanted = embedder or embedder_name()
    return wanted is None or wanted == embedder_of(model)


def _stored(vector: Vectors, embedder: str | None) -> _Stored | str | None:
    """Return the vectors of the searched model, else why they cannot be compared; None when no model is searched."""
    with _lock:
        matrix = _matrix[0] if _matrix else None
    state = read_state(last_known=matrix.last_known if matrix else 0)
    if state is None:
        return None
    if state.dimension != len(vector) or not _is_comparable(state.name, embedder):
        return f"the stored vectors are of another model ({state.name})"
    if matrix is None or matrix.folder != vectors_folder() or matrix.file_name != state.file_name:
        with _lock:
            matrix = VectorMatrix(state)
            _matrix[:] = [matrix]
    return _Stored(matrix.refresh(state, _SECONDS), matrix.problem)
