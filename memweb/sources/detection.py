"""Recognises a source by what is in it, never by its name, and opens the reader for it."""

from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from memweb.sources.claude_mem_database import ClaudeMemDatabase
from memweb.sources.records import Reader, ReadOptions, SourceError

DATABASE_NAME = "claude-mem.db"
AUTO = "auto"
CHOICES = "a claude-mem database, claude-mem's JSON export, the folder ~/.claude-mem, or a git repository"
MOST_ENTRIES = 2000


def open_source(path: Path, source: str, options: ReadOptions) -> Reader:
    """Return an open reader for a path; raises SourceError that says what was found there and what to choose."""
    path = path.expanduser()
    if not path.exists():
        raise SourceError(f"{path} does not exist. Give {CHOICES}.")
    path = path.resolve()
    if source != AUTO:
        return READERS[source](path, options)
    if path.is_dir():
        return _open_folder(path, options)
    return open_claude_mem(path, options)


def open_claude_mem(path: Path, options: ReadOptions) -> Reader:
    """Open claude-mem's database, its folder, or its JSON export."""
    if path.is_dir():
        if not (path / DATABASE_NAME).is_file():
            raise SourceError(f"{path} holds no {DATABASE_NAME}, but {contents(path)}. Give {CHOICES}.")
        path = path / DATABASE_NAME
    return ClaudeMemDatabase(path, options)


def _open_folder(path: Path, options: ReadOptions) -> Reader:
    if (path / DATABASE_NAME).is_file():
        return open_claude_mem(path, options)
    raise SourceError(f"{path} is a folder with {contents(path)}; nothing of it is recognised. Give {CHOICES}.")


def contents(folder: Path) -> str:
    """Return in words what is in a folder, without looking at more than its first entries."""
    try:
        entries = list(islice(folder.iterdir(), MOST_ENTRIES + 1))
    except OSError as error:
        raise SourceError(f"{folder} cannot be read: {error.strerror or error}") from error
    kinds = Counter("folders" if entry.is_dir() else f"{entry.suffix or 'other'} files" for entry in entries)
    if not kinds:
        return "nothing in it"
    more = "more than " if len(entries) > MOST_ENTRIES else ""
    return more + ", ".join(f"{min(count, MOST_ENTRIES)} {kind}" for kind, count in kinds.most_common(4))


READERS: dict[str, Callable[[Path, ReadOptions], Reader]] = {"claude-mem": open_claude_mem}
