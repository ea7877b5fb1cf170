"""The reconciler on an index in memory: whatever differs from the rows is found and put right."""

import random
from collections.abc import Sequence

import numpy as np
import pytest

from search.models import Embedding, EmbeddingModel
from search.vectors.embedding import Vectors
from search.vectors.index_problems import IndexDamaged
from search.vectors.index_state import Check
from search.vectors.reconciler import LARGEST_BATCH, Reconciler
from tests.search.vectors.stored import make_model

pytestmark = pytest.mark.django_db

DIMENSION = 8
LONG = 60.0


class MemoryIndex:
    """An index in memory that may lose the way to some of its vectors; like Chroma, it refuses large batches."""

    def __init__(self) -> None:
        self.vectors: dict[int, Vectors] = {}
        self.lost: set[int] = set()
        self.largest = 0

    def ids(self) -> set[int]:
        return set(self.vectors)

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        self.largest = max(self.largest, len(ids))
        self.vectors.update(zip(ids, vectors, strict=True))

    def remove(self, ids: Sequence[int]) -> None:
        self.largest = max(self.largest, len(ids))
        for id in ids:
            self.vectors.pop(id, None)
            self.lost.discard(id)

    def nearest(self, vectors: Vectors, limit: int) -> list[list[tuple[int, float]]]:
        reachable = [id for id in self.vectors if id not in self.lost]
        answers = []
        for vector in vectors:
            found = sorted(((float(self.vectors[id] @ vector), id) for id in reachable), reverse=True)
            answers.append([(id, similarity) for similarity, id in found[:limit]])
        return answers

    def stored(self, ids: Sequence[int]) -> dict[int, Vectors]:
        return {id: self.vectors[id] for id in ids if id in self.vectors}


@pytest.fixture
def model() -> EmbeddingModel:
    return make_model(dimension=DIMENSION)


def store(model: EmbeddingModel, count: int, vector: Sequence[float] | None = None) -> list[int]:
    """Store so many random vectors, or copies of one; return their ids."""
    last = Embedding.objects.order_by("-memory_id").values_list("memory_id", flat=True).first() or 0
    numbers = np.random.default_rng(last)
    ids = []
    for place in range(1, count + 1):
        row = numbers.normal(size=DIMENSION) if vector is None else np.array(vector)
        data = (row / np.linalg.norm(row)).astype("<f2").tobytes() if len(row) else b""
        ids.append(
            Embedding.objects.create(model=model, kind="o", memory_id=last + place, text_hash=b"", vector=data).pk
        )
    return ids


def remove(model: EmbeddingModel, ids: Sequence[int]) -> None:
    Embedding.objects.filter(pk__in=ids).delete()
    EmbeddingModel.objects.filter(pk=model.pk).update(removals=model.removals + 1)
    model.refresh_from_db()


def test_missing_vectors_are_added_and_ghosts_removed(model: EmbeddingModel) -> None:
    index = MemoryIndex()
    index.add([10_001, 10_002], np.eye(2, DIMENSION, dtype=np.float32))
    ids = store(model, 30)
    reconciler = Reconciler(index, model)
    seen = reconciler.look()
    assert (seen.held, seen.missing, seen.ghosts, seen.is_equal) == (2, 30, 2, False)
    left = reconciler.reconcile(LONG)
    assert (left.held, left.missing, left.ghosts, left.is_equal) == (30, 0, 0, True)
    assert index.ids() == set(ids)
    for id, data in Embedding.objects.values_list("pk", "vector"):
        assert (index.vectors[id] == np.frombuffer(data, "<f2").astype(np.float32)).all()


def test_rows_without_a_vector_are_not_missing(model: EmbeddingModel) -> None:
    store(model, 3, [])
    assert Reconciler(MemoryIndex(), model).look().is_equal


def test_vectors_of_other_models_are_left_out(model: EmbeddingModel) -> None:
    store(make_model("other/1", DIMENSION, searched=False), 3)
    assert Reconciler(MemoryIndex(), model).reconcile(LONG).held == 0


def test_work_stops_when_its_time_is_over_and_the_counts_say_what_is_left(model: EmbeddingModel) -> None:
    store(model, 20)
    reconciler = Reconciler(MemoryIndex(), model)
    left = reconciler.reconcile(0)
    assert (left.held, left.missing) == (0, 20)
    assert reconciler.reconcile(LONG).is_equal


def test_looking_costs_two_statements_when_nothing_changed(
    model: EmbeddingModel, django_assert_num_queries: object
) -> None:
    store(model, 20)
    reconciler = Reconciler(MemoryIndex(), model)
    reconciler.reconcile(LONG)
    with django_assert_num_queries(2):  # type: ignore[operator]
        reconciler.reconcile(LONG)


def test_batches_stay_small(model: EmbeddingModel) -> None:
    index = MemoryIndex()
    ids = store(model, 1500)
    reconciler = Reconciler(index, model)
    reconciler.reconcile(LONG)
    remove(model, ids[:1200])
    reconciler.reconcile(LONG)
    assert (len(index.vectors), index.largest <= LARGEST_BATCH) == (300, True)


@pytest.mark.parametrize("seed", range(5))
def test_any_order_of_changes_and_restarts_ends_equal(model: EmbeddingModel, seed: int) -> None:
    choose = random.Random(seed)  # noqa: S311 - no secret
    index = MemoryIndex()
    reconciler = Reconciler(index, model)
    for _ in range(25):
        present = list(Embedding.objects.values_list("pk", flat=True))
        match choose.randrange(5):
            case 0 | 1:
                store(model, choose.randrange(1, 6))
            case 2:
                remove(model, choose.sample(present, min(len(present), 3)))
            case 3:
                reconciler = Reconciler(index, model)
            case 4:
                reconciler.reconcile(choose.choice([0, LONG]))
    assert reconciler.reconcile(LONG).is_equal
    assert index.ids() == set(Embedding.objects.values_list("pk", flat=True))


@pytest.mark.parametrize("count", [1, 40, 300])
def test_sound_index_passes_probe_and_check(model: EmbeddingModel, count: int) -> None:
    store(model, count)
    reconciler = Reconciler(MemoryIndex(), model)
    reconciler.reconcile(LONG)
    reconciler.probe()
    assert list(reconciler.check())[-1] == Check(count, count)


def test_equal_vectors_do_not_look_lost(model: EmbeddingModel) -> None:
    store(model, 60, [1] * DIMENSION)
    reconciler = Reconciler(MemoryIndex(), model)
    reconciler.reconcile(LONG)
    reconciler.probe()
    assert list(reconciler.check())[-1] == Check(60, 60)


def test_probe_finds_that_nearly_all_vectors_are_out_of_reach(model: EmbeddingModel) -> None:
    index = MemoryIndex()
    ids = store(model, 40)
    Reconciler(index, model).reconcile(LONG)
    index.lost = set(ids[1:])
    with pytest.raises(IndexDamaged, match=r"^39 of 40 vectors tried are not found by queries$"):
        Reconciler(index, model).probe()


def test_check_says_how_many_vectors_are_out_of_reach(model: EmbeddingModel) -> None:
    index = MemoryIndex()
    ids = store(model, 250)
    reconciler = Reconciler(index, model)
    reconciler.reconcile(LONG)
    index.lost = set(ids[100:200])
    steps = reconciler.check()
    assert [next(steps) for _ in range(3)] == [
        Check(250, 100),
        Check(250, 200, unreachable=100),
        Check(250, 250, unreachable=100),
    ]
    with pytest.raises(IndexDamaged, match=r"^100 of 250 vectors are not found by queries, 0 are stale$"):
        next(steps)


def test_few_vectors_out_of_reach_are_put_back(model: EmbeddingModel) -> None:
    index = MemoryIndex()
    ids = store(model, 90)
    reconciler = Reconciler(index, model)
    reconciler.reconcile(LONG)
    index.lost = {ids[0], ids[50]}
    assert list(reconciler.check())[-1] == Check(90, 90, unreachable=2)
    assert index.lost == set()
    assert list(reconciler.check())[-1] == Check(90, 90)


def test_vectors_of_a_database_that_was_put_back_are_found_to_be_stale(model: EmbeddingModel) -> None:
    index = MemoryIndex()
    ids = store(model, 90)
    reconciler = Reconciler(index, model)
    reconciler.reconcile(LONG)
    index.vectors[ids[-1]] = -index.vectors[ids[-1]]
    reconciler = Reconciler(index, model)
    reconciler.look()
    reconciler.probe()
    assert list(reconciler.check())[-1] == Check(90, 90)
    for id in ids[-30:]:
        index.vectors[id] = -index.vectors[id]
    with pytest.raises(IndexDamaged, match=r"^30 of 83 vectors tried are not those of the database$"):
        Reconciler(index, model).probe()


@pytest.mark.parametrize(
    ("check", "is_sound"),
    [
        (Check(0), True),
        (Check(40, 40), True),
        (Check(40, 40, unreachable=1), False),
        (Check(103_000, 103_000, unreachable=34), True),
        (Check(103_000, 103_000, stale=1), False),
    ],
)
def test_check_allows_for_what_every_graph_misses(check: Check, is_sound: bool) -> None:
    assert check.is_sound is is_sound
