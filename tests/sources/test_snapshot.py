"""Databases that another program is writing, locked, copied without their -wal, or left by a writer that died."""

import shutil
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memweb.sources.records import SourceError
from memweb.sources.report import Tally
from memweb.sources.snapshot import open_snapshot
from tests.sources.claude_mem import ClaudeMem


def titles(connection: sqlite3.Connection) -> list[str]:
    try:
        return [title for (title,) in connection.execute("SELECT title FROM observations ORDER BY id")]
    finally:
        connection.close()


def take(path: Path, patience: float = 15) -> list[str]:
    return titles(open_snapshot(path, Tally(), patience))


@contextmanager
def locked(path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        yield connection
    finally:
        connection.close()


def test_rows_in_the_wal_of_a_living_writer_are_read(claude_mem: ClaudeMem) -> None:
    claude_mem.connection.execute("PRAGMA journal_mode = WAL")
    claude_mem.observation("in the wal")
    assert take(claude_mem.path) == ["in the wal"]


def test_source_folder_is_left_as_it_was(claude_mem: ClaudeMem) -> None:
    claude_mem.observation("o")
    claude_mem.connection.execute("PRAGMA journal_mode = WAL")
    claude_mem.connection.close()
    before = {path.name: path.read_bytes() for path in claude_mem.path.parent.iterdir()}
    assert take(claude_mem.path) == ["o"]
    assert {path.name: path.read_bytes() for path in claude_mem.path.parent.iterdir()} == before


@pytest.mark.parametrize("mode", ["WAL", "DELETE"])
def test_writer_is_not_held_up_while_a_snapshot_is_read(claude_mem: ClaudeMem, mode: str) -> None:
    claude_mem.connection.execute(f"PRAGMA journal_mode = {mode}")
    claude_mem.connection.execute("PRAGMA busy_timeout = 0")
    claude_mem.observation("first")
    snapshot = open_snapshot(claude_mem.path, Tally())
    rows = snapshot.execute("SELECT title FROM observations")
    assert rows.fetchone() == ("first",)
    claude_mem.observation("second")
    claude_mem.connection.execute("BEGIN EXCLUSIVE")
    claude_mem.connection.execute("COMMIT")
    assert titles(snapshot) == ["first"]
    assert take(claude_mem.path) == ["first", "second"]


def test_short_lock_is_waited_for(claude_mem: ClaudeMem) -> None:
    claude_mem.observation("o")
    with locked(claude_mem.path) as writer:
        timer = threading.Timer(1.0, lambda: writer.execute("COMMIT"))
        timer.start()
        assert take(claude_mem.path) == ["o"]
        timer.join()


def test_long_lock_ends_in_one_message(claude_mem: ClaudeMem) -> None:
    with locked(claude_mem.path), pytest.raises(SourceError, match=r"is locked .* nothing was imported") as caught:
        take(claude_mem.path, patience=0.5)
    assert str(claude_mem.path) in str(caught.value)


def test_copy_without_its_wal_is_a_warning(claude_mem: ClaudeMem, tmp_path: Path) -> None:
    claude_mem.connection.execute("PRAGMA journal_mode = WAL")
    claude_mem.observation("old")
    claude_mem.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    claude_mem.observation("only in the wal")
    copy = tmp_path / "copy" / "claude-mem.db"
    copy.parent.mkdir()
    shutil.copy(claude_mem.path, copy)
    tally = Tally()
    assert titles(open_snapshot(copy, tally)) == ["old"]
    [warning] = tally.warnings
    assert "no claude-mem.db-wal lies beside it" in warning
    shutil.copy(f"{claude_mem.path}-wal", copy.parent)
    tally = Tally()
    assert titles(open_snapshot(copy, tally)) == ["old", "only in the wal"]
    assert tally.warnings == []


def test_database_at_rest_in_its_own_folder_is_no_warning(tmp_path: Path) -> None:
    folder = tmp_path / ".claude-mem"
    folder.mkdir()
    database = ClaudeMem(folder / "claude-mem.db")
    database.connection.execute("PRAGMA journal_mode = WAL")
    database.connection.close()
    tally = Tally()
    assert titles(open_snapshot(database.path, tally)) == []
    assert tally.warnings == []


def test_journal_of_a_dead_writer_is_rolled_back_in_the_copy(claude_mem: ClaudeMem, tmp_path: Path) -> None:
    for number in range(500):
        claude_mem.observation(f"row {number}", narrative="x" * 500)
    claude_mem.connection.execute("PRAGMA cache_size = 5")
    claude_mem.connection.execute("BEGIN")
    claude_mem.connection.execute("UPDATE observations SET title = 'half written', narrative = 'y'")
    dead = tmp_path / "dead" / "claude-mem.db"
    dead.parent.mkdir()
    shutil.copy(claude_mem.path, dead)
    shutil.copy(f"{claude_mem.path}-journal", dead.parent)
    claude_mem.connection.execute("ROLLBACK")
    before = dead.read_bytes()
    assert take(dead) == [f"row {number}" for number in range(500)]
    assert dead.read_bytes() == before


@pytest.mark.parametrize("name", ["with space.db", "100%.db", "a?b#c.db", "é 漢.db", "quote'd.db"])
def test_any_file_name_is_opened(tmp_path: Path, name: str) -> None:
    database = ClaudeMem(tmp_path / name)
    database.observation("o")
    database.connection.close()
    assert take(database.path) == ["o"]
