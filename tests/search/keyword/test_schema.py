"""The tables and triggers of the keyword index: made once, kept alive over migrations, true after every write."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.checks import Warning
from django.core.management import call_command
from django.db import connection, migrations, models
from django.db.migrations.loader import MigrationLoader

from memweb.memories.kinds import Kind
from memweb.memories.models import MEMORY_MODELS, Drawer, Observation, SessionSummary, UserPrompt
from search.checks import check_indexes
from search.keyword.maintenance import check_index, repair
from search.keyword.schema import CONTENT_TABLES, TABLES, drop_index, ensure_index, index_faults, index_objects
from tests.factories import make_drawer, make_observation, make_one_of_each, make_project, make_prompt, make_summary
from tests.search.searching import found

TEXT_FIELDS = {Kind.DRAWER: "text", Kind.OBSERVATION: "title", Kind.PROMPT: "text", Kind.SUMMARY: "request"}
MAKE: dict[Kind, Callable[..., Any]] = {
    Kind.DRAWER: make_drawer,
    Kind.OBSERVATION: make_observation,
    Kind.PROMPT: make_prompt,
    Kind.SUMMARY: make_summary,
}
SOUND = dict.fromkeys(Kind)
kinds = pytest.mark.parametrize("kind", Kind)


def test_every_kind_has_a_table_of_its_own() -> None:
    assert set(TABLES) == set(CONTENT_TABLES) == set(MEMORY_MODELS) == set(Kind)
    assert {kind: model._meta.db_table for kind, model in MEMORY_MODELS.items()} == CONTENT_TABLES
    assert TABLES == {
        Kind.DRAWER: "drawers_fts",
        Kind.OBSERVATION: "observations_fts",
        Kind.PROMPT: "user_prompts_fts",
        Kind.SUMMARY: "session_summaries_fts",
    }


@pytest.mark.django_db
def test_migrations_make_the_whole_index() -> None:
    assert index_faults(connection) == []
    assert ensure_index(connection) == []


@pytest.mark.django_db
@pytest.mark.parametrize("name", [wanted.name for kind in Kind for wanted in index_objects(kind)])
def test_missing_object_is_a_fault_and_is_made_again(name: str) -> None:
    [(kind, wanted)] = [(kind, one) for kind in Kind for one in index_objects(kind) if one.name == name]
    MAKE[kind]("before")
    with connection.cursor() as cursor:
        cursor.execute(f"DROP {wanted.type} {name}")
    faults = [f"{wanted.type} {name} is missing"]
    assert index_faults(connection) == faults
    assert check_indexes(["default"]) == [
        Warning(f"keyword index: {faults[0]}", hint="run `memweb index rebuild`", id="search.W001")
    ]
    assert repair(connection) == ([] if name.endswith("_vocab") else [kind])
    assert (index_faults(connection), check_index(), check_indexes(["default"])) == ([], SOUND, [])


@pytest.mark.django_db
@kinds
def test_trigger_of_another_version_is_a_fault_and_is_replaced(kind: Kind) -> None:
    name = f"{TABLES[kind]}_insert"
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {name}")
        cursor.execute(f"CREATE TRIGGER {name} AFTER INSERT ON {CONTENT_TABLES[kind]} BEGIN SELECT 1; END")
    assert index_faults(connection) == [f"trigger {name} differs from what memweb makes"]
    ensure_index(connection)
    assert index_faults(connection) == []


@pytest.mark.django_db
def test_dropped_index_comes_back_with_all_rows() -> None:
    memories = make_one_of_each("needle")
    drop_index(connection)
    assert len(index_faults(connection)) == len([one for kind in Kind for one in index_objects(kind)])
    drop_index(connection)  # nothing left to drop is no error
    assert repair(connection) == list(Kind)
    assert sorted(found("needle")) == sorted(str(one.ref) for one in memories)


@pytest.mark.django_db
def test_check_is_silent_before_the_first_migrate_and_for_no_database() -> None:
    assert check_indexes(None) == []
    assert check_indexes([]) == []


# Ways to write: each leaves the word "needle" in the index or takes it out again, and the index sound.
WRITES: dict[str, tuple[Callable[[Kind], Any], int]] = {}


def write(count: int) -> Callable[[Callable[[Kind], Any]], Callable[[Kind], Any]]:
    def register(function: Callable[[Kind], Any]) -> Callable[[Kind], Any]:
        WRITES[function.__name__] = (function, count)
        return function

    return register


def unsaved(kind: Kind, text: str) -> Any:
    values = {"time_quality": "unknown", "project": make_project(), TEXT_FIELDS[kind]: text}
    return MEMORY_MODELS[kind](**values)


@write(1)
def create(kind: Kind) -> None:
    MAKE[kind]("needle")


@write(3)
def bulk_create(kind: Kind) -> None:
    MEMORY_MODELS[kind].objects.bulk_create([unsaved(kind, "needle") for _ in range(3)])


@write(1)
def save(kind: Kind) -> None:
    memory = MAKE[kind]("other")
    setattr(memory, TEXT_FIELDS[kind], "needle")
    memory.save()


@write(1)
def save_of_one_field(kind: Kind) -> None:
    memory = MAKE[kind]("other")
    setattr(memory, TEXT_FIELDS[kind], "needle")
    memory.save(update_fields=[TEXT_FIELDS[kind]])


@write(1)
def get_or_create(kind: Kind) -> None:
    values = {"time_quality": "unknown", "project": make_project(), TEXT_FIELDS[kind]: "needle"}
    MEMORY_MODELS[kind].objects.get_or_create(**values)
    MEMORY_MODELS[kind].objects.get_or_create(**values)


@write(1)
def update_or_create(kind: Kind) -> None:
    memory = MAKE[kind]("other")
    MEMORY_MODELS[kind].objects.update_or_create(pk=memory.pk, defaults={TEXT_FIELDS[kind]: "needle"})


@write(0)
def edit_away(kind: Kind) -> None:
    memory = MAKE[kind]("needle")
    setattr(memory, TEXT_FIELDS[kind], "other")
    memory.save()


@write(0)
def delete(kind: Kind) -> None:
    MAKE[kind]("needle").delete()


@write(1)
def delete_one_of_two(kind: Kind) -> None:
    MAKE[kind]("needle")
    MAKE[kind]("needle").delete()


@write(0)
def delete_by_queryset(kind: Kind) -> None:
    for _ in range(3):
        MAKE[kind]("needle")
    MEMORY_MODELS[kind].objects.all().delete()


@write(0)
def delete_by_sql(kind: Kind) -> None:
    MAKE[kind]("needle")
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {CONTENT_TABLES[kind]}")


@write(1)
def update_of_another_column(kind: Kind) -> None:
    MAKE[kind]("needle")
    MEMORY_MODELS[kind].objects.update(pinned=True)


@write(0)
def trash_then_purge(kind: Kind) -> None:
    memory = MAKE[kind]("needle")
    memory.state = "trashed"
    memory.save(update_fields=["state"])
    assert found("needle is:trashed") == [str(memory.ref)]
    assert found("needle") == []
    memory.delete()


@write(0)
def purge_after_an_update_behind_the_back_of_the_model(kind: Kind) -> None:
    memory = MAKE[kind]("needle")
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE {CONTENT_TABLES[kind]} SET {TEXT_FIELDS[kind]} = 'other'")
    memory.delete()


@pytest.mark.django_db
@kinds
@pytest.mark.parametrize("name", WRITES)
def test_index_follows_every_write(kind: Kind, name: str) -> None:
    function, count = WRITES[name]
    function(kind)
    assert len(found("needle is:any")) == count
    assert check_index() == SOUND


@pytest.mark.django_db
def test_update_of_a_column_that_is_not_indexed_leaves_the_index_alone() -> None:
    make_observation("needle")
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*), total(length(block)) FROM observations_fts_data")
        before = cursor.fetchone()
        Observation.objects.update(pinned=True, agent="x", model="y")
        cursor.execute("SELECT count(*), total(length(block)) FROM observations_fts_data")
        assert cursor.fetchone() == before


# Every one of them makes SQLite's schema editor build the table anew.
SCHEMA_EDITS = {
    "add field": migrations.AddField("observation", "added", models.TextField(db_default="x")),
    "alter length": migrations.AlterField("observation", "content_hash", models.CharField(max_length=99, default="")),
    "alter null": migrations.AlterField("observation", "title", models.TextField(null=True)),
    "add constraint": migrations.AddConstraint(
        "observation", models.CheckConstraint(condition=~models.Q(title="never"), name="added_constraint")
    ),
}


@pytest.fixture
def edited(request: pytest.FixtureRequest) -> Iterator[Callable[[], None]]:
    """Runs one operation as a migration does; it is undone afterwards."""
    operation = SCHEMA_EDITS[request.param]
    before = MigrationLoader(connection).project_state()
    after = before.clone()
    operation.state_forwards("memories", after)

    def edit() -> None:
        with connection.schema_editor() as editor:
            operation.database_forwards("memories", editor, before, after)

    yield edit
    with connection.schema_editor() as editor:
        operation.database_backwards("memories", editor, after, before)
    repair(connection)
    assert index_faults(connection) == []


def triggers() -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'memories_observation'")
        return sorted(name for (name,) in cursor.fetchall())


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("edited", SCHEMA_EDITS, indirect=True)
def test_memories_are_found_after_a_migration_that_drops_triggers(edited: Callable[[], None]) -> None:
    before = make_observation("needle before")
    edited()
    assert triggers() == []  # the very fault this guards against
    with connection.cursor() as cursor:  # a row as the running migration might still write it
        columns = [field.column for field in Observation._meta.concrete_fields if field.column != "id"]
        values = ", ".join("NULL" if name == "source_key" else name for name in columns)
        names = ", ".join(columns)
        cursor.execute(f"INSERT INTO memories_observation ({names}) SELECT {values} FROM memories_observation")
        cursor.execute(
            "UPDATE memories_observation SET title_terms = 'between', variant_terms = '' WHERE id > %s", [before.pk]
        )
    assert found("between") == []
    call_command("migrate", verbosity=0)
    assert len(triggers()) == 6  # of the keyword index and of the embedding queue
    after = make_observation("needle after")
    between = Observation.objects.get(title_terms="between")
    assert found("needle", order="oldest") == [str(before.ref), str(after.ref)]
    assert found("between") == [str(between.ref)]
    assert check_index() == SOUND


def test_models_of_all_kinds_are_known_here() -> None:
    assert set(MEMORY_MODELS.values()) == {Drawer, Observation, SessionSummary, UserPrompt}
