"""The queue of memories to embed: filled by whatever writes, kept alive over migrations."""

from collections.abc import Callable

import pytest
from django.db import connection

from memweb.memories.kinds import Kind
from memweb.memories.models import MEMORY_MODELS, Memory, Observation
from search.models import EmbeddingTask
from search.vectors.queue import (
    backlog,
    drop_queue,
    ensure_queue,
    queue_everything,
    queue_faults,
    queue_objects,
    text_columns,
)
from tests.factories import make_drawer, make_observation, make_one_of_each, make_prompt, make_summary
from tests.search.vectors.stored import make_model, store

pytestmark = pytest.mark.django_db
MAKE: dict[Kind, Callable[..., Memory]] = {
    Kind.DRAWER: make_drawer,
    Kind.OBSERVATION: make_observation,
    Kind.PROMPT: make_prompt,
    Kind.SUMMARY: make_summary,
}
COLUMNS = [(kind, column) for kind in Kind for column in text_columns(kind)]


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
    MEMORY_MODELS[kind].objects.filter(pk=memory.pk).update(**{column: "third"})
    assert list(queued()) == [name]


@pytest.mark.parametrize("kind", Kind)
def test_same_text_and_other_columns_are_not_queued(kind: Kind) -> None:
    memory = MAKE[kind]("a text")
    queued()
    memory.pinned = True
    memory.save()
    MEMORY_MODELS[kind].objects.update(state="trashed", note="a note")
    assert queued() == {}


def test_bulk_and_raw_writes_are_queued() -> None:
    first = make_observation("one")
    queued()
    Observation.objects.bulk_create(
        [Observation(project=first.project, title=title, created_at=first.created_at) for title in ("two", "three")]
    )
    with connection.cursor() as cursor:
        cursor.execute("UPDATE memories_observation SET id = 77 WHERE id = %s", [first.pk])
    assert set(queued()) == {f"o{first.pk}", f"o{first.pk + 1}", f"o{first.pk + 2}", "o77"}


@pytest.mark.parametrize("clause", ["", " OR FAIL", " OR IGNORE", " OR ROLLBACK", " OR REPLACE"])
def test_waiting_task_counts_changes_whatever_the_writing_statement_says(clause: str) -> None:
    memory = make_prompt("one")
    task = EmbeddingTask.objects.get()
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE{clause} memories_userprompt SET text = 'two' WHERE id = %s", [memory.pk])
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
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {name}")
    assert queue_faults() == [f"trigger {name} is missing"]
    assert ensure_queue() == [kind]
    assert queue_faults() == []
    assert queued() == {str(memories[kind].ref): 0}


def test_other_trigger_is_replaced() -> None:
    wanted = next(iter(queue_objects(Kind.DRAWER)))
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {wanted.name}")
        cursor.execute(wanted.sql.replace("VALUES ('d', new.id, 0)", "VALUES ('d', new.id + 1, 0)"))
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
