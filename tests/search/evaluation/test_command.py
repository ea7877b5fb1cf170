"""`memweb evaluate`, with its process."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memweb.memories.models import Drawer


def evaluate(*arguments: Path | str) -> str:
    written = StringIO()
    call_command("evaluate", *map(str, arguments), stdout=written)
    return written.getvalue()


def evaluate_json(*arguments: Path | str) -> dict[str, Any]:
    return json.loads(evaluate(*arguments, "--json"))


@pytest.mark.django_db
def test_evaluation_measures_beside_the_users_memories(
    conversations: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "user.sqlite3"
    monkeypatch.setenv("DATABASE_URL", f"sqlite:///{database}")
    found = evaluate_json(conversations, "--mode", "keyword", "--with-notes", "--unfiltered")
    assert found["conversations"] == [
        {"name": "garden", "sessions": 2, "turns": 4, "questions": 4, "turn_questions": 3},
        {"name": "workshop", "sessions": 1, "turns": 2, "questions": 1, "turn_questions": 1},
    ]
    assert [(run["mode"], run["scope"], run["with_notes"]) for run in found["runs"]] == [
        ("keyword", "conversation", False),
        ("keyword", "collection", False),
        ("keyword", "conversation", True),
        ("keyword", "collection", True),
    ]
    assert found["runs"][0]["total"]["all"]["session R@10"]["value"] == 3.5 / 5
    assert len(found["differences"]) == 4
    assert not database.exists()
    assert Drawer.objects.count() == 0


def test_kept_index_is_used_again_and_compared(conversations: Path, tmp_path: Path) -> None:
    kept, saved = tmp_path / "kept", tmp_path / "saved.json"
    common = (conversations, "--mode", "keyword", "--keep", kept)
    text = evaluate(*common, "--save", saved)
    assert "2 conversations, 3 sessions, 6 turns, 5 questions with evidence (4 of categories 1 to 4)" in text
    assert " ".join(next(line for line in text.splitlines() if line.startswith("all")).split()) == (
        "all 5 62.5 62.5 0.750 70.0 70.0"
    )
    written = (kept / "turns" / "memweb.sqlite3").stat()
    text = evaluate(*common, "--compare", saved)
    assert (kept / "turns" / "memweb.sqlite3").stat().st_ino == written.st_ino
    assert " ".join(next(line for line in text.splitlines() if line.startswith("difference")).split()) == (
        "difference +0.0 +0.0 +0.000 +0.0 +0.0"
    )
    (conversations / "workshop.json").unlink()
    with pytest.raises(CommandError, match="holds an index of other data"):
        evaluate(*common)


def test_what_cannot_be_measured_is_told_in_one_line(conversations: Path, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"qa": [], "session_1": []}', encoding="utf-8")
    for arguments, told in [
        ((tmp_path / "missing",), "missing does not exist; expected is a file or folder of LoCoMo data"),
        ((tmp_path / "other.json",), "other.json has no question whose evidence is a turn of its conversation"),
        ((conversations, "--compare", tmp_path / "other.json"), "other.json is no saved evaluation"),
        ((conversations, "--conversation", "cellar"), "has no conversation cellar; there are garden, workshop"),
        ((conversations, "--limit", "201"), "'201' is not a whole number from 20 to 200"),
        ((conversations, "--questions", "0"), "'0' is not a whole number from 1 to 1000000"),
    ]:
        with pytest.raises(CommandError) as raised:
            evaluate(*arguments)
        assert told in str(raised.value)
        assert "\n" not in str(raised.value)


def test_failure_of_the_process_is_told(conversations: Path, tmp_path: Path) -> None:
    kept = tmp_path / "kept" / "turns"
    arguments = (conversations, "--mode", "keyword", "--keep", tmp_path / "kept")
    evaluate(*arguments)
    (kept / "memweb.sqlite3").write_bytes(b"no database, but long enough to be read as one" * 100)
    for suffix in ("-wal", "-shm"):
        (kept / f"memweb.sqlite3{suffix}").unlink(missing_ok=True)
    with pytest.raises(CommandError, match=r"memweb\.sqlite3 is damaged or no SQLite database"):
        evaluate(*arguments)
