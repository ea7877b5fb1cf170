"""What `memweb up` imports by itself, in a process of its own so that pages stay quick meanwhile."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import DatabaseError, connection

from memweb.memories.models import ImportBatch
from memweb.operations.problems import database_problem
from memweb.sources.imports import ImportOptions, import_path
from memweb.sources.records import SourceError

SECONDS_TO_END = 5


@dataclass(frozen=True, slots=True)
class FirstSource:
    """A place with memories: its path, the name of its reader, and how it is called on the terminal."""

    path: Path
    format: str
    title: str


def first_source() -> FirstSource | None:
    """Return claude-mem's data where there is any, else the history of memweb's own checkout, else None."""
    claude_mem = settings.CLAUDE_MEM_PATH
    if claude_mem.is_file() or (claude_mem / "claude-mem.db").is_file():
        return FirstSource(claude_mem, "claude-mem", f"claude-mem's memories in {claude_mem}")
    if (settings.BASE_DIR / ".git").exists():
        return FirstSource(settings.BASE_DIR, "git", f"memweb's own git history (no claude-mem data in {claude_mem})")
    return None


def fingerprint(source: FirstSource) -> str:
    """Return size and time of change of the files that every write to the source touches; empty when there are none."""
    if source.format == "git":
        files = [source.path / ".git" / name for name in ("HEAD", "logs/HEAD", "packed-refs")]
    else:
        database = source.path if source.path.is_file() else source.path / "claude-mem.db"
        files = [database, database.with_name(f"{database.name}-wal")]
    states = [(file, file.stat()) for file in files if file.is_file()]
    return " ".join(f"{file}:{state.st_size}:{state.st_mtime_ns}" for file, state in states)


def is_imported(source: FirstSource) -> bool:
    """Return whether the source was imported as it is now, also when that import was undone since."""
    state = fingerprint(source)
    done = [ImportBatch.Status.COMPLETE, ImportBatch.Status.UNDONE]
    return bool(state) and ImportBatch.objects.filter(status__in=done, report__fingerprint=state).exists()


@contextmanager
def background_import(source: FirstSource | None) -> Iterator[None]:
    """Import the source in another process while the block runs; what is not done by its end is done at the next start.

    The process ends with this one, however this one ends: it watches the pipe that is its standard input.
    """
    if source is None:
        yield
        return
    process = subprocess.Popen(  # noqa: S603 - this interpreter, with a path that is an argument and no shell
        [
            sys.executable,
            "-P",
            "-m",
            "memweb.operations.importing_process",
            str(source.path),
            source.format,
            source.title,
        ],
        stdin=subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for the server, which then ends the import
    )
    try:
        yield
    finally:
        process.terminate()
        try:
            process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def run_import(source: FirstSource) -> str:
    """Import the source and return one line that says what came of it."""
    state = fingerprint(source)  # before: what is written meanwhile is for the next time
    try:
        report = import_path(source.path, ImportOptions(source=source.format))
        if report.batch_id is not None:
            batch = ImportBatch.objects.get(pk=report.batch_id)
            batch.report["fingerprint"] = state
            batch.save(update_fields=["report"])
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA optimize")
    except SourceError as error:
        return f"Not imported: {error}"
    except DatabaseError as error:
        return f"Import of {source.path} stopped: {database_problem(error)}; it goes on at the next start"
    if not report.imported:
        return f"Nothing new in {source.path}"
    return f"Imported {report.imported:,} rows from {source.path} in {report.seconds:,.0f} s"
