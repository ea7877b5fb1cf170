"""What is imported at the start, and when there is nothing to do."""

import os
from pathlib import Path

import pytest
from django.conf import settings as configured
from pytest_django import Settings

from memweb.memories.models import ImportBatch, Observation
from memweb.operations.first_import import FirstSource, first_source, is_imported, run_import
from tests.sources.claude_mem import ClaudeMem


@pytest.fixture
def claude_mem(tmp_path: Path) -> ClaudeMem:
    database = ClaudeMem(tmp_path / "claude-mem.db")
    database.session()
    database.observation("The lighthouse needs a new lamp")
    return database


@pytest.fixture
def source(claude_mem: ClaudeMem) -> FirstSource:
    return FirstSource(claude_mem.path.parent, "claude-mem", "claude-mem's memories")


def test_claude_mem_comes_first_then_git_then_nothing(settings: Settings, source: FirstSource, tmp_path: Path) -> None:
    (tmp_path / "checkout" / ".git").mkdir(parents=True)
    settings.BASE_DIR = tmp_path / "checkout"
    settings.CLAUDE_MEM_PATH = source.path
    found = first_source()
    assert found is not None and (found.path, found.format) == (source.path, "claude-mem")
    settings.CLAUDE_MEM_PATH = tmp_path / "nothing"
    found = first_source()
    assert found is not None and (found.path, found.format) == (tmp_path / "checkout", "git")
    settings.BASE_DIR = tmp_path
    assert first_source() is None


def test_checkout_of_the_tests_is_a_source_where_it_has_a_history(settings: Settings, tmp_path: Path) -> None:
    settings.CLAUDE_MEM_PATH = tmp_path
    assert (first_source() is not None) is (configured.BASE_DIR / ".git").exists()


@pytest.mark.django_db
def test_source_is_imported_once_until_it_is_written_to(claude_mem: ClaudeMem, source: FirstSource) -> None:
    assert not is_imported(source)
    assert run_import(source).startswith("Imported ")
    assert is_imported(source)
    claude_mem.observation("The lamp was replaced")
    os.utime(claude_mem.path, (2_000_000_000, 2_000_000_000))
    assert not is_imported(source)
    assert run_import(source).startswith("Imported 1 rows ")
    assert is_imported(source)
    assert sorted(Observation.objects.values_list("title", flat=True)) == [
        "The lamp was replaced",
        "The lighthouse needs a new lamp",
    ]


@pytest.mark.django_db
def test_write_to_the_wal_counts_as_a_change(claude_mem: ClaudeMem, source: FirstSource) -> None:
    claude_mem.connection.execute("PRAGMA journal_mode = WAL")
    run_import(source)
    assert is_imported(source)
    claude_mem.observation("The lamp was replaced")
    assert not is_imported(source)


@pytest.mark.django_db
def test_failed_import_is_tried_again_and_an_undone_one_is_not(source: FirstSource) -> None:
    run_import(source)
    ImportBatch.objects.update(status=ImportBatch.Status.FAILED)
    assert not is_imported(source)
    ImportBatch.objects.update(status=ImportBatch.Status.UNDONE)
    assert is_imported(source)


@pytest.mark.django_db
def test_source_that_cannot_be_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "claude-mem.db").write_bytes(b"certainly not a database" * 100)
    line = run_import(FirstSource(tmp_path, "claude-mem", "claude-mem's memories"))
    assert line.startswith("Not imported: ")
    assert len(line.splitlines()) == 1
