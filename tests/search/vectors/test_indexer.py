"""The indexer makes the stored vectors equal to the memories, whatever happens to either."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import TextField, Value

from memweb.memories.kinds import Kind
from memweb.memories.models import Drawer, Memory, Observation
from search.models import Embedding, EmbeddingModel, EmbeddingTask, TokenStates
from search.vectors import indexer as module
from search.vectors import queue
from search.vectors.embedding import Embedded, EmbedderUnavailable
from search.vectors.indexer import Done, Indexer
from search.vectors.nearest import coverage, nearest, similarities, token_states
from search.vectors.queue import queue_everything
from search.vectors.stored import hash_text
from search.vectors.texts import chunks_of, stored_name
from tests.embedders import FakeEmbedder
from tests.factories import make_drawer, make_one_of_each, make_prompt, moment

pytestmark = pytest.mark.django_db
LONG = " ".join(f"word{number}" for number in range(200))


def index(embedder: FakeEmbedder | None = None, **options: Any) -> Done:
    """Run an indexer until nothing waits."""
    done = Indexer(embedder or FakeEmbedder()).run(**options)
    assert done.is_complete
    return done


def stored(model: str = "fake/1") -> dict[str, list[bytes]]:
    """Return the text hashes of what is stored, by memory."""
    rows = Embedding.objects.filter(model__name=model).order_by("kind", "memory_id", "chunk")
    found: dict[str, list[bytes]] = {}
    for row in rows:
        found.setdefault(f"{row.kind}{row.memory_id}", []).append(bytes(row.text_hash))
    return found


def wanted(*memories: Memory) -> dict[str, list[bytes]]:
    """Return the text hashes that should be stored."""
    embedder = FakeEmbedder()
    found = {str(one.ref): [hash_text(text) for text in chunks_of(one, embedder) or [""]] for one in memories}
    return dict(sorted(found.items()))


def removals() -> int:
    return EmbeddingModel.objects.get(is_searched=True).removals


def edit(memory: Memory, **values: Any) -> None:
    for name, value in values.items():
        setattr(memory, name, value)
    memory.save()


def test_every_kind_is_embedded_and_found() -> None:
    memories = make_one_of_each("the tortoise sleeps")
    done = index()
    assert (done.memories, done.embedded, done.reused, done.removed) == (4, 1, 3, 0)
    assert stored() == wanted(*memories)
    vector = FakeEmbedder().embed_query("tortoise").vectors[0]
    assert {one.kind for one in nearest(vector, 9).neighbours} == set(Kind)
    assert coverage().is_complete
    assert coverage().embedded == coverage().total == 4


def test_vectors_and_states_are_those_of_the_embedder() -> None:
    drawer = make_drawer(LONG)
    index()
    embedder = FakeEmbedder()
    chunks = chunks_of(drawer, embedder)
    made = embedder.embed_documents(chunks)
    rows = list(Embedding.objects.order_by("chunk"))
    assert [row.chunk for row in rows] == list(range(len(chunks)))
    assert b"".join(bytes(row.vector) for row in rows) == made.vectors.astype("<f2").tobytes()
    assert made.states is not None
    found = token_states([(Kind.DRAWER, drawer.pk)])[Kind.DRAWER, drawer.pk]
    assert [one.tolist() for one in found] == [one.tolist() for one in made.states]


def test_embedder_without_states_stores_none() -> None:
    make_drawer("a text")
    index(FakeEmbedder(state_width=0))
    assert Embedding.objects.count() == 1
    assert TokenStates.objects.count() == 0


def test_newest_memories_are_embedded_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TEXTS_AT_ONCE", 2)
    for number in range(6):
        make_drawer(f"drawer {number}", created_at=moment(number * 2))
        make_prompt(f"prompt {number}", created_at=moment(number * 2 + 1))
    embedder = FakeEmbedder()
    index(embedder)
    assert embedder.texts == [f"{kind} {number}" for number in range(5, -1, -1) for kind in ("prompt", "drawer")]


def test_title_only_is_embedded_and_empty_is_marked_once(shared: Path) -> None:
    call_command("import", str(shared / "cases/files/D13_title_only.db"), "--json", verbosity=0)
    embedder = FakeEmbedder()
    done = index(embedder)
    titled, empty = Observation.objects.exclude(title="").get(), Observation.objects.get(title="")
    assert embedder.texts == [titled.title]
    assert (done.memories, done.embedded, done.empty) == (2, 1, 1)
    assert stored() == wanted(titled, empty)
    assert bytes(Embedding.objects.get(memory_id=empty.pk).vector) == b""
    assert index(embedder).memories == 0
    assert embedder.texts == [titled.title]
    assert coverage().is_complete
    assert coverage().embedded == coverage().total == 2


def test_empty_memory_that_gets_a_text_is_embedded() -> None:
    drawer = make_drawer("")
    index()
    edit(drawer, text="now a text")
    assert index().removed == 1
    assert stored() == wanted(drawer)


def test_edited_text_gets_new_rows_and_loses_the_old_ones() -> None:
    drawer, other = make_drawer(LONG), make_drawer("other")
    index()
    old = {row.pk for row in Embedding.objects.filter(memory_id=drawer.pk)}
    edit(drawer, text="short now")
    assert index().removed == len(old)
    assert removals() == len(old)
    assert stored() == wanted(drawer, other)
    assert not old & set(Embedding.objects.values_list("pk", flat=True))
    assert not TokenStates.objects.exclude(pk__in=Embedding.objects.values("pk")).exists()
    vector = FakeEmbedder().embed_query("short now").vectors[0]
    assert similarities(vector, [(Kind.DRAWER, drawer.pk)])[Kind.DRAWER, drawer.pk] > 0.99


def test_unchanged_chunks_of_an_edited_text_keep_their_rows() -> None:
    drawer = make_drawer(LONG)
    index()
    before = dict(Embedding.objects.values_list("chunk", "pk"))
    edit(drawer, text=LONG + " and more")
    done = index()
    after = dict(Embedding.objects.values_list("chunk", "pk"))
    assert (done.embedded, done.removed) == (1, 1)
    assert {chunk for chunk in before if before[chunk] == after[chunk]} == set(range(len(before) - 1))
    assert stored() == wanted(drawer)


def test_same_text_again_changes_nothing() -> None:
    drawer = make_drawer("a text")
    index()
    before = list(Embedding.objects.values())
    edit(drawer, text="another")
    edit(drawer, text="a text")
    embedder = FakeEmbedder()
    done = index(embedder)
    assert (done.memories, done.unchanged, embedder.texts) == (1, 1, [])
    assert list(Embedding.objects.values()) == before
    assert removals() == 0


def test_removed_memories_lose_their_vectors() -> None:
    gone, kept = make_drawer(LONG), make_drawer("kept")
    index()
    count = Embedding.objects.filter(memory_id=gone.pk).count()
    vector = FakeEmbedder().embed_query("word3").vectors[0]
    assert len(nearest(vector, 5).neighbours) == 2
    gone.delete()
    done = index()
    assert (done.gone, done.removed, removals()) == (1, count, count)
    assert stored() == wanted(kept)
    assert [one.id for one in nearest(vector, 5).neighbours] == [kept.pk]


def test_memory_removed_before_it_was_embedded_leaves_nothing() -> None:
    make_drawer("gone").delete()
    assert index().gone == 1
    assert stored() == {}


def test_equal_texts_are_embedded_once() -> None:
    drawers = [make_drawer("continue") for _ in range(100)]
    embedder = FakeEmbedder()
    done = index(embedder)
    assert (embedder.texts, done.embedded, done.reused) == (["continue"], 1, 99)
    assert stored() == wanted(*drawers)


def test_removing_very_many_vectors_stays_within_sqlites_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TASKS_AT_ONCE", 40_000)
    make_drawer("kept")
    index()
    with connection.cursor() as cursor:
        cursor.execute(
            "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 40001)"
            " INSERT INTO search_embedding (model_id, kind, memory_id, chunk, text_hash, vector)"
            " SELECT model_id, kind, i, 0, text_hash, vector FROM n CROSS JOIN search_embedding"
        )
        cursor.execute(
            "INSERT INTO search_tokenstates (embedding_id, states) SELECT id, x'00' FROM search_embedding"
            " WHERE memory_id > 1"
        )
    vector = FakeEmbedder().embed_query("kept").vectors[0]
    while nearest(vector, 1).problem:  # a search reads for a short time only
        pass
    assert len(nearest(vector, 50_000).neighbours) == 40_001
    assert queue_everything() == 40_001
    done = index()
    assert (done.gone, done.removed, done.unchanged, removals()) == (40_000, 40_000, 1, 40_000)
    assert Embedding.objects.count() == TokenStates.objects.count() == 1
    assert [one.id for one in nearest(vector, 50_000).neighbours] == [1]


@pytest.mark.parametrize(
    "values",
    [
        {"vector": b"short"},
        {"vector": bytes(64)},
        {"vector": b"\xff" * 64},
        {"kind": "x"},
        {"chunk": 10**6},
        {"memory_id": Value("one", TextField())},
    ],
    ids=["length", "zeros", "nan", "kind", "chunk", "memory"],
)
def test_foreign_rows_are_dropped_and_embedded_again(values: dict[str, Any]) -> None:
    memories = make_one_of_each("a text")
    index()
    Embedding.objects.filter(kind="o").update(**values)
    vector = FakeEmbedder().embed_query("a text").vectors[0]
    assert len(nearest(vector, 9).neighbours) in (3, 4)  # a row that was read when it was sound may still be found
    if "vector" not in values:  # the row does not tell whose it was
        EmbeddingTask.objects.create(kind="o", memory_id=memories[1].pk)
    rewrite_rows()
    index()
    assert stored() == wanted(*memories)
    assert len(nearest(vector, 9).neighbours) == 4


def rewrite_rows() -> None:
    """Give all rows new ids, as somebody does who puts foreign ones in: those that were read are known as sound."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA defer_foreign_keys = ON")
        cursor.execute("UPDATE search_embedding SET id = id + 1000")
        cursor.execute("UPDATE search_tokenstates SET embedding_id = embedding_id + 1000")


def test_text_that_gives_no_sound_vector_is_stored_without_one() -> None:
    class Broken(FakeEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> Embedded:
            made = super().embed_documents(texts)
            for place, text in enumerate(texts):
                if "bad" in text:
                    made.vectors[place] = np.nan
            return made

    bad, good = make_drawer("bad"), make_drawer("good")
    embedder = Broken()
    index(embedder)
    assert {row.memory_id: len(row.vector) for row in Embedding.objects.all()} == {bad.pk: 0, good.pk: 64}
    assert index(embedder).memories == 0
    assert sorted(embedder.texts) == ["bad", "good"]


def test_failing_embedder_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TEXTS_AT_ONCE", 2)

    class Failing(FakeEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> Embedded:
            if len(self.texts) == 4:
                raise EmbedderUnavailable("the service does not answer")
            return super().embed_documents(texts)

    drawers = [make_drawer(f"text {number}") for number in range(7)]
    with pytest.raises(EmbedderUnavailable):
        index(Failing())
    assert Embedding.objects.count() == 4
    embedder = FakeEmbedder()
    index(embedder)
    assert len(embedder.texts) == 3
    assert stored() == wanted(*drawers)


def test_change_while_a_text_is_embedded_is_not_lost() -> None:
    class Slow(FakeEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> Embedded:
            if during:
                during.pop()()
            return super().embed_documents(texts)

    edited, removed = make_drawer("before"), make_prompt("before too")
    during: list[Callable[[], None]] = [lambda: removed.delete() and None, lambda: edit(edited, text="after")]
    ref = str(removed.ref)
    index(Slow())
    assert stored() == wanted(edited)
    assert ref not in stored()


def test_time_limit_ends_a_run_that_the_next_one_continues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TEXTS_AT_ONCE", 2)
    drawers = [make_drawer(f"text {number}") for number in range(7)]
    drawers.append(make_drawer(LONG))
    done = Indexer(FakeEmbedder()).run(limit_seconds=0)
    assert (done.embedded, done.is_complete) == (2, False)
    indexer, runs = Indexer(FakeEmbedder()), 1
    while not indexer.run(limit_seconds=0).is_complete:
        runs += 1
    assert runs > 3
    assert stored() == wanted(*drawers)


def test_progress_is_told_while_it_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TEXTS_AT_ONCE", 2)
    for number in range(6):
        make_drawer(f"text {number}")
    told: list[int] = []
    done = Indexer(FakeEmbedder(), lambda done: told.append(done.embedded)).run()
    assert told == sorted(told)
    assert {2, 4, 6} <= set(told)
    assert done.rate == done.embedded / done.seconds > 0


def test_idle_run_asks_little(django_assert_num_queries: Any) -> None:
    make_drawer("a text")
    indexer = Indexer(FakeEmbedder())
    indexer.run()
    with django_assert_num_queries(11):
        assert indexer.run().is_complete


def test_other_model_is_built_beside_and_then_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TEXTS_AT_ONCE", 2)
    drawers = [make_drawer(f"text {number}") for number in range(6)]
    index()
    new = Indexer(FakeEmbedder("new", dimension=8, state_width=4, salt="new"))
    new.run(limit_seconds=0)
    assert [(model.name, model.is_searched) for model in EmbeddingModel.objects.order_by("pk")] == [
        ("fake/1", True),
        ("new/1", False),
    ]
    assert stored() == wanted(*drawers)
    assert (coverage().model, coverage().next_model, coverage().is_complete) == ("fake/1", "new/1", False)
    assert len(nearest(FakeEmbedder().embed_query("text 1").vectors[0], 9).neighbours) == 6
    assert new.run().is_complete
    [model] = EmbeddingModel.objects.all()
    assert (model.name, model.is_searched, model.dimension, model.state_width) == ("new/1", True, 8, 4)
    assert stored("new/1") == wanted(*drawers)
    assert Embedding.objects.count() == TokenStates.objects.count() == 6
    assert len(nearest(FakeEmbedder("new", 8, salt="new").embed_query("text 1").vectors[0], 9).neighbours) == 6


def test_queueing_for_another_model_that_is_cut_off_begins_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "QUEUED_AT_ONCE", 2)
    memories = [make_drawer(f"text {number}") for number in range(7)]
    index()

    class Ended(BaseException):
        pass

    begun: list[str] = []

    def end_at_third_part(execute: Callable[..., Any], sql: str, *more: Any) -> Any:
        begun.extend([sql] if sql.startswith("INSERT INTO search_embeddingtask") else [])
        if len(begun) == 3:
            raise Ended
        return execute(sql, *more)

    with connection.execute_wrapper(end_at_third_part), pytest.raises(Ended):
        Indexer(FakeEmbedder("other", salt="other")).run()
    assert EmbeddingTask.objects.count() == 4
    assert list(EmbeddingModel.objects.values_list("name", "is_searched")) == [("fake/1", True)]
    index(FakeEmbedder("other", salt="other"))
    assert stored("other/1") == wanted(*memories)
    assert stored("fake/1") == {}


def test_going_back_to_the_first_model_keeps_its_rows_and_catches_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TEXTS_AT_ONCE", 2)
    drawers = [make_drawer(f"text {number}") for number in range(6)]
    index()
    edit(drawers[0], text="edited")
    Indexer(FakeEmbedder("new")).run(limit_seconds=0)  # does the edited one first, for the new model only
    assert not EmbeddingTask.objects.filter(memory_id=drawers[0].pk).exists()
    embedder = FakeEmbedder()
    index(embedder)
    assert embedder.texts == ["edited"]
    assert stored() == wanted(*drawers)
    assert [model.name for model in EmbeddingModel.objects.all()] == ["fake/1"]


def test_model_of_the_same_name_and_another_dimension_is_built_anew() -> None:
    drawers = [make_drawer(f"text {number}") for number in range(3)]
    index(FakeEmbedder(dimension=32))
    done = index(FakeEmbedder(dimension=8))
    assert done.embedded == 3
    assert stored() == wanted(*drawers)
    assert {len(row.vector) for row in Embedding.objects.all()} == {16}


def test_another_recipe_embeds_everything_again(monkeypatch: pytest.MonkeyPatch) -> None:
    make_drawer("a text")
    index()
    monkeypatch.setattr("search.vectors.texts.RECIPE", "2")
    assert index().embedded == 1
    assert [model.name for model in EmbeddingModel.objects.all()] == [stored_name("fake")] == ["fake/2"]


def test_vectors_of_memories_that_went_without_a_trigger_are_removed() -> None:
    gone, kept = make_drawer("gone"), make_drawer("kept")
    index()
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER memories_drawer_embedding_delete")
    Drawer.objects.filter(pk=gone.pk).delete()
    assert not EmbeddingTask.objects.exists()
    index()
    assert stored() == wanted(kept)


def test_two_indexers_at_once_store_every_vector_once() -> None:
    class Other(FakeEmbedder):
        def embed_documents(self, texts: Sequence[str]) -> Embedded:
            if not self.texts:
                self.texts.append("")
                index()
            return super().embed_documents(texts)

    drawers = [make_drawer(f"text {number}") for number in range(3)]
    index(Other())
    assert stored() == wanted(*drawers)
