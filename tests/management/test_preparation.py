"""What is made before the first request, and what stops memweb from starting."""

import os
import sqlite3
from pathlib import Path

import pytest
from django.db import connection
from django.db.utils import DatabaseError, OperationalError
from pytest_django import Settings

from memweb.operations import preparation
from memweb.operations.preparation import check_disk, prepare_database, prepare_static_files
from memweb.operations.problems import Problem, database_problem


@pytest.mark.django_db
def test_database_that_is_up_to_date_stays_as_it_is() -> None:
    assert prepare_database() == (0, [])


@pytest.mark.django_db
def test_dropped_trigger_is_made_again() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER observations_fts_insert")
        assert prepare_database() == (0, [])
        cursor.execute("SELECT count(*) FROM sqlite_master WHERE name = 'observations_fts_insert'")
        assert cursor.fetchone() == (1,)


@pytest.mark.django_db
def test_database_of_a_newer_memweb_is_left_alone() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO django_migrations(app, name, applied) VALUES ('memories', '9999_from_tomorrow', '2040-01-01'),"
            " ('another_app', '9999_from_tomorrow', '2040-01-01')"
        )
    with pytest.raises(Problem, match=r"^a newer memweb has written .* \(memories\.9999_from_tomorrow is unknown"):
        prepare_database()


def test_static_files_are_collected_only_when_one_has_changed(settings: Settings, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    file = source / "a.css"
    file.write_text("a{}", encoding="ascii")
    settings.STATICFILES_DIRS = [source]
    settings.STATIC_ROOT = tmp_path / "static"
    assert prepare_static_files() is True
    assert (tmp_path / "static" / "a.css").read_text(encoding="ascii") == "a{}"
    assert prepare_static_files() is False
    file.write_text("b{}", encoding="ascii")
    os.utime(file, (2_000_000_000, 2_000_000_000))
    assert prepare_static_files() is True
    assert (tmp_path / "static" / "a.css").read_text(encoding="ascii") == "b{}"


def test_full_disk_stops_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_disk(tmp_path)
    monkeypatch.setattr(preparation, "LEAST_FREE_BYTES", 2**70)
    with pytest.raises(Problem, match=r"^the disk that holds .* has only \d+ MB free .*; free some space or set"):
        check_disk(tmp_path)


def failure_of_sqlite(tmp_path: Path, how: str) -> DatabaseError:
    """Return what Django raises when SQLite really meets this failure."""
    path = tmp_path / "memweb.sqlite3"
    with sqlite3.connect(path) as database:
        database.execute("CREATE TABLE a (b)")
    database.close()
    if how == "damaged":
        path.write_bytes(b"certainly not a database" * 100)
    other = sqlite3.connect(path, isolation_level=None)
    own = sqlite3.connect(f"file:{path}?mode={'ro' if how == 'read-only' else 'rw'}", uri=True, timeout=0)
    try:
        if how == "locked":
            other.execute("BEGIN EXCLUSIVE")
        if how == "full":
            own.execute("PRAGMA max_page_count = 1")
        own.execute("SELECT * FROM c" if how == "older" else "INSERT INTO a VALUES (zeroblob(100000))")
    except sqlite3.DatabaseError as error:
        return OperationalError(*error.args)
    finally:
        own.close()
        other.close()
    raise AssertionError(f"SQLite did not fail when {how}")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("locked", "is in use by another program; end that one, then try again"),
        ("full", "is full; free some space, then try again"),
        ("read-only", "cannot be written; correct its owner and mode (0600)"),
        ("damaged", "is damaged or no SQLite database; put a backup in its place, or move it away"),
        ("older", "is not up to date (no such table: c); `memweb up` or `memweb migrate` brings it so"),
    ],
)
def test_failure_of_the_database_says_what_to_do(tmp_path: Path, how: str, words: str) -> None:
    assert str(database_problem(failure_of_sqlite(tmp_path, how))).endswith(words)
