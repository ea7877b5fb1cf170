"""Imports of claude-mem databases, compared with their source by SQL."""

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from memweb.memories.kinds import Kind
from memweb.memories.models import Observation, Session, SessionSummary, UserPrompt, memory_model
from memweb.memories.queries import TERM_COLUMNS
from search.keyword.maintenance import check_index
from tests.sources.conftest import Import

pytestmark = pytest.mark.django_db


def read_source(path: Path, sql: str) -> list[tuple[Any, ...]]:
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def milliseconds(time: Any) -> int:
    return round(time.timestamp() * 1000)


def test_real_database_imports_in_full(shared: Path, run_import: Import) -> None:
    path = shared / "data" / "claude-mem-13.25.3.db"
    report = run_import(path)
    assert {kind: counts["imported"] for kind, counts in report["counts"].items()} == {
        "session": 130,
        "observation": 1212,
        "summary": 130,
        "prompt": 2820,
    }
    observations = Observation.objects.select_related("project", "session").prefetch_related("concepts", "files")
    assert sorted(
        (
            row.session.memory_session_id,
            row.project.name,
            row.type,
            row.title,
            row.subtitle,
            row.narrative,
            milliseconds(row.created_at),
        )
        for row in observations
    ) == sorted(
        read_source(
            path,
            "SELECT memory_session_id, project, type, title, subtitle, narrative, created_at_epoch FROM observations",
        )
    )
    for column, links in (("concepts", "concepts__name"), ("files_read", "files__path")):
        wanted = read_source(path, f"SELECT o.title, j.value FROM observations o, json_each(o.{column}) j")  # noqa: S608
        found = Observation.objects.exclude(**{links: None}).values_list("title", links)
        assert sorted(found) == sorted(set(wanted))
    assert sorted(
        (row.session.content_session_id, row.prompt_number, row.text, milliseconds(row.created_at))
        for row in UserPrompt.objects.select_related("session")
    ) == sorted(
        read_source(path, "SELECT content_session_id, prompt_number, prompt_text, created_at_epoch FROM user_prompts")
    )
    assert sorted(SessionSummary.objects.values_list("session__memory_session_id", "request", "learned")) == sorted(
        read_source(path, "SELECT memory_session_id, request, learned FROM session_summaries")
    )
    assert sorted(
        (
            row.content_session_id,
            row.memory_session_id,
            row.project.name,
            row.first_prompt,
            milliseconds(row.started_at),
        )
        for row in Session.objects.select_related("project")
    ) == sorted(
        read_source(
            path,
            "SELECT content_session_id, memory_session_id, project, user_prompt, started_at_epoch FROM sdk_sessions",
        )
    )
    assert set(check_index().values()) == {None}


def test_index_terms_are_those_that_the_models_compute(shared: Path, run_import: Import) -> None:
    for name in (
        "data/claude-mem-13.25.3.db",
        "cases/files/A_search_corpus.db",
        "cases/files/C24_invalid_json_columns.db",
    ):
        run_import(shared / name)
    for kind in Kind:
        for row in memory_model(kind).objects.for_indexing():
            imported = [getattr(row, name) for name in TERM_COLUMNS]
            row.compute_terms()
            assert [getattr(row, name) for name in TERM_COLUMNS] == imported


def test_second_import_adds_nothing(shared: Path, run_import: Import) -> None:
    path = shared / "data" / "claude-mem-13.25.3.db"
    run_import(path)
    report = run_import(path)
    assert report["totals"] == {"imported": 0, "unchanged": 4292, "updated": 0, "duplicate": 0, "skipped": 0}
    assert (Observation.objects.count(), UserPrompt.objects.count()) == (1212, 2820)
