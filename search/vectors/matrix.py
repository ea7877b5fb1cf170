"""The stored vectors of one model, ready to be compared: a file that all processes map, kept equal to the rows.

Rows of the database are never changed and their ids never used twice, so the file is only appended to. Which of its
rows still exist is asked again when the model's `removals` has grown. A file that is short, damaged or of another
database is made again from the rows.
"""

import json
import logging
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from threading import Lock

import numpy as np
from django.conf import settings
from django.db import connection
from numpy.typing import NDArray

from search.vectors.comparison import HIDDEN, VectorRows
from search.vectors.embedding import Vectors
from search.vectors.matrix_file import (
    MatrixDamaged,
    MatrixFile,
    begin_file,
    current_file,
    hold_lock,
    remove_files,
)
from search.vectors.matrix_records import COLUMNS, FOREIGN, RECORD, Records, Row, padded, to_records

logger = logging.getLogger(__name__)

# Rows read at once: some MB of memory, 10 to 20 ms.
BATCH = 2000
# For so long at a time others are kept from writing.
_SLICE_SECONDS = 0.25
# Rows compared with the database when a file is opened or rows were removed, and how many of these are the last ones.
_COMPARED, _COMPARED_LAST = 64, 16
# A file is written anew when it holds so many removed rows, and they are this part of all.
_LEAST_REMOVED, _REMOVED_PART = 2000, 1 / 3
# Rows whose checksums a search looks at, 1 ms, and the seconds in which no other does.
_VERIFIED, _UNVERIFIED_SECONDS = 1000, 0.2
# Part of the files' names: raise it whenever they hold the same rows otherwise.
_FORMAT = "2"

_UNREAD = "the stored vectors are still being read, so some are not found yet"
_IDENTITY = "m.id, m.name, m.dimension, m.created_at"


@dataclass(frozen=True, slots=True)
class ModelState:
    """What the database says of a model now, and of the row that the asker knew as its last: its text hash."""

    id: int
    name: str
    dimension: int
    created_at: str
    removals: int
    last_id: int
    known_id: int = field(compare=False)
    known_hash: bytes | None = field(compare=False)

    @property
    def file_name(self) -> str:
        """Name of the files of this model in this database, and of no other."""
        return _file_name(self.id, self.name, self.dimension, self.created_at)


def read_state(model_id: int | None = None, last_known: int = 0) -> ModelState | None:
    """Return the state of a model (None: of the one that is searched) by one small statement; None: there is none."""
    which = "m.is_searched" if model_id is None else "m.id = %s"
    sql = f"""
        SELECT {_IDENTITY}, m.removals, (SELECT coalesce(max(id), 0) FROM search_embedding),
            known.id, (SELECT text_hash FROM search_embedding WHERE id = known.id)
        FROM (SELECT %s AS id) AS known CROSS JOIN search_embeddingmodel AS m WHERE {which}
    """
    with connection.cursor() as cursor:
        cursor.execute(sql, [last_known, *([] if model_id is None else [model_id])])
        row = cursor.fetchone()
    return None if row is None else ModelState(*row)


def vectors_folder() -> Path:
    """Return the folder of the files of all models."""
    folder: Path = settings.DATA_DIR / "vectors"
    return folder


class VectorMatrix:
    """The vectors of one model, in this process. Threads may use it at once.

    After a refresh, `problem` says what is not as it should be (rows still to be read, files that cannot be written),
    and `foreign` are the ids of rows that no indexer can have written.
    """

    def __init__(self, state: ModelState, folder: Path | None = None) -> None:
        self.file_name = state.file_name
        self.problem: str | None = None
        self._model_id = state.id
        self._dimension = state.dimension
        self.folder = folder or vectors_folder()
        self._lock = Lock()
        self._damaged: Path | None = None
        self._file: MatrixFile | None
        self._keys: Records
        self._exists: NDArray[np.bool_]
        # What of the database is in the file: which removals are taken into account, up to which state it is complete.
        self._removals: int | None
        self._seen: ModelState | None
        # Up to which row checksums were looked at, and when.
        self._verified_to: int
        self._verified_at: float
        self._forget()

    @property
    def last_known(self) -> int:
        """Id of the last row that was read; 0 when none was."""
        return int(self._keys["id"][-1]) if len(self._keys) else 0

    @property
    def foreign(self) -> list[int]:
        found: list[int] = self._keys["id"][(self._keys["kind"] == FOREIGN) & self._exists].tolist()
        return found

    def refresh(self, state: ModelState, seconds: float | None = None) -> VectorRows:
        """Return the vectors as the database has them; `state` must have been read with `last_known`.

        Reads new rows for at most about so many seconds (None: all). What is left then is read by the next refresh, of
        whichever process, and `problem` says so.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        with self._lock:
            try:
                if self._is_other_row(state):
                    self._give_up(MatrixDamaged("its rows are not those of the database"))
                while not self._is_current(state):
                    self._catch_up(state)
                    if deadline is not None and time.monotonic() >= deadline:
                        break
                if deadline is not None and not self._verify_some():
                    self._catch_up(state)
            except OSError as error:
                logger.warning("vectors in %s: %s", self.folder, error)
                self.problem = f"the vectors cannot be kept in {self.folder} ({error.strerror or error})"
            return self._rows

    def _is_current(self, state: ModelState) -> bool:
        """Return whether there is nothing to do; forget files that cannot be used any more."""
        if self._file is None:
            return False
        try:
            self._file.check(len(self._keys))
        except FileNotFoundError:  # another process began a new generation
            self._forget()
        except MatrixDamaged as damage:
            self._give_up(damage)
        return self._seen == state

    def _verify_some(self) -> bool:
        """Compare the next rows with their checksums; return False, and forget the files, when they differ."""
        if self._file is None or time.monotonic() < self._verified_at + _UNVERIFIED_SECONDS:
            return True
        first = self._verified_to if self._verified_to < len(self._keys) else 0
        records = self._keys[first : first + _VERIFIED]
        try:
            self._file.verify(records, first)
        except FileNotFoundError:  # another process began a new generation
            self._forget()
            return False
        except OSError as damage:  # a disk that cannot be read there either
            self._give_up(damage)
            return False
        self._verified_to, self._verified_at = first + len(records), time.monotonic()
        return True

    def _is_other_row(self, state: ModelState) -> bool:
        """Return whether the last known row changed or went away without a removal, as when a backup is put back."""
        if not len(self._keys) or state.known_id != self.last_known or state.removals != self._removals:
            return False
        return bool(self._keys["hash"][-1].tobytes() != padded(state.known_hash))

    def _catch_up(self, state: ModelState) -> None:
        """Do what is to do, or a part of it, with others kept from writing meanwhile."""
        with hold_lock(self.folder, _SLICE_SECONDS) as is_held:
            if not is_held:
                self.problem = _UNREAD
                return
            self._take_written()
            # Rows that others wrote since exist, too, or `removals` will tell next time.
            if self._removals != state.removals:
                if not self._read_existing():
                    self._give_up(MatrixDamaged("its rows are not those of the database"))
                    self._take_written()
                self._removals = state.removals
                self._compact()
            is_complete = self._read_new(state)
        self._seen = state if is_complete else None
        self.problem = None if is_complete else _UNREAD
        self._show()

    def _take_written(self) -> None:
        """Take the rows that other processes wrote."""
        if self._file is None or not self._file.folder.exists():
            self._open()
        assert self._file is not None  # noqa: S101 - for the type checker
        try:
            keys = self._file.read_keys(len(self._keys))
            self._file.rows(len(self._keys) + len(keys))
        except (MatrixDamaged, FileNotFoundError) as damage:
            self._give_up(damage)
            self._take_written()
        else:
            self._take(keys)

    def _open(self) -> None:
        """Take the present files, unless they are known to be damaged; else begin new ones."""
        file = current_file(self.folder, self.file_name, self._dimension)
        if file is None or file.folder == self._damaged:
            remove_files(self.folder, _file_names())
            file = begin_file(self.folder, self.file_name, self._dimension)
        self._forget()
        self._file = file

    def _give_up(self, damage: Exception) -> None:
        """Forget the present files, which are not taken again."""
        assert self._file is not None  # noqa: S101 - for the type checker
        logger.warning("%s is made again from the database: %s", self._file.folder, damage)
        self._damaged = self._file.folder
        self._forget()

    def _forget(self) -> None:
        self._file = None
        self._keys = np.zeros(0, RECORD)
        self._exists = np.zeros(0, bool)
        self._removals = None
        self._seen = None
        self._searched_to = 0
        self._verified_to, self._verified_at = 0, float("-inf")
        self._show()

    def _show(self) -> None:
        """Let searches see what was read."""
        keys = self._keys
        vectors = np.zeros((0, self._dimension), np.float32) if self._file is None else self._file.rows(len(keys))
        kinds = np.where(self._exists & (keys["kind"] != FOREIGN), keys["kind"], HIDDEN)
        ids, memories, chunks = (np.ascontiguousarray(keys[name]) for name in ("id", "memory", "chunk"))
        check = self._file.check_mapped if self._file else lambda: None
        self._rows = VectorRows(ids, kinds, memories, chunks, vectors, check)

    def _take(self, keys: Records) -> None:
        if len(keys):
            # As bytes, which numpy joins faster than records.
            self._keys = np.concatenate([self._keys.view(np.uint8), keys.view(np.uint8)]).view(RECORD)
            self._exists = np.concatenate([self._exists, np.ones(len(keys), bool)])

    def _read_existing(self) -> bool:
        """Ask which rows still exist; return False when the file cannot be of these rows."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT group_concat(id) FROM search_embedding WHERE model_id = %s", [self._model_id])
            text = cursor.fetchone()[0]
        existing = np.fromstring(text or "", np.int64, sep=",")
        existing = np.sort(existing[existing <= self.last_known])
        places = np.searchsorted(self._keys["id"], existing)
        if not np.array_equal(self._keys["id"][places], existing):
            return False
        self._exists = np.zeros(len(self._keys), bool)
        self._exists[places] = True
        return self._agrees_with_rows()

    def _agrees_with_rows(self) -> bool:
        """Compare some records with their rows, the last ones among them: they show that a backup was put back."""
        assert self._file is not None  # noqa: S101 - for the type checker
        existing = np.flatnonzero(self._exists)
        spread = np.linspace(0, max(0, len(existing) - 1), min(len(existing), _COMPARED), dtype=np.int64)
        chosen = existing[np.union1d(spread, np.arange(max(0, len(existing) - _COMPARED_LAST), len(existing)))]
        ids = self._keys["id"][chosen]
        rows = self._fetch("id IN (SELECT value FROM json_each(%s))", [json.dumps(ids.tolist())])
        keys, vectors = to_records(rows, self._dimension)
        # A row that was removed a moment ago is no fault.
        chosen = chosen[np.isin(ids, keys["id"])]
        rows_of_file = self._file.rows(len(self._keys))
        self._file.check_mapped()
        stored = rows_of_file[chosen]
        keys["sum"] = self._keys["sum"][chosen]  # of the file's own vectors, which are rounded otherwise
        return keys.tobytes() == self._keys[chosen].tobytes() and np.allclose(vectors, stored, atol=1e-3)

    def _compact(self) -> None:
        """Write the files anew when much of them is of removed rows."""
        removed = len(self._keys) - int(self._exists.sum())
        if self._file is None or removed < max(_LEAST_REMOVED, len(self._keys) * _REMOVED_PART):
            return
        keys, vectors, kept = self._keys, self._file.rows(len(self._keys)), np.flatnonzero(self._exists)
        parts = np.split(kept, range(BATCH, len(kept), BATCH))
        old = self._file

        def rows() -> Iterator[tuple[Records, Vectors]]:
            for part in parts:
                old.check_mapped()
                yield keys[part], vectors[part]

        try:
            self._file = begin_file(self.folder, self.file_name, self._dimension, rows())
        except MatrixDamaged as damage:
            self._give_up(damage)
            self._take_written()
            return
        self._keys, self._exists = keys[kept], np.ones(len(kept), bool)

    def _read_new(self, state: ModelState) -> bool:
        """Append rows that are not in the file, for a while; return whether none is left."""
        assert self._file is not None  # noqa: S101 - for the type checker
        until = time.monotonic() + _SLICE_SECONDS
        while True:
            after = max(self.last_known, min(self._searched_to, state.last_id))
            if after >= state.last_id:
                return True
            # The plus keeps SQLite from reading every row of the model by its index.
            rows = self._fetch("id > %s AND +model_id = %s", [after, self._model_id], f"LIMIT {BATCH}")
            keys, vectors = to_records(rows, self._dimension)
            self._file.append(len(self._keys), keys, vectors)
            self._take(keys)
            if len(rows) < BATCH:
                self._searched_to = state.last_id
                return True
            if time.monotonic() > until:
                return False

    def _fetch(self, where: str, params: Sequence[int | str], end: str = "") -> list[Row]:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {COLUMNS} FROM search_embedding WHERE {where} ORDER BY id {end}", params)
            return cursor.fetchall()


def _file_names() -> set[str]:
    """Return the names of the files of all models."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_IDENTITY} FROM search_embeddingmodel AS m")
        return {_file_name(*row) for row in cursor.fetchall()}


def _file_name(*identity: object) -> str:
    return blake2b(" ".join(map(str, (_FORMAT, *identity))).encode(), digest_size=8).hexdigest()
