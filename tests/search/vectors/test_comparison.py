"""Exact comparison gives what sorting all cosines gives."""

import numpy as np
import pytest

from memweb.memories.kinds import Kind
from search.vectors import comparison
from search.vectors.comparison import HIDDEN, Key, Neighbour, VectorRows, kind_code

KINDS = list(Kind)
VECTOR = np.array([1, 0, 0, 0, 0, 0, 0, 0], np.float32)


def make_rows(count: int, seed: int = 1, *, hidden: float = 0.1) -> VectorRows:
    """Return random rows: memories of all kinds with one to many chunks, ids with gaps."""
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((count, len(VECTOR))).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    kinds = np.array([kind_code(kind.letter) for kind in KINDS], np.uint8)[random.integers(0, 4, count)]
    kinds[random.random(count) < hidden] = HIDDEN
    memories = random.integers(1, max(2, count // 4), count)
    return VectorRows(np.arange(count) * 3 + 5, kinds, memories, np.arange(count) % 50, vectors)


def expected(rows: VectorRows, allowed: dict[Kind, list[int]] | None = None) -> list[Neighbour]:
    """Return all memories, best first, found row by row."""
    codes = {kind_code(kind.letter): kind for kind in KINDS}
    scores = rows.vectors @ VECTOR
    best: dict[Key, Neighbour] = {}
    for row in np.argsort(-scores, kind="stable").tolist():
        kind = codes.get(int(rows.kinds[row]))
        memory = int(rows.memories[row])
        if kind is None or (kind, memory) in best or (allowed is not None and memory not in allowed.get(kind, [])):
            continue
        best[kind, memory] = Neighbour(kind, memory, float(scores[row]), int(rows.chunks[row]))
    return list(best.values())


def rounded(found: list[Neighbour]) -> list[tuple[Kind, int, float, int]]:
    return [(one.kind, one.id, round(one.similarity, 5), one.chunk) for one in found]


@pytest.mark.parametrize("count", [0, 1, 2, 7, 400, 3000])
@pytest.mark.parametrize("limit", [1, 10, 10_000])
def test_nearest_are_the_best_chunks_of_all_memories(count: int, limit: int) -> None:
    rows = make_rows(count)
    assert rounded(rows.nearest(VECTOR, limit)) == rounded(expected(rows)[:limit])


@pytest.mark.parametrize("part", [0.001, 0.05, 0.5, 1.0])
def test_allowed_memories_alone_are_compared(part: float) -> None:
    rows = make_rows(3000)
    random = np.random.default_rng(2)
    allowed = {kind: [id for id in range(1, 800) if random.random() < part] for kind in KINDS[:3]}
    assert rounded(rows.nearest(VECTOR, 25, allowed)) == rounded(expected(rows, allowed)[:25])


@pytest.mark.parametrize("limit", [0, 10**9])
def test_marks_and_lookups_find_the_same(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "_MOST_MARKED", limit)
    rows = make_rows(3000)
    allowed = {kind: [*range(700, 0, -3), 5, 5, -4, 10**12] for kind in KINDS[1:]}
    assert rounded(rows.nearest(VECTOR, 5000, allowed)) == rounded(expected(rows, allowed))


def test_allowed_may_repeat_ids_and_name_unknown_ones_in_any_order() -> None:
    rows = make_rows(400)
    wanted = [90, 7, 7, 10**12, 8, -1]
    assert rounded(rows.nearest(VECTOR, 5, {Kind.DRAWER: wanted})) == rounded(expected(rows, {Kind.DRAWER: wanted})[:5])


def test_nothing_allowed_finds_nothing() -> None:
    assert make_rows(400).nearest(VECTOR, 5, {}) == []
    assert make_rows(400).nearest(VECTOR, 5, {Kind.DRAWER: []}) == []
    assert make_rows(0).nearest(VECTOR, 5, {Kind.DRAWER: [1, 2]}) == []
    assert make_rows(400).nearest(VECTOR, 0) == []


def test_memory_whose_chunks_take_all_places_does_not_hide_others() -> None:
    vectors = np.repeat(np.eye(8, dtype=np.float32)[:2], [500, 2], axis=0)
    kinds = np.full(502, kind_code("o"), np.uint8)
    memories = np.array([1] * 500 + [2, 3])
    rows = VectorRows(np.arange(502), kinds, memories, np.arange(502), vectors)
    assert [one.id for one in rows.nearest(VECTOR, 3)] == [1, 2, 3]


def test_similarities_are_those_of_the_best_chunks() -> None:
    rows = make_rows(3000)
    keys = [(Kind.DRAWER, 3), (Kind.SUMMARY, 44), (Kind.PROMPT, 10**9), (Kind.DRAWER, 3)]
    known = {(one.kind, one.id): round(one.similarity, 5) for one in expected(rows)}
    found = rows.similarities(VECTOR, keys)
    assert {key: round(value, 5) for key, value in found.items()} == {key: known[key] for key in keys if key in known}
    assert rows.similarities(VECTOR, []) == {}


def test_embeddings_are_translated_into_memories_and_unknown_ones_left_out() -> None:
    rows = make_rows(400)
    best = expected(rows)[:20]
    answered = [int(id) for id in rows.ids[::2]] + [1, 6, 10**12]
    allowed_rows = VectorRows(rows.ids[::2], rows.kinds[::2], rows.memories[::2], rows.chunks[::2], rows.vectors[::2])
    assert rounded(rows.nearest_of(VECTOR, answered, 20)) == rounded(expected(allowed_rows)[:20]) != rounded(best)
    assert rows.nearest_of(VECTOR, [], 20) == []


@pytest.mark.parametrize("letter", ["", "x", "O", "oo", "\0", "ö"])
def test_foreign_kinds_are_hidden(letter: str) -> None:
    assert kind_code(letter) == HIDDEN
