"""Files that hold the vectors of one model as float32, to be mapped into memory and shared by all processes.

A folder `<model>.<generation>` has two files. `vectors` holds rows of `dimension` numbers, with room for more at its
end. `keys` holds one record for each row, appended after the row: its length says how many rows there are. So a
process that is killed leaves at most half a record, which the next one overwrites. A folder that is damaged is replaced
by one of the next generation.

memweb never makes a file shorter, since a process that touches what is mapped and gone is ended by SIGBUS. For the case
that somebody else does, whoever computes with the mapped rows asks for the size of the mapped file right before, some
milliseconds' work at a time (`MatrixFile.check_mapped`, a microsecond). To read all into memory instead would be safe
without asking, but cost each process 1.5 GB for a million vectors, which the system now shares and may drop. Damaged
content is found by the checksum of each record, a part of the rows at each search.
"""

import fcntl
import mmap
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import numpy as np

from search.vectors.embedding import Vectors
from search.vectors.matrix_records import RECORD, Records, checksums

_FIRST_ROOM = 1024
_GROWTH = 1.5
_PAUSE = 0.005


class MatrixDamaged(OSError):
    """The files do not hold what they should; the message says what is wrong."""


@contextmanager
def hold_lock(folder: Path, seconds: float | None = None) -> Iterator[bool]:
    """Let one thread of one process write matrices in a folder at a time; give whether it is this one.

    Waits for the others at most so many seconds (None: as long as it takes).
    """
    folder.mkdir(parents=True, exist_ok=True)
    deadline = None if seconds is None else time.monotonic() + seconds
    with (folder / "lock").open("ab") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | (0 if deadline is None else fcntl.LOCK_NB))
            except BlockingIOError:
                if deadline is not None and time.monotonic() < deadline:
                    time.sleep(_PAUSE)
                    continue
                yield False
                return
            yield True
            return


class MatrixFile:
    """One generation of the vectors of one model. Writing needs the lock of the folder."""

    def __init__(self, folder: Path, dimension: int) -> None:
        self.folder = folder
        self._keys_path = folder / "keys"
        self._vectors_path = folder / "vectors"
        self._dimension = dimension
        self._row_bytes = dimension * 4
        self._mapped: Vectors = np.zeros((0, dimension), np.float32)
        self._map: mmap.mmap | None = None

    def check(self, count: int) -> None:
        """Raise MatrixDamaged when there cannot be so many rows any more, FileNotFoundError when the files are gone."""
        if self._keys_path.stat().st_size < count * RECORD.itemsize:
            raise MatrixDamaged("its keys are cut off")
        if self._vectors_path.stat().st_size < max(count, len(self._mapped)) * self._row_bytes:
            raise MatrixDamaged("its vectors are cut off")

    def check_mapped(self) -> None:
        """Raise MatrixDamaged when the mapped file is shorter now than what is mapped of it."""
        if self._map is not None and self._map.size() < len(self._mapped) * self._row_bytes:
            raise MatrixDamaged("its vectors are cut off")

    def verify(self, records: Records, first: int) -> None:
        """Raise MatrixDamaged when the files do not hold these records and their vectors from row `first` on.

        They are read, not mapped, so that a disk that fails costs no more than an OSError.
        """
        size = len(records) * self._row_bytes
        with self._vectors_path.open("rb") as file:
            file.seek(first * self._row_bytes)
            content = file.read(size)
        if len(content) < size:
            raise MatrixDamaged("its vectors are cut off")
        vectors = np.frombuffer(content, "<f4").reshape(len(records), self._dimension)
        if not np.array_equal(checksums(records, vectors), records["sum"]):
            raise MatrixDamaged("its vectors are not those that were written")

    def read_keys(self, known: int = 0) -> Records:
        """Return the records after the first `known`. Raises MatrixDamaged, OSError."""
        with self._keys_path.open("rb") as file:
            file.seek(known * RECORD.itemsize)
            content = file.read()
        keys = np.frombuffer(content[: len(content) // RECORD.itemsize * RECORD.itemsize], RECORD)
        if len(keys) and (keys["id"][0] <= 0 or (np.diff(keys["id"]) <= 0).any()):
            raise MatrixDamaged("its keys are not in order")
        return keys

    def rows(self, count: int) -> Vectors:
        """Return the first `count` vectors, mapped. Raises MatrixDamaged, OSError."""
        self.check(count)
        if count > len(self._mapped):
            with self._vectors_path.open("rb") as file:
                room = os.fstat(file.fileno()).st_size // self._row_bytes
                if room < count:
                    raise MatrixDamaged("its vectors are cut off")
                self._map = mmap.mmap(file.fileno(), room * self._row_bytes, access=mmap.ACCESS_READ)
            self._mapped = np.frombuffer(self._map, np.float32).reshape(room, self._dimension)
        return self._mapped[:count]

    def append(self, count: int, keys: Records, vectors: Vectors) -> None:
        """Write rows after the first `count`, with the checksums of `keys` set. Raises OSError, as for a full disk."""
        rows = count + len(keys)
        keys["sum"] = checksums(keys, vectors)
        with self._vectors_path.open("r+b") as file:
            if file.seek(0, os.SEEK_END) < rows * self._row_bytes:
                # Room takes no space on disk before it is written.
                file.truncate(max(_FIRST_ROOM, int(rows * _GROWTH)) * self._row_bytes)
            file.seek(count * self._row_bytes)
            file.write(np.ascontiguousarray(vectors, "<f4").tobytes())
        with self._keys_path.open("r+b") as file:
            file.seek(count * RECORD.itemsize)
            file.write(keys.tobytes())


def current_file(folder: Path, name: str, dimension: int) -> MatrixFile | None:
    """Return the latest generation of a model's files; None when there is none."""
    generations = _generations(folder, name)
    return MatrixFile(generations[max(generations)], dimension) if generations else None


def begin_file(folder: Path, name: str, dimension: int, parts: Iterable[tuple[Records, Vectors]] = ()) -> MatrixFile:
    """Begin the next generation, with the rows of these parts, and remove those before. Needs the lock."""
    generations = _generations(folder, name)
    made = folder / f"{name}.new"
    shutil.rmtree(made, ignore_errors=True)
    made.mkdir()
    (made / "keys").touch()
    (made / "vectors").touch()
    count = 0
    for keys, vectors in parts:
        MatrixFile(made, dimension).append(count, keys, vectors)
        count += len(keys)
    target = folder / f"{name}.{max(generations, default=0) + 1}"
    made.rename(target)
    for path in generations.values():
        shutil.rmtree(path, ignore_errors=True)
    return MatrixFile(target, dimension)


def remove_files(folder: Path, keep: set[str]) -> None:
    """Remove the files of all models but these. Needs the lock."""
    for path in folder.iterdir():
        if path.is_dir() and path.name.partition(".")[0] not in keep:
            shutil.rmtree(path, ignore_errors=True)


def _generations(folder: Path, name: str) -> dict[int, Path]:
    found = {}
    for path in folder.glob(f"{name}.*"):
        with suppress(ValueError):
            found[int(path.suffix[1:])] = path
    return found
