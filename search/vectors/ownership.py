"""Who may open the vector index: one process at a time, because Chroma loses vectors when several write."""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from memweb.locking import try_to_lock
from search.vectors.index_problems import IndexUnavailable

LOCK_NAME = "chroma.lock"


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that holds the vector index, and the command that started it."""

    process_id: int
    purpose: str

    def __str__(self) -> str:
        return f"process {self.process_id} ({self.purpose})" if self.process_id else "another process"


@contextmanager
def own_index(data_dir: Path, purpose: str) -> Iterator[None]:
    """Hold the vector index of a data folder; raise IndexUnavailable, which names the owner, when another has it.

    The lock is the operating system's: it ends with the process, however that ends. It lies beside Chroma's folder, so
    that the folder can be renamed while it is held.
    """
    try:
        file = (data_dir / LOCK_NAME).open("a+", encoding="utf-8")
    except OSError as error:
        raise IndexUnavailable(f"{data_dir / LOCK_NAME} cannot be written ({error.strerror})") from error
    with file:
        if not try_to_lock(file, fcntl.LOCK_EX, attempts=5):
            raise IndexUnavailable(f"the vector index is held by {_read(file)}")
        file.truncate(0)
        json.dump({"process_id": os.getpid(), "purpose": purpose}, file)
        file.flush()
        yield


def index_owner(data_dir: Path) -> Owner | None:
    """Return the process that holds the vector index, None when it is free."""
    try:
        file = (data_dir / LOCK_NAME).open(encoding="utf-8")
    except OSError:
        return None
    with file:
        return None if try_to_lock(file, fcntl.LOCK_SH) else _read(file)


def _read(file: IO[str]) -> Owner:
    file.seek(0)
    try:
        return Owner(**json.load(file))
    except (ValueError, TypeError):
        return Owner(0, "")
