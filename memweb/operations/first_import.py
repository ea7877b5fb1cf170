"""What `memweb up` imports by itself, in a process of its own so that pages stay quick meanwhile."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import django
from django.conf import settings

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


@contextmanager
def background_import(source: FirstSource | None) -> Iterator[None]:
    """Import the source in another process while the block runs; what is not done by its end is done at the next start.

    The process ends with this one, however this one ends: it watches the pipe that is its standard input.
    """
    if source is None:
        yield
        return
    process = subprocess.Popen(  # noqa: S603 - this interpreter, with a path that is an argument and no shell
        [sys.executable, "-m", __name__, str(source.path), source.format],
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


def run_import(path: Path, format: str) -> str:
    """Import the source and return one line that says what came of it."""
    from django.db import DatabaseError, connection

    from memweb.operations.problems import database_problem
    from memweb.sources.imports import ImportOptions, import_path
    from memweb.sources.records import SourceError

    try:
        report = import_path(path, ImportOptions(source=format))
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA optimize")
    except SourceError as error:
        return f"Not imported: {error}"
    except DatabaseError as error:
        return f"Import of {path} stopped: {database_problem(error)}; it goes on at the next start"
    if not report.imported:
        return f"Nothing new in {path}"
    return f"Imported {report.imported:,} rows from {path} in {report.seconds:,.0f} s"


def end_with_parent() -> None:
    """End this process as soon as the one that started it is gone."""
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os._exit(1)


if __name__ == "__main__":
    os.nice(10)
    threading.Thread(target=end_with_parent, daemon=True).start()
    django.setup()
    sys.stdout.write(f"{'First import':13} {run_import(Path(sys.argv[1]), sys.argv[2])}\n")
