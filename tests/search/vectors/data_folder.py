"""A data folder with stored vectors, and a vector process on it, for tests of the index over them."""

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest

from search.vectors.chroma_client import VectorProcess
from search.vectors.embedding import Vectors
from search.vectors.index_state import IndexState, Phase, pending_request
from tests.management.memweb_process import environment, run_memweb

SECONDS = 60
ROWS = 2_100  # of the folder that is copied


class DataFolder:
    """A data folder whose database holds one searched model, of vectors that say nothing of any text."""

    def __init__(self, path: Path, dimension: int = 16, seed: int = 7) -> None:
        self.path = path
        self.dimension = dimension
        self._random = np.random.default_rng(seed)

    @property
    def chroma(self) -> Path:
        return self.path / "chroma"

    @property
    def set_aside(self) -> list[Path]:
        return sorted(self.path.glob("chroma.damaged-*"))

    def execute(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        with closing(sqlite3.connect(self.path / "memweb.sqlite3", timeout=30)) as connection, connection:
            return connection.execute(sql, values).fetchall()

    def make_model(self, name: str = "fake/1") -> int:
        """Make a model the searched one and return its id."""
        self.execute("UPDATE search_embeddingmodel SET is_searched = 0")
        columns = {"name": name, "dimension": self.dimension, "is_searched": 1, "removals": 0, "state_width": 0}
        known = {str(row[1]) for row in self.execute("PRAGMA table_info(search_embeddingmodel)")}
        columns = {"created_at": "2026-01-01 00:00:00", **{key: columns[key] for key in columns if key in known}}
        marks = ", ".join("?" * len(columns))
        self.execute(
            f"INSERT INTO search_embeddingmodel ({', '.join(columns)}) VALUES ({marks})",
            *columns.values(),
        )
        [(id,)] = self.execute("SELECT id FROM search_embeddingmodel WHERE is_searched")
        assert isinstance(id, int)
        return id

    def store(self, count: int, model: int = 1) -> dict[int, Vectors]:
        """Store so many vectors and return them by id."""
        [(last,)] = self.execute("SELECT coalesce(max(memory_id), 0) FROM search_embedding")
        assert isinstance(last, int)
        vectors = self._random.normal(size=(count, self.dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        with closing(sqlite3.connect(self.path / "memweb.sqlite3", timeout=30)) as connection, connection:
            connection.executemany(
                "INSERT INTO search_embedding (model_id, kind, memory_id, chunk, text_hash, vector)"
                " VALUES (?, 'o', ?, 0, x'00', ?)",
                [(model, last + place + 1, vector.astype("<f2").tobytes()) for place, vector in enumerate(vectors)],
            )
        rows = self.execute("SELECT id FROM search_embedding WHERE memory_id > ? ORDER BY id", last)
        return {int(str(id)): vector for (id,), vector in zip(rows, vectors, strict=True)}

    def vectors(self) -> dict[int, Vectors]:
        """Return all stored vectors by id."""
        rows = self.execute("SELECT id, vector FROM search_embedding WHERE length(vector) > 0 ORDER BY id")
        return {int(str(id)): np.frombuffer(data, "<f2").astype(np.float32) for id, data in rows}  # type: ignore[call-overload]

    def remove(self, ids: Iterable[int]) -> None:
        """Remove vectors as the indexer does, which counts removals in the same transaction."""
        with closing(sqlite3.connect(self.path / "memweb.sqlite3", timeout=30)) as connection, connection:
            connection.executemany("DELETE FROM search_embedding WHERE id = ?", [(id,) for id in ids])
            connection.execute("UPDATE search_embeddingmodel SET removals = removals + 1 WHERE is_searched")

    def use(self, monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
        """Let processes that are started from now on use this folder."""
        for name, value in environment(self.path, MEMWEB_EMBEDDER="off", **variables).items():
            monkeypatch.setenv(name, value)
        for name in [name for name in os.environ if name.startswith("CHROMA_") and name not in variables]:
            monkeypatch.delenv(name)
        monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "memweb.settings")

    @contextmanager
    def process(self, purpose: str = "a test") -> Iterator[VectorProcess]:
        """A vector process on this folder, for as long as the context lasts."""
        process = VectorProcess(self.path, purpose, embeds=False)
        process.start()
        try:
            yield process
        finally:
            process.stop()


def make_data_folder(template: Path, path: Path, dimension: int = 16) -> DataFolder:
    """Return a data folder with its own copy of the template's database."""
    path.mkdir(mode=0o700)
    (path / "memweb.sqlite3").write_bytes((template / "memweb.sqlite3").read_bytes())
    folder = DataFolder(path, dimension)
    folder.make_model()
    return folder


def copy_of(folder: DataFolder, path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    """Return a copy of a data folder that processes started by the test use."""
    shutil.copytree(folder.path, path)
    copy = DataFolder(path, folder.dimension, seed=8)
    copy.use(monkeypatch)
    return copy


def make_template(path: Path) -> Path:
    """Return a data folder with an empty database."""
    done = run_memweb(path, "migrate", MEMWEB_EMBEDDER="off")
    assert done.returncode == 0, done.stderr
    with closing(sqlite3.connect(path / "memweb.sqlite3")) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return path


def wait_for(process: VectorProcess, is_so: Callable[[IndexState], bool], seconds: float = SECONDS) -> IndexState:
    """Return the first state that is so."""
    end = time.monotonic() + seconds
    while not is_so(process.state):
        assert time.monotonic() < end, f"waited in vain; the state is {process.state}"
        process.wait(0.1)
    return process.state


def wait_until_equal(process: VectorProcess, folder: DataFolder, seconds: float = SECONDS) -> IndexState:
    """Return the state once the index is said to be equal to the rows, all of them, and nothing is asked of it."""
    [(count, highest)] = folder.execute(
        "SELECT count(*), coalesce(max(e.id), 0) FROM search_embedding AS e JOIN search_embeddingmodel AS m"
        " ON m.id = e.model_id WHERE m.is_searched AND length(vector) > 0"
    )
    return wait_for(
        process,
        lambda state: (
            state.phase is Phase.READY
            and (state.held, state.missing, state.ghosts) == (count, 0, 0)
            and state.followed >= int(str(highest))
            and pending_request(folder.path) is None
        ),
        seconds,
    )


def unreached(process: VectorProcess, vectors: dict[int, Vectors]) -> list[int]:
    """Return the ids that the process does not find by their own vector, with a distance near 0."""
    return [
        id
        for id, vector in vectors.items()
        if (answer := process.nearest(vector, 1)) and (answer[0][0] != id or answer[0][1] > 0.002)
    ]
