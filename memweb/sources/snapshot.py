"""Takes a private copy of an SQLite database that another program may be writing, without holding it up."""

import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import quote

from memweb.sources.records import SourceError
from memweb.sources.report import Tally

MAGIC = b"SQLite format 3\x00"
PATIENCE = 15.0
# With a rollback journal the copy holds a read lock while it takes these many pages, a few milliseconds.
PAGES_AT_ONCE = 2000
MOST_RESTARTS = 20


def open_snapshot(path: Path, tally: Tally, patience: float = PATIENCE) -> sqlite3.Connection:
    """Return a connection to a private copy of the database as it is now, its -wal included.

    The copy is a temporary file of SQLite's own that vanishes with the connection or the process. A lock on the source
    is waited for `patience` seconds. Raises SourceError with the path and what to do.
    """
    header = read_header(path)
    wal, shm = (path.with_name(path.name + end) for end in ("-wal", "-shm"))
    uses_wal = header[18:20] == b"\x02\x02"
    # A database in WAL mode without a -wal has no writer; opened as immutable, no file is made beside it.
    immutable = uses_wal and not wal.exists()
    if immutable and path.parent.name != ".claude-mem":
        tally.warn(
            f"{path.name} was written in WAL mode, but no {wal.name} lies beside it"
            + (f" (though {shm.name} does)" if shm.exists() else "")
            + f": if this is a copy made while claude-mem was running, its newest rows are missing; copy {wal.name} too"
        )
    try:
        state = _state(path)
        connection = _copy(path, immutable, uses_wal, patience)
        if immutable and (wal.exists() or _state(path) != state):
            connection.close()
            connection = _copy(path, False, uses_wal, patience)
    except sqlite3.OperationalError as error:
        if not _needs_recovery(error):
            raise _unreadable(path, error) from error
        connection = _recover(path, patience)
    except sqlite3.DatabaseError as error:
        raise _unreadable(path, error) from error
    return connection


def read_header(path: Path) -> bytes:
    """Return the first 100 bytes of an SQLite file; raises SourceError for anything else."""
    try:
        with path.open("rb") as file:
            header = file.read(100)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}") from error
    if not header:
        raise SourceError(
            f"{path} is empty (0 bytes). Choose the file that claude-mem writes, ~/.claude-mem/claude-mem.db."
        )
    if not header.startswith(MAGIC) or len(header) < 100:
        raise SourceError(f"{path} is not an SQLite database. Choose the file claude-mem.db, usually in ~/.claude-mem.")
    return header


def _copy(path: Path, immutable: bool, uses_wal: bool, patience: float) -> sqlite3.Connection:
    uri = f"file:{quote(str(path))}?mode=ro" + ("&immutable=1" if immutable else "")
    source = sqlite3.connect(uri, uri=True, timeout=0.5)
    # The empty name is a temporary file that SQLite unlinks as soon as it is open.
    target = sqlite3.connect("", check_same_thread=False)
    try:
        watch = _watch(path, patience)
        if uses_wal:
            source.backup(target, progress=watch, sleep=0.1)
        else:
            try:
                source.backup(target, pages=PAGES_AT_ONCE, progress=watch, sleep=0.005)
            except _KeepsChangingError:
                source.backup(target, progress=_watch(path, patience), sleep=0.1)
    except BaseException:
        target.close()
        raise
    finally:
        source.close()
    return target


class _KeepsChangingError(Exception):
    """The source was written so often that a copy in steps began anew again and again."""


def _watch(path: Path, patience: float) -> Callable[[int, int, int], None]:
    """Return a progress callback that gives up when the source stays locked or keeps changing."""
    deadline = time.monotonic() + patience
    restarts, last_left = 0, 0

    def watch(status: int, left: int, total: int) -> None:
        nonlocal deadline, restarts, last_left
        if status in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            if time.monotonic() > deadline:
                raise SourceError(
                    f"{path} is locked by another program and stayed so for {patience:.0f} seconds;"
                    " nothing was imported. Try again in a moment, or stop claude-mem's worker meanwhile."
                )
            return
        deadline = time.monotonic() + patience
        if left > last_left > 0:
            restarts += 1
            if restarts > MOST_RESTARTS:
                raise _KeepsChangingError
        last_left = left

    return watch


def _needs_recovery(error: sqlite3.OperationalError) -> bool:
    # A journal of a writer that died: only someone who may write can roll it back.
    name = getattr(error, "sqlite_errorname", "")
    return name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN"))


def _recover(path: Path, patience: float) -> sqlite3.Connection:
    """Return a snapshot of a copy of the files, in which SQLite may finish what a dead writer left."""
    with tempfile.TemporaryDirectory(prefix="memweb-") as folder:
        copy = Path(folder) / path.name
        try:
            for end in ("-journal", "-wal", ""):
                beside = path.with_name(path.name + end)
                if beside.exists():
                    shutil.copyfile(beside, copy.with_name(copy.name + end))
            with sqlite3.connect(copy) as connection:
                connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
            connection.close()
            return _copy(copy, False, False, patience)
        except OSError as error:
            raise SourceError(f"{path} cannot be read: {error.strerror or error}") from error
        except sqlite3.DatabaseError as error:
            raise _unreadable(path, error) from error


def _state(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_size, stat.st_mtime_ns


def _unreadable(path: Path, error: Exception) -> SourceError:
    return SourceError(
        f"{path} cannot be read as an SQLite database ({error}). If it is damaged, restore it from a backup or run"
        f' `sqlite3 "{path}" .recover | sqlite3 recovered.db` and import recovered.db.'
    )
