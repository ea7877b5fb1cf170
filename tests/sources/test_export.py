"""Memories leave as claude-mem's JSON and come back the same."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memweb.memories.models import ImportBatch, Observation, Session, State
from memweb.sources.undo import undo_batch
from tests.sources.claude_mem import EPOCH, ClaudeMem
from tests.sources.conftest import Import

pytestmark = pytest.mark.django_db

CHANGING = {"id", "exportedAt", "exportedAtEpoch"}


def export() -> dict[str, Any]:
    out = StringIO()
    call_command("export", "--format", "claude-mem", stdout=out)
    return json.loads(out.getvalue())


def without_ids(document: dict[str, Any]) -> dict[str, Any]:
    """The export with nothing in it that must differ between two places."""
    return {
        name: [{key: cell for key, cell in row.items() if key not in CHANGING} for row in value]
        if isinstance(value, list)
        else value
        for name, value in document.items()
        if name not in CHANGING
    }


def export_import_export(tmp_path: Path, run_import: Import) -> tuple[dict[str, Any], dict[str, Any]]:
    """Export, empty the place, import, export again."""
    path = tmp_path / "export.json"
    call_command("export", "-o", str(path), stdout=StringIO())
    for batch in ImportBatch.objects.all():
        undo_batch(batch)
    assert (Observation.objects.count(), Session.objects.count()) == (0, 0)
    run_import(path)
    return without_ids(json.loads(path.read_text())), without_ids(export())


def test_b16_round_trip_of_the_real_database(shared: Path, tmp_path: Path, run_import: Import) -> None:
    run_import(shared / "data" / "claude-mem-13.25.3.db")
    before, after = export_import_export(tmp_path, run_import)
    assert after == before
    assert {name: before[name] for name in before if name.startswith("total")} == {
        "totalObservations": 1212,
        "totalSessions": 130,
        "totalSummaries": 130,
        "totalPrompts": 2820,
    }


def test_b16_round_trip_of_odd_times_numbers_and_tokens(
    claude_mem: ClaudeMem, tmp_path: Path, run_import: Import
) -> None:
    claude_mem.session(
        content_session_id="c2", memory_session_id="m2", started_at_epoch=EPOCH + 9000, completed_at_epoch=EPOCH
    )
    claude_mem.session(content_session_id="c3", memory_session_id=None, started_at_epoch=0, started_at="")
    claude_mem.observation("plain", discovery_tokens=40, prompt_number=3)
    claude_mem.observation("same answer", discovery_tokens=40, prompt_number=3)
    claude_mem.observation("no number", prompt_number=None, discovery_tokens=None)
    for epoch, text in [
        (EPOCH // 1000, "2026-01-20T09:00:00.000Z"),
        (EPOCH * 1000 + 123, "2026-01-20T09:00:00"),
        (0, "1970-01-01T00:00:00.000Z"),
        (-1, ""),
        (EPOCH, "2025-01-20 09:00:00"),
        (EPOCH, "2026-01-20T11:00:00+02:00"),
    ]:
        claude_mem.observation(f"{epoch} {text}", created_at_epoch=epoch, created_at=text, facts="a|b")
    claude_mem.observation("orphan", memory_session_id="gone", merged_into_project="main", metadata='{"a": 1}')
    claude_mem.summary("s", prompt_number=9, discovery_tokens=12, files_read="a.py")
    claude_mem.prompt("p", prompt_number=17)
    run_import(claude_mem.path)
    before, after = export_import_export(tmp_path, run_import)
    assert after == before
    times = {row["title"]: (row["created_at"], row["created_at_epoch"]) for row in before["observations"]}
    assert times[f"{EPOCH // 1000} 2026-01-20T09:00:00.000Z"] == ("2026-01-20T09:00:00.000Z", EPOCH)
    assert times["-1 "] == (None, -1)
    assert times[f"{EPOCH} 2025-01-20 09:00:00"] == ("2025-01-20 09:00:00", EPOCH)
    tokens = {row["title"]: row["discovery_tokens"] for row in before["observations"]}
    assert (tokens["plain"], tokens["same answer"], tokens["no number"]) == (40, 40, None)


def test_own_export_is_no_news_even_when_texts_were_edited(
    claude_mem: ClaudeMem, tmp_path: Path, run_import: Import
) -> None:
    claude_mem.observation("o")
    claude_mem.observation("orphan", memory_session_id="gone")
    run_import(claude_mem.path)
    row = Observation.objects.get(title="o")
    row.title = "edited"
    row.save()
    path = tmp_path / "export.json"
    call_command("export", "-o", str(path), stdout=StringIO())
    assert run_import(path)["totals"] == {"imported": 0, "unchanged": 3, "updated": 0, "duplicate": 0, "skipped": 0}


def test_trash_is_left_out_and_the_file_is_private(claude_mem: ClaudeMem, tmp_path: Path, run_import: Import) -> None:
    claude_mem.observation("kept")
    claude_mem.observation("trashed", created_at_epoch=EPOCH + 1)
    run_import(claude_mem.path)
    Observation.objects.filter(title="trashed").update(state=State.TRASHED)
    path = tmp_path / "export.json"
    call_command("export", "-o", str(path), stdout=StringIO())
    assert [row["title"] for row in json.loads(path.read_text())["observations"]] == ["kept"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.glob("export.json*")] == ["export.json"]


@pytest.mark.parametrize(
    ("place", "reason"), [("no/x.json", "No such file or directory"), ("file/x.json", "Not a directory"), ("", "Is a")]
)
def test_file_that_cannot_be_written_is_one_message(tmp_path: Path, place: str, reason: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(CommandError, match=rf"^--output: {tmp_path / place} cannot be written: {reason}"):
        call_command("export", "-o", str(tmp_path / place))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_empty_place_gives_a_valid_export(run_import: Import, tmp_path: Path) -> None:
    document = export()
    assert [document[name] for name in ("observations", "sessions", "summaries", "prompts")] == [[], [], [], []]
    path = tmp_path / "export.json"
    path.write_text(json.dumps(document))
    assert run_import(path)["totals"]["imported"] == 0
