"""Recognises a source by what is in it, never by its name, and opens the reader for it."""

import json
from collections import Counter
from collections.abc import Callable
from itertools import islice
from pathlib import Path

from memweb.sources.claude_mem_database import ClaudeMemDatabase
from memweb.sources.claude_mem_export import ClaudeMemExport
from memweb.sources.git import GitHistory, is_repository
from memweb.sources.records import Reader, ReadOptions, SourceError
from memweb.sources.snapshot import MAGIC

DATABASE_NAME = "claude-mem.db"
AUTO = "auto"
CHOICES = "a claude-mem database, claude-mem's JSON export, the folder ~/.claude-mem, or a git repository"
MOST_ENTRIES = 2000
# What other files begin with, and what they are.
_KNOWN_BEGINNINGS = {
    b"PK\x03\x04": "a ZIP archive; unpack it first",
    b"\x1f\x8b": "gzip-compressed; unpack it first",
    b"%PDF": "a PDF",
    b"\x89PNG": "an image",
}


def open_source(path: Path, source: str, options: ReadOptions) -> Reader:
    """Return an open reader for a path; raises SourceError that says what was found there and what to choose."""
    path = path.expanduser()
    try:
        if not path.exists():
            raise SourceError(f"{path} does not exist. Give {CHOICES}.")
        path = path.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise SourceError(f"{path} cannot be read: {error}") from error
    if not path.is_dir() and not path.is_file():
        raise SourceError(f"{path} is neither a file nor a folder. Give {CHOICES}.")
    return READERS[source](path, options)


def open_recognised(path: Path, options: ReadOptions) -> Reader:
    """Open whatever is at a path."""
    if not path.is_dir():
        return open_claude_mem(path, options)
    if (path / DATABASE_NAME).is_file():
        return open_claude_mem(path, options)
    if is_repository(path):
        return GitHistory(path, options)
    raise SourceError(f"{path} is a folder with {contents(path)}; nothing of it is recognised. Give {CHOICES}.")


def open_claude_mem(path: Path, options: ReadOptions) -> Reader:
    """Open claude-mem's database, its folder, or its JSON export."""
    if path.is_dir():
        if not (path / DATABASE_NAME).is_file():
            raise SourceError(f"{path} holds no {DATABASE_NAME}, but {contents(path)}. Give {CHOICES}.")
        path = path / DATABASE_NAME
    beginning = _beginning(path)
    if not beginning or beginning.startswith(MAGIC):
        return ClaudeMemDatabase(path, options)
    if beginning.lstrip(b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n")[:1] in (b"{", b"["):
        if what := _json_lines(beginning):
            raise SourceError(f"{path} is {what}, which this version does not read. Give {CHOICES}.")
        return ClaudeMemExport(path, options)
    raise SourceError(f"{path} is {_describe(beginning)}. Give {CHOICES}.")


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


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(1 << 16)
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}") from error


def _describe(beginning: bytes) -> str:
    for start, what in _KNOWN_BEGINNINGS.items():
        if beginning.startswith(start):
            return what
    return "a binary file of unknown kind, or a damaged database" if b"\0" in beginning else "text"


def _json_lines(beginning: bytes) -> str:
    """Return what a file is that holds one JSON object in each line; empty when it does not."""
    first, end, rest = beginning.partition(b"\n")
    try:
        line = json.loads(first)
    except (ValueError, RecursionError):
        return ""
    if not end or not isinstance(line, dict) or not rest.strip():
        return ""
    is_transcript = line.keys() & {"sessionId", "parentUuid", "leafUuid"}
    return "a Claude Code transcript (JSON lines)" if is_transcript else "JSON lines"


READERS: dict[str, Callable[[Path, ReadOptions], Reader]] = {
    AUTO: open_recognised,
    "claude-mem": open_claude_mem,
    "git": GitHistory,
}
