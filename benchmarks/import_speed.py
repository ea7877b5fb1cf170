"""Measures the whole import beside plain sqlite3: the same rows, inserted with executemany into a table shaped like
claude-mem's with its FTS5 triggers. The aim is at least a third of that speed.

    python benchmarks/import_speed.py [--rows 60000] [--database claude-mem.db] [--repeat 3]

Both sides take turns, so that a busy machine slows both. Times are of the wall clock and of the processor.
"""

import argparse
import os
import random
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("MEMWEB_TEST_SHARED", ROOT.parent / "shared")) / "data" / "claude-mem-13.25.3.db"
START = datetime(2026, 1, 20, 9, tzinfo=UTC)
COLUMNS = (
    "memory_session_id",
    "project",
    "type",
    "title",
    "subtitle",
    "narrative",
    "facts",
    "concepts",
    "files_read",
    "files_modified",
    "prompt_number",
    "created_at",
    "created_at_epoch",
)
INSERT = f"INSERT INTO observations({', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(COLUMNS))})"  # noqa: S608
SCHEMA = """
CREATE TABLE sdk_sessions(id INTEGER PRIMARY KEY AUTOINCREMENT, content_session_id TEXT NOT NULL,
  memory_session_id TEXT UNIQUE, project TEXT NOT NULL, user_prompt TEXT, started_at TEXT NOT NULL,
  started_at_epoch INTEGER NOT NULL, completed_at TEXT, completed_at_epoch INTEGER,
  status TEXT NOT NULL DEFAULT 'active');
CREATE TABLE observations(id INTEGER PRIMARY KEY AUTOINCREMENT, memory_session_id TEXT NOT NULL, project TEXT NOT NULL,
  text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT,
  files_read TEXT, files_modified TEXT, prompt_number INTEGER, discovery_tokens INTEGER DEFAULT 0,
  created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
"""
# What claude-mem makes beside the table: indexes and the keyword index with its triggers.
INDEXES = """
CREATE INDEX i1 ON observations(memory_session_id);
CREATE INDEX i2 ON observations(project);
CREATE INDEX i3 ON observations(type);
CREATE INDEX i4 ON observations(created_at_epoch DESC);
CREATE VIRTUAL TABLE observations_fts USING fts5(title, subtitle, narrative, text, facts, concepts,
  content='observations', content_rowid='id');
CREATE TRIGGER observations_ai AFTER INSERT ON observations BEGIN
  INSERT INTO observations_fts(rowid, title, subtitle, narrative, text, facts, concepts)
  VALUES (new.id, new.title, new.subtitle, new.narrative, new.text, new.facts, new.concepts);
END;
"""
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds that one run took."""

    wall: float
    processor: float


def generated_rows(count: int) -> Iterator[Row]:
    """Yield observations of 66 words out of 5,800."""
    generator = random.Random(1)  # noqa: S311
    words = [f"w{number}" for number in range(5000)] + ["error", "login", "cache", "deploy"] * 200
    for number in range(count):
        project = "big" if number % 100 < 90 else "mid" if number % 100 < 99 else "tiny"
        title, narrative = (" ".join(generator.choices(words, k=length)) for length in (6, 60))
        yield _row(number, project, "discovery", title, None, narrative, "[]", '["how-it-works"]', "[]", "[]")


def multiplied_rows(path: Path, count: int) -> Iterator[Row]:
    """Yield the observations of a real database again and again, each time at another time."""
    connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
    columns = ", ".join(COLUMNS[1:-3])
    rows = connection.execute(f"SELECT {columns} FROM observations ORDER BY id").fetchall()  # noqa: S608
    connection.close()
    for number in range(count):
        yield _row(number, *rows[number % len(rows)])


def _row(number: int, *cells: Any) -> Row:
    at = START + timedelta(seconds=number)
    return (f"mem-{number // 100}", *cells, 1, f"{at:%Y-%m-%dT%H:%M:%S}.000Z", int(at.timestamp() * 1000))


def make_source(path: Path, rows: list[Row]) -> None:
    """Write the rows as a claude-mem database."""
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA)
    connection.executemany(
        "INSERT INTO sdk_sessions(content_session_id, memory_session_id, project, started_at, started_at_epoch)"
        " VALUES (?, ?, 'big', ?, ?)",
        [(f"content-{n}", f"mem-{n}", "2026-01-20T09:00:00.000Z", 1768899600000) for n in range(len(rows) // 100 + 1)],
    )
    connection.executemany(INSERT, rows)
    connection.commit()
    connection.close()


def insert_plainly(folder: Path, rows: list[Row]) -> Timing:
    """Insert the rows as fast as sqlite3 can, in one transaction."""
    path = folder / "plain.db"
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;" + SCHEMA + INDEXES)

    def insert() -> None:
        connection.execute("BEGIN")
        connection.executemany(INSERT, rows)
        connection.execute("COMMIT")

    timing = measure(insert)
    connection.close()
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    return timing


def import_fully(source: Path, rows: int) -> Timing:
    """Import the source into an empty memweb, the way the command does."""
    from django.core.management import call_command
    from django.db import connection

    from memweb.memories.models import Observation
    from memweb.sources.imports import import_path

    # A new file each time: rows that were deleted would still have to be merged out of the keyword index.
    connection.close()
    for path in Path(connection.settings_dict["NAME"]).parent.glob("memweb.sqlite3*"):
        path.unlink()
    call_command("migrate", verbosity=0)
    timing = measure(lambda: import_path(source))
    if Observation.objects.count() != rows:
        raise SystemExit(f"{Observation.objects.count()} of {rows} rows were imported")
    return timing


def measure(run: Callable[[], object]) -> Timing:
    wall, processor = time.perf_counter(), time.process_time()
    run()
    return Timing(time.perf_counter() - wall, time.process_time() - processor)


def compare(name: str, folder: Path, rows: list[Row], repeat: int) -> str:
    """Return one line of the table."""
    source = folder / "source.db"
    make_source(source, rows)
    plain, full = [], []
    for _ in range(repeat):
        plain.append(insert_plainly(folder, rows))
        full.append(import_fully(source, len(rows)))
    source.unlink()
    wall, processor = (
        [statistics.median(getattr(timing, clock) for timing in timings) for timings in (plain, full)]
        for clock in ("wall", "processor")
    )
    count = len(rows)
    return (
        f"{name:22}{count:>9,}{count / wall[0]:>13,.0f}{count / wall[1]:>13,.0f}{wall[0] / wall[1]:>8.2f}"
        f"{processor[0] / processor[1]:>12.2f}"
    )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--database", type=Path, default=SHARED, help="claude-mem database whose rows are multiplied")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="memweb-bench-") as name:
        folder = Path(name)
        os.environ.update(MEMWEB_DATA_DIR=str(folder / "data"), DJANGO_SETTINGS_MODULE="memweb.settings")
        sys.path.insert(0, str(ROOT))
        import django

        django.setup()
        out = sys.stdout.write
        out(f"{'rows of':22}{'rows':>9}{'plain/s':>13}{'import/s':>13}{'ratio':>8}{'cpu ratio':>12}\n")
        out(compare("generated text", folder, list(generated_rows(options.rows)), options.repeat) + "\n")
        if options.database.exists():
            rows = list(multiplied_rows(options.database, options.rows))
            out(compare(options.database.name[:21], folder, rows, options.repeat) + "\n")
        else:
            out(f"{options.database} is not there; --database names another\n")


if __name__ == "__main__":
    main(sys.argv[1:])
