"""Large sources are read in a process of their own; the result is the same."""

from pathlib import Path
from typing import Any

import pytest

from memweb.memories.models import ImportBatch, Observation, Session, UserPrompt
from memweb.memories.queries import TERM_COLUMNS
from memweb.sources import ahead
from memweb.sources.ahead import ReaderAhead
from memweb.sources.claude_mem_database import ClaudeMemDatabase
from memweb.sources.imports import import_path
from memweb.sources.records import ReadOptions, SourceError
from memweb.sources.undo import undo_batch
from tests.sources.claude_mem import EPOCH, ClaudeMem

pytestmark = pytest.mark.django_db


def import_twice(path: Path) -> dict[str, Any]:
    """Return the reports of two imports and the rows they made."""
    report = import_path(path).as_json()
    again = import_path(path).as_json()
    fields = ("source_key", "content_hash", *TERM_COLUMNS[:3])
    return {
        **{name: report[name] for name in ("totals", "counts", "findings", "warnings")},
        "again": again["totals"],
        "rows": sorted(Observation.objects.values_list("title", *fields)),
        "prompts": sorted(UserPrompt.objects.values_list("text", *fields)),
    }


def test_reading_ahead_changes_nothing(claude_mem: ClaudeMem, monkeypatch: pytest.MonkeyPatch) -> None:
    claude_mem.observation("o", facts="a|b", concepts=["c"], created_at_epoch=EPOCH // 1000, narrative="<private>x")
    claude_mem.observation("observer", project="observer-sessions")
    claude_mem.prompt("HEARTBEAT_OK")
    for number in range(2100):
        claude_mem.prompt(f"prompt {number}", prompt_number=number)
    monkeypatch.setattr(ahead, "ROWS_WORTHWHILE", 1)
    monkeypatch.setattr(ahead.os, "cpu_count", lambda: 2)
    by_process = import_twice(claude_mem.path)
    for batch in ImportBatch.objects.all():
        undo_batch(batch)
    monkeypatch.setattr(ahead, "ROWS_WORTHWHILE", 10**9)
    assert import_twice(claude_mem.path) == by_process
    assert by_process["totals"] == {"imported": 2103, "unchanged": 0, "updated": 0, "duplicate": 0, "skipped": 1}
    assert by_process["again"] == {"imported": 0, "unchanged": 2103, "updated": 0, "duplicate": 0, "skipped": 1}
    assert set(by_process["findings"]) == {"skipped", "noise", "time", "cell", "private"}


def read_ahead(path: Path) -> ReaderAhead:
    reader = ClaudeMemDatabase(path)
    reader.close()
    return ReaderAhead(reader, path, "claude-mem", ReadOptions())


def test_error_of_the_process_is_the_readers_own(claude_mem: ClaudeMem) -> None:
    reader = read_ahead(claude_mem.path)
    claude_mem.path.write_bytes(b"")
    with pytest.raises(SourceError, match=r"is empty \(0 bytes\)"):
        list(reader.batches(with_terms=False))
    reader.close()


def test_process_that_dies_is_one_message(claude_mem: ClaudeMem) -> None:
    for number in range(7000):
        claude_mem.observation(f"row {number}", created_at_epoch=EPOCH + number)
    reader = read_ahead(claude_mem.path)
    batches = reader.batches(with_terms=False)
    next(batches)
    assert reader._process is not None
    reader._process.kill()
    with pytest.raises(SourceError, match="ended before its time"):
        list(batches)
    reader.close()


def test_closing_early_ends_the_process(claude_mem: ClaudeMem) -> None:
    for number in range(7000):
        claude_mem.observation(f"row {number}", created_at_epoch=EPOCH + number)
    reader = read_ahead(claude_mem.path)
    next(reader.batches(with_terms=False))
    process = reader._process
    assert process is not None
    reader.close()
    assert process.returncode is not None
    assert Session.objects.count() == 0
