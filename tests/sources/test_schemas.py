"""Databases of old, new and future schemas of claude-mem."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from memweb.memories.models import Observation, Project, ProjectAlias, Session, SessionSummary, UserPrompt
from tests.sources.claude_mem import EPOCH, ISO, OLD_SCHEMA, ClaudeMem
from tests.sources.conftest import Import

pytestmark = pytest.mark.django_db

NINE = datetime(2026, 1, 20, 9, tzinfo=UTC)


def test_schema_version_4_imports(tmp_path: Path, run_import: Import) -> None:
    database = ClaudeMem(tmp_path / "old.db", OLD_SCHEMA)
    database.connection.execute(
        "INSERT INTO sdk_sessions(claude_session_id, sdk_session_id, project, user_prompt, started_at,"
        " started_at_epoch) VALUES ('content-1', 'mem-1', 'demo', 'asked', ?, ?)",
        [ISO, EPOCH],
    )
    database.connection.execute(
        "INSERT INTO observations(sdk_session_id, project, text, type, created_at, created_at_epoch)"
        " VALUES ('mem-1', 'demo', 'all of it', 'bugfix', ?, ?)",
        [ISO, EPOCH],
    )
    database.connection.execute(
        "INSERT INTO session_summaries(sdk_session_id, project, request, files_edited, created_at, created_at_epoch)"
        " VALUES ('mem-1', 'demo', 'wanted', '[\"a.py\"]', ?, ?)",
        [ISO, EPOCH],
    )
    database.connection.close()
    report = run_import(database.path)
    assert report["warnings"] == ["the database has no table user_prompts"]
    assert report["totals"]["imported"] == 3
    session = Session.objects.get()
    assert (session.content_session_id, session.memory_session_id, session.platform) == ("content-1", "mem-1", "claude")
    assert Observation.objects.values_list("text", "type", "session", "created_at").get() == (
        "all of it",
        "bugfix",
        session.pk,
        NINE,
    )
    assert SessionSummary.objects.values_list("request", "files__path").get() == ("wanted", "a.py")


@pytest.mark.parametrize("table", ["sdk_sessions", "observations", "session_summaries", "user_prompts"])
def test_missing_table_is_a_warning(claude_mem: ClaudeMem, run_import: Import, table: str) -> None:
    claude_mem.observation("o")
    claude_mem.summary("s")
    claude_mem.prompt("p")
    claude_mem.connection.execute(f"DROP TABLE {table}")
    report = run_import(claude_mem.path)
    assert report["warnings"] == [f"the database has no table {table}"]
    models = {"observations": Observation, "session_summaries": SessionSummary, "user_prompts": UserPrompt}
    assert {name: model.objects.count() for name, model in models.items()} == {
        name: int(name != table) for name in models
    }
    assert Session.objects.filter(is_placeholder=True).exists() is (table == "sdk_sessions")


@pytest.mark.parametrize(
    "column",
    ["id", "type", "facts", "created_at", "created_at_epoch", "memory_session_id", "project", "discovery_tokens"],
)
def test_missing_column_costs_only_that_column(claude_mem: ClaudeMem, run_import: Import, column: str) -> None:
    claude_mem.observation("o", facts=["f"])
    claude_mem.connection.executescript("CREATE TABLE other AS SELECT * FROM observations; DROP TABLE observations;")
    claude_mem.connection.execute(f"ALTER TABLE other DROP COLUMN {column}")
    claude_mem.connection.execute("ALTER TABLE other RENAME TO observations")
    report = run_import(claude_mem.path)
    assert report["counts"]["observation"]["imported"] == 1
    assert Observation.objects.get().title == "o"


def test_columns_of_the_future_are_kept(claude_mem: ClaudeMem, run_import: Import) -> None:
    claude_mem.connection.execute("ALTER TABLE observations ADD COLUMN mood TEXT")
    claude_mem.connection.execute('ALTER TABLE observations ADD COLUMN "odd ""name" TEXT')
    claude_mem.connection.execute("CREATE TABLE something_new(id)")
    claude_mem.observation("o", mood="glad", metadata='{"a": 1}')
    claude_mem.observation("p", mood="")
    run_import(claude_mem.path)
    assert dict(Observation.objects.values_list("title", "source_data")) == {
        "o": {"mood": "glad", "metadata": '{"a": 1}'},
        "p": {},
    }


def test_all_columns_reach_their_fields(claude_mem: ClaudeMem, run_import: Import) -> None:
    claude_mem.session(
        content_session_id="c2",
        memory_session_id="m2",
        platform_source="codex",
        custom_title="Titled",
        user_prompt="first",
        completed_at_epoch=EPOCH + 1000,
        status="completed",
        observed_model="m-1",
    )
    claude_mem.observation(
        "o",
        memory_session_id="m2",
        agent_type="reviewer",
        agent_id="agent-7",
        generated_by_model="m-2",
        discovery_tokens=70,
        prompt_number=4,
        merged_into_project="main",
        relevance_count=3,
    )
    run_import(claude_mem.path)
    session = Session.objects.get(memory_session_id="m2")
    assert (session.platform, session.title, session.first_prompt, session.status, session.model) == (
        "codex",
        "Titled",
        "first",
        "completed",
        "m-1",
    )
    assert (session.started_at, session.completed_at) == (NINE, NINE.replace(second=1))
    row = Observation.objects.get()
    assert (row.agent, row.agent_id, row.model, row.discovery_tokens, row.prompt_number) == (
        "reviewer",
        "agent-7",
        "m-2",
        70,
        4,
    )
    assert (row.project.name, row.source_data) == ("main", {"project": "demo", "relevance_count": 3})
    assert "=wcodex" in row.scope_terms.split()


def test_tokens_of_one_answer_count_once(claude_mem: ClaudeMem, run_import: Import) -> None:
    for title, cells in {
        "first": {},
        "same answer": {"created_at_epoch": EPOCH + 200, "created_at": "2026-01-20T09:00:00.200Z"},
        "next second": {"created_at_epoch": EPOCH + 1000},
        "other prompt": {"prompt_number": 2},
        "other session": {"memory_session_id": "mem-2"},
        "other number": {"discovery_tokens": 9},
        "none": {"discovery_tokens": 0},
    }.items():
        claude_mem.observation(title, **{"discovery_tokens": 50, **cells})
    run_import(claude_mem.path)
    assert dict(Observation.objects.values_list("title", "discovery_tokens")) == {
        "first": 50,
        "same answer": None,
        "next second": 50,
        "other prompt": 50,
        "other session": 50,
        "other number": 9,
        "none": 0,
    }
    assert Observation.objects.get(title="same answer").source_data == {"discovery_tokens": 50}


def test_rows_follow_merges_and_aliases(claude_mem: ClaudeMem, run_import: Import) -> None:
    target = Project.objects.create(name="target")
    middle = Project.objects.create(name="middle", merged_into=target)
    Project.objects.create(name="demo", merged_into=middle)
    ProjectAlias.objects.create(name="nickname", project=middle)
    claude_mem.observation("merged")
    claude_mem.observation("aliased", project="nickname")
    run_import(claude_mem.path)
    assert set(Observation.objects.values_list("project__name", flat=True)) == {"target"}
    assert Session.objects.get().project == target
    assert sorted(Project.objects.values_list("name", flat=True)) == ["demo", "middle", "target"]


def test_project_option_decides(claude_mem: ClaudeMem, run_import: Import) -> None:
    claude_mem.observation("o")
    run_import(claude_mem.path, "--project", "mine")
    assert Observation.objects.get().project.name == "mine"
    assert list(Project.objects.values_list("name", flat=True)) == ["mine"]


@pytest.mark.parametrize("rows", [0, 1, 999, 1000, 1001])
def test_batches_lose_no_row(tmp_path: Path, run_import: Import, rows: int) -> None:
    database = ClaudeMem(tmp_path / "many.db")
    database.connection.execute("BEGIN")
    for number in range(rows):
        database.observation(f"row {number}", created_at_epoch=EPOCH + number)
    database.connection.execute("COMMIT")
    database.connection.close()
    run_import(database.path)
    assert sorted(Observation.objects.values_list("title", flat=True)) == sorted(
        f"row {number}" for number in range(rows)
    )


def test_folder_is_searched_for_the_database(claude_mem: ClaudeMem, run_import: Import) -> None:
    claude_mem.observation("o")
    assert run_import(claude_mem.path.parent)["location"] == str(claude_mem.path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"empty \(0 bytes\)"),
        (b"SQLite format 3\0 but cut", "is not an SQLite database"),
        (b"SQLite format 3\0" + b"\xff" * 4080, "cannot be read as an SQLite database"),
        (b"hello", "is text"),
        (b"\x00\x01\x02", "a binary file"),
        (b"PK\x03\x04....", "ZIP archive"),
        (b"[1, 2]", "a list of 2 entries"),
        (b'{"a": 1}', "an object with a"),
        (b'{"sessionId": "a"}\n{"sessionId": "b"}\n', "Claude Code transcript"),
        (b'{"a": 1}\n{"a": 2}\n', "is JSON lines"),
        (b'{"observations": [', "not whole JSON"),
        (b'{"observations": "\xff"}', "not JSON in UTF-8"),
        (b'{"observations": ' + b"[" * 100_000, "nested too deeply"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_message(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "renamed.jsonl"
    path.write_bytes(content)
    with pytest.raises(CommandError, match=message) as caught:
        call_command("import", str(path))
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert Session.objects.count() == 0


def test_other_database_names_its_tables(tmp_path: Path) -> None:
    ClaudeMem(tmp_path / "x.db", "CREATE TABLE embeddings(id)").connection.close()
    with pytest.raises(CommandError, match=r"not of claude-mem.*it has embeddings"):
        call_command("import", str(tmp_path / "x.db"))


def test_damaged_page_is_found_before_anything_is_imported(claude_mem: ClaudeMem, run_import: Import) -> None:
    for number in range(2000):
        claude_mem.observation(f"row {number}", narrative="text " * 50)
    claude_mem.connection.close()
    content = bytearray(claude_mem.path.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 4096] = b"\xa5" * 4096
    claude_mem.path.write_bytes(content)
    with pytest.raises(CommandError, match=r"is damaged .*recover"):
        call_command("import", str(claude_mem.path))
    assert Observation.objects.count() == 0


def test_missing_path_and_unknown_folder_say_what_to_choose(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="does not exist"):
        call_command("import", str(tmp_path / "nowhere"))
    for number in range(3):
        (tmp_path / f"{number}.txt").touch()
    with pytest.raises(CommandError, match=r"a folder with 3 \.txt files"):
        call_command("import", str(tmp_path))


def test_one_failing_path_does_not_stop_the_others(claude_mem: ClaudeMem, tmp_path: Path) -> None:
    claude_mem.observation("o")
    with pytest.raises(CommandError, match="nowhere"):
        call_command("import", str(tmp_path / "nowhere"), str(claude_mem.path))
    assert Observation.objects.count() == 1


def test_export_that_says_other_totals_is_a_warning(tmp_path: Path, run_import: Import) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"totalObservations": 2, "observations": [{"title": "a"}, 7, None], "prompts": {}}))
    report = run_import(path)
    assert report["warnings"] == [
        "totalObservations says 2, but the file holds 3: it may not be complete",
        "prompts is not a list and was left out",
    ]
    assert report["counts"]["observation"]["skipped"] == 2
    assert Observation.objects.get().title == "a"
