"""The queue of memories to embed: filled by whatever writes, kept alive over migrations."""

from collections.abc import Callable, Sequence

import pytest
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from memweb.memories.kinds import Kind
from memweb.memories.models import MEMORY_MODELS, Memory, Observation
from search.models import EmbeddingTask
from search.vectors import queue
from search.vectors.queue import (
    backlog,
    count_gone,
    drop_queue,
    drop_unknown_tasks,
    ensure_queue,
    has_tasks,
    next_tasks,
    queue_everything,
    queue_faults,
    queue_objects,
    remove_tasks,
    text_columns,
)
from tests.factories import make_drawer, make_observation, make_one_of_each, make_prompt, make_summary, moment
from tests.search.vectors.stored import make_model, store

pytestmark = pytest.mark.django_db
MAKE: dict[Kind, Callable[..., Memory]] = {
    Kind.DRAWER: make_drawer,
    Kind.OBSERVATION: make_observation,
    Kind.PROMPT: make_prompt,
    Kind.SUMMARY: make_summary,
}
COLUMNS = [(kind, column) for kind in Kind for column in text_columns(kind)]


def run(sql: str, values: Sequence[int] = ()) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)


def queued() -> dict[str, int]:
    """Return what waits, with its changes, and empty the queue."""
    found = {f"{task.kind}{task.memory_id}": task.changes for task in EmbeddingTask.objects.order_by("pk")}
    EmbeddingTask.objects.all().delete()
    return found


def test_queue_watches_the_texts_of_each_kind() -> None:
    assert {kind: text_columns(kind) for kind in Kind} == {
        Kind.DRAWER: ("text",),
        Kind.OBSERVATION: ("title", "subtitle", "narrative", "facts", "text"),
        Kind.PROMPT: ("text",),
        Kind.SUMMARY: ("request", "investigated", "learned", "completed", "next_steps", "notes"),
    }


@pytest.mark.parametrize("kind", Kind)
def test_new_and_removed_memories_are_queued(kind: Kind) -> None:
    memory = MAKE[kind]("a text")
    name = str(memory.ref)
    assert queued() == {name: 0}
    memory.delete()
    assert queued() == {name: 1}


@pytest.mark.parametrize(("kind", "column"), COLUMNS)
def test_every_changed_text_is_queued(kind: Kind, column: str) -> None:
    memory = MAKE[kind]("a text")
    name = str(memory.ref)
    queued()
    setattr(memory, column, ["a fact"] if column == "facts" else "another text")
    memory.save()
    assert list(queued()) == [name]
    run(f"UPDATE {MEMORY_MODELS[kind]._meta.db_table} SET {column} = '[\"third\"]'")
    assert list(queued()) == [name]


@pytest.mark.parametrize("kind", Kind)
def test_same_text_and_other_columns_are_not_queued(kind: Kind) -> None:
    memory = MAKE[kind]("a text")
    queued()
    memory.pinned = True
    memory.save()
    run(f"UPDATE {MEMORY_MODELS[kind]._meta.db_table} SET state = 'trashed', note = 'a note'")
    assert queued() == {}


def test_bulk_and_raw_writes_are_queued() -> None:
    first = make_observation("one")
    queued()
    Observation.objects.bulk_create(
        [Observation(project=first.project, title=title, created_at=first.created_at) for title in ("two", "three")]
    )
    run("UPDATE memories_observation SET id = 77 WHERE id = %s", [first.pk])
    assert set(queued()) == {f"o{first.pk}", f"o{first.pk + 1}", f"o{first.pk + 2}", "o77"}


@pytest.mark.parametrize("clause", ["", " OR FAIL", " OR IGNORE", " OR ROLLBACK", " OR REPLACE"])
def test_waiting_task_counts_changes_whatever_the_writing_statement_says(clause: str) -> None:
    memory = make_prompt("one")
    task = EmbeddingTask.objects.get()
    run(f"UPDATE{clause} memories_userprompt SET text = 'two' WHERE id = %s", [memory.pk])
    again = EmbeddingTask.objects.get()
    assert again.pk == task.pk
    assert again.changes > task.changes


def test_migrations_make_all_triggers() -> None:
    assert queue_faults() == []
    assert ensure_queue() == []
    drop_queue()
    assert queue_faults() == [f"trigger {one.name} is missing" for kind in Kind for one in queue_objects(kind)]


@pytest.mark.parametrize("name", [one.name for kind in Kind for one in queue_objects(kind)])
def test_missing_trigger_is_made_again_and_its_kind_queued(name: str) -> None:
    [kind] = [kind for kind in Kind if any(one.name == name for one in queue_objects(kind))]
    memories = {memory.kind: memory for memory in make_one_of_each("before")}
    queued()
    run(f"DROP TRIGGER {name}")
    assert queue_faults() == [f"trigger {name} is missing"]
    assert ensure_queue() == [kind]
    assert queue_faults() == []
    assert queued() == {str(memories[kind].ref): 0}


def test_trigger_is_not_made_without_queueing_what_was_missed(monkeypatch: pytest.MonkeyPatch) -> None:
    make_drawer("missed")
    queued()
    drop_queue()

    def fail(*_: object) -> int:
        raise OperationalError("the disk is full")

    with monkeypatch.context() as context, pytest.raises(OperationalError), transaction.atomic():
        context.setattr(queue, "queue_everything", fail)
        ensure_queue()
    assert len(queue_faults()) == 12
    assert ensure_queue() == [Kind.DRAWER]
    assert queued() == {"d1": 0}


def test_other_trigger_is_replaced() -> None:
    wanted = next(iter(queue_objects(Kind.DRAWER)))
    run(f"DROP TRIGGER {wanted.name}")
    run(wanted.sql.replace("VALUES ('d', new.id, 0)", "VALUES ('d', new.id + 1, 0)"))
    assert queue_faults() == [f"trigger {wanted.name} differs from what memweb makes"]
    assert ensure_queue() == []  # no row can have been missed
    assert queue_faults() == []


def test_everything_is_queued_once_and_with_it_what_only_has_vectors_left() -> None:
    gone, *others = [make_drawer(str(number)) for number in range(3)]
    model = make_model()
    for drawer in (gone, *others):
        store(model, drawer, [1, 0, 0, 0], [0, 1, 0, 0])
    ref = str(gone.ref)
    drop_queue()
    gone.delete()
    EmbeddingTask.objects.all().delete()
    assert queue_everything() == 3
    assert queue_everything() == 0
    assert backlog() == {Kind.DRAWER: 3, Kind.OBSERVATION: 0, Kind.PROMPT: 0, Kind.SUMMARY: 0}
    assert queued() == {str(others[0].ref): 0, str(others[1].ref): 0, ref: 1}


def test_everything_is_queued_in_parts_between_which_others_can_write(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "QUEUED_AT_ONCE", 3)
    model = make_model()
    drawers = [make_drawer(str(number)) for number in range(10)]
    for drawer in drawers:
        store(model, drawer, [1, 0, 0, 0])
    drop_queue()
    for drawer in drawers[1:6]:
        drawer.delete()
    EmbeddingTask.objects.all().delete()
    with CaptureQueriesContext(connection) as queries:
        assert queue_everything([Kind.DRAWER]) == 10
    added = [query["sql"] for query in queries if query["sql"].startswith("INSERT")]
    assert len(added) == 4  # 3 and 2 that are there, 3 and 2 that are gone
    assert EmbeddingTask.objects.count() == 10
    assert count_gone() == 5
    assert queue_everything([Kind.DRAWER]) == 0


def test_changed_memories_come_first_then_the_newest_of_all_kinds() -> None:
    old = make_drawer("old, changed", created_at=moment(-900))
    for number in range(3):
        make_drawer("drawer", created_at=moment(10 * number))
        make_prompt("prompt", created_at=moment(10 * number + 5))
    make_summary("without a time", created_at=None)
    gone = make_observation("gone", created_at=moment(-800))
    run("UPDATE memories_drawer SET text = 'new' WHERE id = %s", [old.pk])
    gone.delete()
    found = [f"{one.kind.letter}{one.memory_id}" for one in next_tasks(20)]
    first = old.pk + 1
    assert found[:2] == ["o1", f"d{old.pk}"]
    assert found[2:] == ["p3", f"d{first + 2}", "p2", f"d{first + 1}", "p1", f"d{first}", "s1"]
    assert [f"{one.kind.letter}{one.memory_id}" for one in next_tasks(4)] == found[:4]


def test_next_tasks_read_no_more_of_the_queue_than_they_return() -> None:
    with CaptureQueriesContext(connection) as queries:
        next_tasks(5)
    plans = []
    for query in queries:
        with connection.cursor() as cursor:
            cursor.execute(f"EXPLAIN QUERY PLAN {query['sql']}")
            plans += [row[3] for row in cursor.fetchall()]
    assert len(queries) == 5
    assert [plan for plan in plans if "TEMP B-TREE" in plan or "SCAN t" in plan] == []
    assert sum("embedding_task_changed" in plan for plan in plans) == 1


def test_task_whose_memory_changed_meanwhile_stays() -> None:
    kept, _ = make_drawer("kept"), make_drawer("done")
    tasks = next_tasks(5)
    run("UPDATE memories_drawer SET text = 'new' WHERE id = %s", [kept.pk])
    with connection.cursor() as cursor:
        remove_tasks(cursor, tasks)
    assert has_tasks()
    assert [task.memory_id for task in next_tasks(5)] == [kept.pk]


def test_tasks_for_what_is_no_memory_are_dropped() -> None:
    EmbeddingTask.objects.create(kind="x", memory_id=1)
    run("INSERT INTO search_embeddingtask (kind, memory_id, changes) VALUES ('d', 'one', 0)")
    make_drawer("a text")
    drop_unknown_tasks()
    assert list(queued()) == ["d1"]
    drop_unknown_tasks()
    assert not has_tasks()
