"""One memweb at a time for each data folder: who holds it, and at which address it answers."""

import fcntl
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from memweb.locking import try_to_lock
from memweb.operations.problems import Problem

LOCK_NAME = "memweb.lock"


@dataclass(slots=True)
class Instance:
    """The running memweb that holds a data folder. `address` is empty until it is known."""

    process_id: int
    address: str


@contextmanager
def hold_data_dir(folder: Path) -> Iterator[Callable[[str], None]]:
    """Hold the data folder for this process; raise Problem when a running memweb holds it already.

    Yields a function that makes the address known under which this memweb answers. The lock is the operating system's,
    so it ends with the process, however that ends.
    """
    with (folder / LOCK_NAME).open("a+", encoding="utf-8") as file:
        if not try_to_lock(file, fcntl.LOCK_EX, attempts=5):
            other = _read(file)
            where = other.address or "starting"
            raise Problem(
                f"another memweb runs with the data folder {folder} (process {other.process_id}, {where});"
                " `memweb signin` prints a new sign-in link for it, Ctrl-C in its terminal stops it"
            )

        def announce(address: str) -> None:
            file.truncate(0)
            json.dump({"process_id": os.getpid(), "address": address}, file)
            file.flush()

        announce("")
        yield announce


def running_instance(folder: Path) -> Instance | None:
    """Return the memweb that runs with this data folder, None when there is none."""
    try:
        file = (folder / LOCK_NAME).open(encoding="utf-8")
    except FileNotFoundError:
        return None
    with file:
        return None if try_to_lock(file, fcntl.LOCK_SH) else _read(file)


def _read(file: IO[str]) -> Instance:
    file.seek(0)
    try:
        return Instance(**json.load(file))
    except (ValueError, TypeError):
        return Instance(0, "")
