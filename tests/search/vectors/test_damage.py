"""Damaged indexes: the process that opens one may die, searches go on, and the index is made anew from the rows."""

import random
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from search.vectors.chroma_client import VectorProcess
from search.vectors.index_state import Phase
from search.vectors.nearest import BroadIndexUnavailable
from tests.search.vectors.data_folder import (
    ROWS,
    DataFolder,
    copy_of,
    unreached,
    wait_for,
    wait_until_equal,
)
from tests.search.vectors.test_index_folder import PALACES, copy_writable


def bad_neighbour_ids(chroma: Path) -> None:
    """Let every element of the graph point to neighbours that do not exist."""
    path = segment(chroma) / "data_level0.bin"
    data = bytearray(path.read_bytes())
    size = 4 + 32 * 4 + 16 * 4 + 8
    for start in range(0, len(data) - size, size):
        data[start + 4 : start + 4 + 128] = b"\xf0\xff\xff\x7f" * 32
    path.write_bytes(data)


def scrambled_bins(chroma: Path) -> None:
    choose = random.Random(5)  # noqa: S311 - no secret
    for path in segment(chroma).glob("*.bin"):
        path.write_bytes(choose.randbytes(path.stat().st_size))


def truncated_level0(chroma: Path) -> None:
    path = segment(chroma) / "data_level0.bin"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])


def missing_metadata(chroma: Path) -> None:
    (segment(chroma) / "index_metadata.pickle").unlink()


def missing_segment(chroma: Path) -> None:
    shutil.rmtree(segment(chroma))


def empty_links(chroma: Path) -> None:
    (segment(chroma) / "link_lists.bin").write_bytes(b"")
    (segment(chroma) / "length.bin").write_bytes(b"")


def lost_rows(chroma: Path) -> None:
    with closing(sqlite3.connect(chroma / "chroma.sqlite3")) as connection, connection:
        connection.execute("DELETE FROM embeddings WHERE id % 2 = 0")


def lost_segments(chroma: Path) -> None:
    with closing(sqlite3.connect(chroma / "chroma.sqlite3")) as connection, connection:
        connection.execute("DELETE FROM segments")


def truncated_database(chroma: Path) -> None:
    path = chroma / "chroma.sqlite3"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


DAMAGE = [
    bad_neighbour_ids,
    scrambled_bins,
    truncated_level0,
    missing_metadata,
    missing_segment,
    empty_links,
    lost_rows,
    lost_segments,
    truncated_database,
]

# What Chroma does without, and what is put right by adding what is missing.
HARMLESS = [lost_rows]
# Whether the graph without its upper levels still answers depends on how it was built.
EITHER = [empty_links]


def segment(chroma: Path) -> Path:
    [folder] = [path for path in chroma.iterdir() if path.is_dir()]
    return folder


def search_until_equal(process: VectorProcess, folder: DataFolder) -> None:
    """Search all the time while the index is made anew: each search is answered, or refused in words, and soon."""
    end = time.monotonic() + 90
    vector = folder.vectors()[1]
    while process.state.phase is not Phase.READY:
        assert time.monotonic() < end, process.state
        started = time.monotonic()
        try:
            process.nearest(vector, 5)
        except BroadIndexUnavailable as problem:
            assert "not found" not in str(problem)
            assert len(str(problem)) > 20
        assert time.monotonic() - started < 5
        process.wait(0.05)
    wait_until_equal(process, folder)


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_damaged_index_is_made_anew_while_searches_go_on(
    sound: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Callable[[Path], None]
) -> None:
    folder = copy_of(sound, tmp_path / "data", monkeypatch)
    damage(folder.chroma)
    with folder.process() as process:
        search_until_equal(process, folder)
        vectors = folder.vectors()
        some = {id: vectors[id] for id in list(vectors)[::50]}
        assert unreached(process, some) == []
        assert len(process.nearest(vectors[1], ROWS)) == ROWS
        assert "rror" not in (process.state.set_aside or "")  # as what Chroma says begins
    assert len(folder.set_aside) in ([0, 1] if damage in EITHER else [0] if damage in HARMLESS else [1])


@pytest.mark.parametrize("name", [PALACES[0], PALACES[-1]])
def test_palace_as_vector_store_is_set_aside(shared: Path, folder: DataFolder, name: str) -> None:
    copy_writable(shared / "cases/files" / name / "palace", folder.chroma)
    vectors = folder.store(40)
    with folder.process() as process:
        search_until_equal(process, folder)
        assert unreached(process, vectors) == []
        assert "collection mempalace_drawers" in (process.state.set_aside or "")
    assert len(folder.set_aside) == 1


@pytest.mark.parametrize("name", PALACES[:4])
def test_damaged_palace_as_if_it_were_ours_ends_no_more_than_its_process(
    shared: Path, folder: DataFolder, name: str
) -> None:
    """The graphs of the cases, below a collection that passes for ours: only a query tells."""
    folder.dimension = 384
    folder.execute("UPDATE search_embeddingmodel SET dimension = 384")
    folder.store(40)
    with folder.process() as process:
        wait_for(process, lambda state: state.phase is Phase.READY)
        collection = process.state.collection
    shutil.rmtree(folder.chroma)
    copy_writable(shared / "cases/files" / name / "palace", folder.chroma)
    with closing(sqlite3.connect(folder.chroma / "chroma.sqlite3")) as connection, connection:
        connection.execute("UPDATE collections SET name = ?", [collection])
        connection.execute("UPDATE embeddings SET embedding_id = id")
    with folder.process() as process:
        search_until_equal(process, folder)
        assert unreached(process, folder.vectors()) == []
    assert len(folder.set_aside) == 1
