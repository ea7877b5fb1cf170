"""What search asks of the stored vectors."""

import math
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from memweb.memories.kinds import Kind
from search.models import EmbeddingTask
from search.vectors import embedders, embedding
from search.vectors import nearest as door
from search.vectors.embedding import EmbedderUnavailable, Vectors
from search.vectors.indexer import Indexer
from search.vectors.nearest import (
    BroadIndexUnavailable,
    Coverage,
    Nearest,
    Neighbour,
    coverage,
    nearest,
    query_embedder,
    register_broad_index,
    similarities,
    token_states,
    warm_up,
)
from tests.embedders import FakeEmbedder
from tests.factories import make_drawer, make_observation, make_prompt, make_summary
from tests.search.vectors.stored import make_model, store

pytestmark = pytest.mark.django_db
EAST = np.array([1, 0, 0, 0], np.float32)


@pytest.fixture(autouse=True)
def no_broad_index() -> Iterator[None]:
    yield
    register_broad_index(None)


def test_memories_of_every_kind_are_found_by_their_best_chunk() -> None:
    model = make_model()
    store(model, make_drawer("a"), [0, 1, 0, 0], [0.6, 0.8, 0, 0])
    store(model, make_observation("b"), [1, 0, 0, 0])
    store(model, make_prompt("c"), [0, 0, 1, 0])
    store(model, make_summary("d"), [-1, 0, 0, 0])
    found = nearest(EAST, 3)
    assert [(one.kind, one.id, round(one.similarity, 3), one.chunk) for one in found.neighbours] == [
        (Kind.OBSERVATION, 1, 1.0, 0),
        (Kind.DRAWER, 1, 0.6, 1),
        (Kind.PROMPT, 1, 0.0, 0),
    ]
    assert (found.source, found.problem) == ("exact", None)


def test_nothing_stored_finds_nothing() -> None:
    assert nearest(EAST, 3) == Nearest([], "exact", None)
    assert similarities(EAST, [(Kind.DRAWER, 1)]) == {}
    assert token_states([(Kind.DRAWER, 1)]) == {}
    assert coverage() == Coverage(0, 0, None, False)


def test_vectors_of_another_dimension_are_not_compared() -> None:
    store(make_model(), make_drawer("a"), [1, 0, 0, 0])
    vector = np.array([1, 0], np.float32)
    assert nearest(vector, 3) == Nearest([], "exact", "the stored vectors are of another model (fake/1)")
    assert similarities(vector, [(Kind.DRAWER, 1)]) == {}


def test_models_that_are_not_searched_are_not_compared() -> None:
    drawer = make_drawer("a")
    store(make_model("old"), drawer, [0.6, 0.8, 0, 0])
    store(make_model("new", searched=False), drawer, [1, 0, 0, 0])
    assert {key: round(one, 3) for key, one in similarities(EAST, [(Kind.DRAWER, drawer.pk)]).items()} == {
        (Kind.DRAWER, drawer.pk): 0.6
    }


def test_rows_that_are_not_ours_are_passed_over() -> None:
    model = make_model()
    store(model, make_drawer("short"), [1, 0])
    store(model, make_drawer("empty"), [])
    strange, good = make_drawer("strange"), make_drawer("good")
    [row] = store(model, strange, [1, 0, 0, 0])
    type(row).objects.filter(pk=row.pk).update(kind="x")
    store(model, good, [1, 0, 0, 0])
    assert nearest(EAST, 9).neighbours == [Neighbour(Kind.DRAWER, good.pk, 1.0, 0)]


def test_token_states_come_chunk_by_chunk_in_one_statement() -> None:
    model = make_model(state_width=2)
    first, second, bare = make_drawer("a"), make_observation("b"), make_prompt("c")
    store(model, first, [1, 0, 0, 0], [0, 1, 0, 0], states=[[[1, 2], [3, 4]], [[5, 6]]])
    store(model, second, [1, 0, 0, 0], states=[[[7, -8]]])
    store(model, bare, [1, 0, 0, 0])
    keys = [(Kind.OBSERVATION, second.pk), (Kind.DRAWER, first.pk), (Kind.PROMPT, bare.pk), (Kind.DRAWER, first.pk)]
    with CaptureQueriesContext(
        connection,
    ) as queries:
        found = token_states(keys)
    assert len(queries) == 1
    assert {key: [one.tolist() for one in chunks] for key, chunks in found.items()} == {
        (Kind.DRAWER, first.pk): [[[1, 2], [3, 4]], [[5, 6]]],
        (Kind.OBSERVATION, second.pk): [[[7, -8]]],
    }


def test_token_states_are_found_by_the_index() -> None:
    with CaptureQueriesContext(connection) as queries:
        token_states([(Kind.DRAWER, 1)])
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {queries[0]['sql']}")
        plan = " | ".join(row[3] for row in cursor.fetchall())
    assert "SEARCH e USING COVERING INDEX" in plan
    assert "SEARCH t USING INDEX" in plan


def test_coverage_counts_memories_not_chunks() -> None:
    model = make_model()
    store(model, make_drawer("a"), [0, 1, 0, 0], [0.6, 0.8, 0, 0])
    make_prompt("waits")
    assert coverage() == Coverage(1, 2, "fake/1", False)
    EmbeddingTask.objects.all().delete()
    assert coverage().is_complete


def test_registered_index_answers_questions_without_a_filter() -> None:
    model = make_model()
    drawers = [make_drawer(str(number)) for number in range(3)]
    rows = [
        store(model, drawer, [math.sqrt(1 - (number / 4) ** 2), number / 4, 0, 0])[0]
        for number, drawer in enumerate(drawers)
    ]
    asked = []

    def index(vector: Vectors, count: int) -> Sequence[tuple[int, float]]:
        asked.append(count)
        return [(rows[1].pk, 0.1), (rows[2].pk, 0.2), (10**9, 0.3)][:count]

    register_broad_index(index)
    found = nearest(EAST, 2)
    assert found.source == "chroma"
    assert [one.id for one in found.neighbours] == [drawers[1].pk, drawers[2].pk]
    assert nearest(EAST, 2, {Kind.DRAWER: [drawers[0].pk]}).source == "exact"
    assert asked == [2]


def test_registered_index_is_asked_for_more_while_chunks_hide_memories() -> None:
    model = make_model()
    long, short = make_drawer("long"), make_drawer("short")
    rows = store(model, long, *[[1, 0, 0, 0]] * 9) + store(model, short, [0.6, 0.8, 0, 0])
    asked = []

    def index(vector: Vectors, count: int) -> Sequence[tuple[int, float]]:
        asked.append(count)
        return [(row.pk, 0.0) for row in rows][:count]

    register_broad_index(index)
    assert [one.id for one in nearest(EAST, 2).neighbours] == [long.pk, short.pk]
    assert asked == [2, 8, 32]


def test_failing_index_is_replaced_by_exact_comparison_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    drawer = make_drawer("a")
    store(make_model(), drawer, [1, 0, 0, 0])

    def index(vector: Vectors, count: int) -> Sequence[tuple[int, float]]:
        raise BroadIndexUnavailable("the vector index is being rebuilt")

    register_broad_index(index)
    found = nearest(EAST, 2)
    assert [one.id for one in found.neighbours] == [drawer.pk]
    assert (found.source, found.problem) == ("exact", "the vector index is being rebuilt")
    monkeypatch.setattr(door, "EXACT_ROWS", 0)
    assert nearest(EAST, 2) == Nearest(
        [], "exact", "the vector index is being rebuilt; 1 vectors are too many to compare one by one"
    )
    assert [one.id for one in nearest(EAST, 2, {Kind.DRAWER: [drawer.pk]}).neighbours] == [drawer.pk]


def test_file_of_vectors_that_is_cut_during_a_search_is_made_again(settings: Settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    drawer = make_drawer("a")
    rows = store(make_model(), drawer, [1, 0, 0, 0])
    cut: list[Path] = []

    def index(vector: Vectors, count: int) -> Sequence[tuple[int, float]]:
        if not cut:
            cut.extend((tmp_path / "vectors").glob("*.1/vectors"))
            os.truncate(cut[0], 0)
        return [(row.pk, 0.0) for row in rows][:count]

    register_broad_index(index)
    found = nearest(EAST, 2)
    assert [path.name for path in cut] == ["vectors"]
    assert ([one.id for one in found.neighbours], found.source, found.problem) == ([drawer.pk], "chroma", None)


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Callable[[str], FakeEmbedder]:
    """Make an embedder the one that the settings choose; those chosen before can still be loaded by name."""
    made: dict[str, FakeEmbedder] = {}

    def load_named(name: str) -> FakeEmbedder:
        if name not in made:
            raise EmbedderUnavailable(f"{name} is not here")
        return made[name]

    def choose(name: str) -> FakeEmbedder:
        settings.EMBEDDER = name
        made[name] = FakeEmbedder(name, dimension=4, state_width=2, salt=name)
        return made[name]

    monkeypatch.setattr(embedding, "_loaded", {})
    monkeypatch.setattr(embedders, "load_chosen", lambda: made[settings.EMBEDDER])
    monkeypatch.setattr(embedders, "load_named", load_named)
    return choose


def test_questions_are_embedded_as_the_searched_vectors_were(choose: Callable[[str], FakeEmbedder]) -> None:
    old = choose("old")
    assert query_embedder() is old
    drawer = make_drawer("a text")
    key = (Kind.DRAWER, drawer.pk)
    Indexer(old).run()
    new = choose("new")
    assert query_embedder() is old
    vector = old.embed_query("a text").vectors[0]
    assert nearest(vector, 5) == Nearest([], "exact", "the stored vectors are of another model (old/1)")
    assert similarities(vector, [key]) == token_states([key]) == {}
    assert [one.id for one in nearest(vector, 5, embedder="old").neighbours] == [drawer.pk]
    assert list(similarities(vector, [key], embedder="old")) == list(token_states([key], embedder="old")) == [key]
    Indexer(new).run()
    assert query_embedder() is new
    assert [one.id for one in nearest(new.embed_query("a text").vectors[0], 5).neighbours] == [drawer.pk]


def test_progress_of_another_model_is_told_while_the_first_one_answers(choose: Callable[[str], FakeEmbedder]) -> None:
    for number in range(5):
        make_drawer(f"text {number}")
    Indexer(choose("old")).run()
    assert coverage() == Coverage(5, 5, "old/1", True)
    assert coverage().note is None
    new = choose("new")
    store(make_model("new/1", 4, searched=False), make_drawer("late"), [1, 0, 0, 0])
    assert coverage() == Coverage(5, 6, "old/1", False, "new/1", 1)
    assert coverage().note == (
        "1 of 6 memories are embedded by new; until all are, old answers,"
        " and what it does not know is found by its words."
    )
    Indexer(new).run()
    assert coverage() == Coverage(6, 6, "new/1", True)
    assert coverage().note is None


def test_changed_memories_are_not_told_as_missing(choose: Callable[[str], FakeEmbedder]) -> None:
    drawer = make_drawer("before")
    Indexer(choose("one")).run()
    drawer.text = "after"
    drawer.save()
    assert coverage().note == "What was changed last is not embedded anew yet; it is found by its words."


def test_the_searched_model_answers_although_the_chosen_one_cannot_be_loaded(
    choose: Callable[[str], FakeEmbedder], settings: Settings
) -> None:
    old = choose("old")
    make_drawer("a text")
    Indexer(old).run()
    settings.EMBEDDER = "missing"
    assert query_embedder() is old


def test_warming_up_waits_for_a_model_that_no_page_waits_for(
    choose: Callable[[str], FakeEmbedder], monkeypatch: pytest.MonkeyPatch
) -> None:
    one = choose("one")
    is_asked = threading.Event()

    def load() -> FakeEmbedder:
        assert is_asked.wait(30)
        return one

    monkeypatch.setattr(embedders, "load_chosen", load)
    embedding.load_in_background(0.01)
    try:
        with pytest.raises(EmbedderUnavailable, match=r"^the model one is still being loaded$"):
            query_embedder()
        threading.Timer(0.1, is_asked.set).start()
        warm_up()
        assert query_embedder() is one
    finally:
        is_asked.set()
        embedding.load_in_background(None)


def test_warming_up_loads_both_models_while_one_follows_the_other(
    choose: Callable[[str], FakeEmbedder], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_drawer("a text")
    old = choose("old")
    Indexer(old).run()
    new = choose("new")
    warm_up()
    monkeypatch.setattr(embedders, "load_chosen", lambda: pytest.fail("loaded in a request"))
    monkeypatch.setattr(embedders, "load_named", lambda name: pytest.fail("loaded in a request"))
    assert query_embedder() is old
    Indexer(new).run()
    assert query_embedder() is new


def test_texts_that_were_cut_otherwise_can_still_be_asked(
    choose: Callable[[str], FakeEmbedder], monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = choose("one")
    drawer = make_drawer("a text")
    Indexer(embedder).run()
    monkeypatch.setattr("search.vectors.texts.RECIPE", "2")
    assert query_embedder() is embedder
    assert [one.id for one in nearest(embedder.embed_query("a text").vectors[0], 5).neighbours] == [drawer.pk]


def test_vectors_of_an_embedder_that_is_gone_cannot_be_asked(choose: Callable[[str], FakeEmbedder]) -> None:
    make_drawer("a text")
    Indexer(FakeEmbedder("gone")).run()
    choose("new")
    with pytest.raises(EmbedderUnavailable) as caught:
        query_embedder()
    assert str(caught.value) == (
        "the vectors of new are still being made, and those of before cannot be asked: gone is not here"
    )
