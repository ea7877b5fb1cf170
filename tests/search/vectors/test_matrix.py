"""The mapped file of vectors is equal to the rows, whatever happened to either."""

import errno
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from memweb.memories.kinds import Kind
from search.models import Embedding, EmbeddingModel
from search.vectors import matrix as module
from search.vectors.comparison import VectorRows
from search.vectors.matrix import VectorMatrix, read_state
from search.vectors.matrix_file import MatrixDamaged, MatrixFile, hold_lock
from search.vectors.matrix_records import RECORD
from search.vectors.stored import remove_rows, remove_some_of_model, replace_foreign_rows
from tests.factories import make_drawer
from tests.search.vectors.stored import make_model, store

pytestmark = pytest.mark.django_db


@pytest.fixture
def model() -> EmbeddingModel:
    """A searched model with twenty vectors."""
    model = make_model(dimension=4)
    add(model, 20)
    return model


def add(model: EmbeddingModel, count: int, seed: int = 1) -> list[Embedding]:
    """Store random vectors of new memories."""
    random = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        vector = random.standard_normal(4)
        rows += store(model, make_drawer("a text"), (vector / np.linalg.norm(vector)).tolist())
    return rows


def remove(rows: list[Embedding]) -> None:
    with transaction.atomic(), connection.cursor() as cursor:
        remove_rows(cursor, [row.pk for row in rows])


def opened(folder: Path) -> VectorMatrix:
    """Return a matrix as another process would open it."""
    state = read_state()
    assert state is not None
    return VectorMatrix(state, folder)


def refreshed(matrix: VectorMatrix, seconds: float | None = None) -> VectorRows:
    state = read_state(last_known=matrix.last_known)
    assert state is not None
    return matrix.refresh(state, seconds)


def shown(rows: VectorRows) -> list[tuple[int, int, list[float]]]:
    """Return embedding id, memory id and vector of every row that can be found."""
    places = np.flatnonzero(rows.kinds).tolist()
    return [(int(rows.ids[at]), int(rows.memories[at]), np.round(rows.vectors[at], 2).tolist()) for at in places]


def expected() -> list[tuple[int, int, list[float]]]:
    """Return the same of the rows in the database."""
    found = []
    for row in Embedding.objects.filter(model__is_searched=True, kind="d").order_by("pk"):
        vector = np.frombuffer(row.vector, "<f2").astype(np.float32)
        if len(vector) == 4:
            found.append((row.pk, row.memory_id, np.round(vector / np.linalg.norm(vector), 2).tolist()))
    return found


def test_matrix_follows_added_and_removed_rows(model: EmbeddingModel, tmp_path: Path) -> None:
    matrix = opened(tmp_path)
    assert shown(refreshed(matrix)) == expected()
    rows = add(model, 5, seed=2)
    assert shown(refreshed(matrix)) == expected()
    remove(rows[1:4] + list(Embedding.objects.order_by("pk")[:3]))
    assert len(expected()) == 19
    assert shown(refreshed(matrix)) == expected()
    assert shown(refreshed(opened(tmp_path))) == expected()


def test_vectors_have_length_one(model: EmbeddingModel, tmp_path: Path) -> None:
    rows = refreshed(opened(tmp_path))
    assert rows.vectors.dtype == np.float32
    assert np.abs(np.linalg.norm(rows.vectors, axis=1) - 1).max() < 1e-6


def test_nothing_new_costs_one_small_statement(model: EmbeddingModel, tmp_path: Path) -> None:
    matrix = opened(tmp_path)
    first = refreshed(matrix)
    with CaptureQueriesContext(connection) as queries:
        assert refreshed(matrix) is first
    assert len(queries) == 1
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN QUERY PLAN {queries[0]['sql']}")
        plan = [row[3] for row in cursor.fetchall()]
    assert [line for line in plan if line.startswith("SCAN") and "search_embedding " in f"{line} "] == []


def test_added_rows_are_read_alone(model: EmbeddingModel, tmp_path: Path) -> None:
    matrix = opened(tmp_path)
    refreshed(matrix)
    add(model, 2)
    with CaptureQueriesContext(connection) as queries:
        assert len(shown(refreshed(matrix))) == 22
    assert len(queries) == 2


def test_processes_share_what_one_of_them_wrote(model: EmbeddingModel, tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    refreshed(one)
    refreshed(other)
    rows = add(model, 3, seed=2)
    refreshed(one)
    remove(rows[:1])
    add(model, 3, seed=3)
    refreshed(one)
    assert shown(refreshed(other)) == shown(refreshed(one)) == expected()
    [folder] = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert (folder / "keys").stat().st_size == 26 * RECORD.itemsize


def test_row_that_another_process_wrote_and_that_is_gone_is_not_shown(model: EmbeddingModel, tmp_path: Path) -> None:
    one, other = opened(tmp_path), opened(tmp_path)
    refreshed(other)
    rows = add(model, 1, seed=2)
    refreshed(one)
    remove(rows)
    assert shown(refreshed(other)) == expected()


def test_rows_of_other_models_are_not_shown(model: EmbeddingModel, tmp_path: Path) -> None:
    matrix = opened(tmp_path)
    building = make_model("new/1", 4, searched=False)
    add(building, 3)
    assert shown(refreshed(matrix)) == expected()
    assert len(expected()) == 20
    EmbeddingModel.objects.filter(pk=model.pk).update(is_searched=False)
    EmbeddingModel.objects.filter(pk=building.pk).update(is_searched=True)
    assert len(shown(refreshed(opened(tmp_path)))) == 3
    while EmbeddingModel.objects.filter(pk=model.pk).exists():
        remove_some_of_model(model.pk)
    add(make_model("third/1", 4, searched=False), 1)
    assert len(list(tmp_path.glob("*.1"))) == 2  # of the removed model too, until another one begins
    state = read_state(EmbeddingModel.objects.get(name="third/1").pk)
    assert state is not None
    VectorMatrix(state, tmp_path).refresh(state)
    assert len(list(tmp_path.glob("*.1"))) == 2


def cut_keys(folder: Path) -> None:
    with (folder / "keys").open("r+b") as file:
        file.truncate(RECORD.itemsize * 3 + 7)


def cut_vectors(folder: Path) -> None:
    with (folder / "vectors").open("r+b") as file:
        file.truncate(40)


def swap_vectors(folder: Path) -> None:
    content = bytearray((folder / "vectors").read_bytes())
    content[:16], content[16:32] = content[16:32], content[:16]
    (folder / "vectors").write_bytes(content)


def scramble_keys(folder: Path) -> None:
    content = bytearray((folder / "keys").read_bytes())
    content[: RECORD.itemsize * 4] = b"\xff" * RECORD.itemsize * 4
    (folder / "keys").write_bytes(content)


def forget_a_record(folder: Path) -> None:
    content = (folder / "keys").read_bytes()
    (folder / "keys").write_bytes(content[: RECORD.itemsize * 5] + content[RECORD.itemsize * 6 :])


def other_memory(folder: Path) -> None:
    content = bytearray((folder / "keys").read_bytes())
    content[RECORD.itemsize + 8] += 1
    (folder / "keys").write_bytes(content)


def remove_keys(folder: Path) -> None:
    (folder / "keys").unlink()


def remove_vectors(folder: Path) -> None:
    (folder / "vectors").unlink()


def empty_files(folder: Path) -> None:
    (folder / "keys").write_bytes(b"")
    (folder / "vectors").write_bytes(b"")


def fill_with_text(folder: Path) -> None:
    (folder / "keys").write_text("not a file of keys at all " * 50)


DAMAGES = [
    cut_keys,
    cut_vectors,
    swap_vectors,
    scramble_keys,
    forget_a_record,
    other_memory,
    remove_keys,
    remove_vectors,
    empty_files,
    fill_with_text,
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_file_is_made_again(model: EmbeddingModel, tmp_path: Path, damage: Callable[[Path], None]) -> None:
    refreshed(opened(tmp_path))
    [folder] = [path for path in tmp_path.iterdir() if path.is_dir()]
    damage(folder)
    assert shown(refreshed(opened(tmp_path))) == expected()
    add(model, 3, seed=2)
    assert shown(refreshed(opened(tmp_path))) == expected()


@pytest.mark.parametrize("damage", [cut_keys, cut_vectors, remove_keys, remove_vectors, empty_files])
def test_file_that_is_cut_or_removed_during_use_is_made_again(
    model: EmbeddingModel, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    matrix = opened(tmp_path)
    refreshed(matrix)
    [folder] = [path for path in tmp_path.iterdir() if path.is_dir()]
    damage(folder)
    assert shown(refreshed(matrix)) == expected()


def swap_middle(folder: Path) -> None:
    content = bytearray((folder / "vectors").read_bytes())
    content[160:176], content[176:192] = content[176:192], content[160:176]
    (folder / "vectors").write_bytes(content)


def flip_bit(folder: Path) -> None:
    content = bytearray((folder / "vectors").read_bytes())
    content[16 * 11 + 3] ^= 1
    (folder / "vectors").write_bytes(content)


def zeros_of_the_same_size(folder: Path) -> None:
    path = folder / "vectors"
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(0)
        file.truncate(size)


UNSEEN = [swap_middle, flip_bit, zeros_of_the_same_size]


@pytest.fixture
def small_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few rows are compared with the database, and few checksums at each search, as if there were very many."""
    monkeypatch.setattr(module, "_COMPARED", 2)
    monkeypatch.setattr(module, "_COMPARED_LAST", 1)
    monkeypatch.setattr(module, "_VERIFIED", 6)
    monkeypatch.setattr(module, "_UNVERIFIED_SECONDS", 0)


@pytest.mark.usefixtures("small_samples")
@pytest.mark.parametrize("is_open", [False, True])
@pytest.mark.parametrize("damage", UNSEEN)
def test_damage_that_no_sample_shows_is_found_by_checksums(
    model: EmbeddingModel, tmp_path: Path, damage: Callable[[Path], None], is_open: bool
) -> None:
    matrix = opened(tmp_path)
    refreshed(matrix)
    [folder] = [path for path in tmp_path.iterdir() if path.is_dir()]
    damage(folder)
    if not is_open:
        matrix = opened(tmp_path)
    for _ in range(4):
        rows = refreshed(matrix, 9)
    assert shown(rows) == expected()
    [folder] = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert folder.suffix == ".2"
    for _ in range(5):
        refreshed(matrix, 9)
    assert [path for path in tmp_path.iterdir() if path.is_dir()] == [folder]


def test_rows_that_are_cut_off_before_they_are_touched_end_no_process(model: EmbeddingModel, tmp_path: Path) -> None:
    matrix = opened(tmp_path)
    rows = refreshed(matrix)
    [folder] = [path for path in tmp_path.iterdir() if path.is_dir()]
    cut_vectors(folder)
    east = np.array([1, 0, 0, 0], np.float32)
    drawers = {Kind.DRAWER: rows.memories.tolist()}
    for touch in (
        lambda: rows.nearest(east, 3),
        lambda: rows.nearest(east, 3, drawers),
        lambda: rows.nearest(east, 3, {Kind.DRAWER: rows.memories[:2].tolist()}),
        lambda: rows.nearest_of(east, rows.ids.tolist(), 3),
        lambda: rows.similarities(east, [(Kind.DRAWER, id) for id in rows.memories.tolist()]),
    ):
        with pytest.raises(MatrixDamaged, match=r"^its vectors are cut off$"):
            touch()
    assert shown(refreshed(matrix)) == expected()


def test_writing_that_was_killed_is_continued(model: EmbeddingModel, tmp_path: Path) -> None:
    refreshed(opened(tmp_path))
    [folder] = [path for path in tmp_path.iterdir() if path.is_dir()]
    with (folder / "keys").open("ab") as file:
        file.write(b"\x01" * (RECORD.itemsize - 1))  # the vector was written, the record half
    add(model, 2, seed=2)
    assert shown(refreshed(opened(tmp_path))) == expected()
    assert folder.exists()


def test_database_put_back_from_a_copy_is_noticed(model: EmbeddingModel, tmp_path: Path) -> None:
    running, at_start = opened(tmp_path), tmp_path / "start"
    refreshed(running)
    refreshed(opened(at_start))
    last = Embedding.objects.order_by("pk").last()
    assert last is not None
    east = np.array([1, 0, 0, 0], "<f2").tobytes()
    Embedding.objects.filter(pk=last.pk).update(text_hash=b"another text ...", vector=east)
    assert shown(refreshed(running)) == expected()
    assert shown(refreshed(opened(at_start))) == expected()
    Embedding.objects.filter(pk=last.pk).delete()  # as a copy that is older by one row; `removals` does not tell
    assert shown(refreshed(running)) == expected()
    assert shown(refreshed(opened(at_start))) == expected()


def test_rows_that_are_not_ours_are_named_and_not_shown(model: EmbeddingModel, tmp_path: Path) -> None:
    matrix = opened(tmp_path)
    refreshed(matrix)
    drawers = [make_drawer("a text") for _ in range(6)]
    foreign = store(model, drawers[0], [1, 0]) + store(model, drawers[1], [3, 0, 0, 0])
    foreign += store(model, drawers[2], [np.nan, 0, 0, 0]) + store(model, drawers[3], [0, 0, 0, 0])
    foreign += store(model, drawers[4], [1, 0, 0, 0])
    Embedding.objects.filter(pk=foreign[-1].pk).update(kind="?")
    store(model, drawers[5], [])  # nothing to embed
    before = shown(refreshed(matrix))
    assert len(before) == 20
    assert matrix.foreign == [row.pk for row in foreign]
    assert replace_foreign_rows(matrix.foreign) == 5
    assert shown(refreshed(matrix)) == before == expected()
    assert matrix.foreign == []


@pytest.mark.parametrize("value", ["text", 77, 1.5])
@pytest.mark.parametrize("column", ["vector", "text_hash", "kind", "memory_id", "chunk"])
def test_values_of_any_type_do_no_harm(model: EmbeddingModel, tmp_path: Path, column: str, value: object) -> None:
    rows = store(model, make_drawer("a text"), [1, 0, 0, 0])
    with connection.cursor() as cursor:
        cursor.execute(f"UPDATE search_embedding SET {column} = %s WHERE id = %s", [value, rows[0].pk])
    matrix = opened(tmp_path)
    assert len(shown(refreshed(matrix))) == 21 - len(matrix.foreign)
    assert matrix.foreign in ([], [rows[0].pk])
    assert len(shown(refreshed(matrix))) == 21 - len(matrix.foreign)
    assert len(shown(refreshed(opened(tmp_path)))) == 21 - len(matrix.foreign)
    [folder] = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert folder.suffix == ".1"


def test_file_with_much_that_was_removed_is_written_anew(
    model: EmbeddingModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LEAST_REMOVED", 5)
    monkeypatch.setattr(module, "BATCH", 4)
    matrix, other = opened(tmp_path), opened(tmp_path)
    before = refreshed(matrix)
    refreshed(other)
    old = shown(before)
    remove(list(Embedding.objects.order_by("pk")[3:14]))
    assert shown(refreshed(matrix)) == expected()
    assert matrix.last_known == old[-1][0]
    [folder] = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert folder.suffix == ".2"
    assert (folder / "keys").stat().st_size == 9 * RECORD.itemsize
    assert shown(before) == old  # a search that runs meanwhile goes on with what it has
    add(model, 2, seed=2)
    assert shown(refreshed(other)) == shown(refreshed(matrix)) == expected()


def test_search_reads_for_a_limited_time_and_says_so(
    model: EmbeddingModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH", 4)
    monkeypatch.setattr(module, "_SLICE_SECONDS", 0)
    matrix = opened(tmp_path)
    sizes = [len(shown(refreshed(matrix, 0)))]
    assert matrix.problem == "the stored vectors are still being read, so some are not found yet"
    while matrix.problem:
        sizes.append(len(shown(refreshed(matrix, 0))))
    assert sizes == [4, 8, 12, 16, 20, 20]
    assert shown(refreshed(opened(tmp_path), None)) == expected()


def test_search_does_not_wait_for_long_writing(
    model: EmbeddingModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_SLICE_SECONDS", 0.01)
    matrix = opened(tmp_path)
    with hold_lock(tmp_path):
        assert shown(refreshed(matrix, 0)) == []
        assert matrix.problem is not None
    assert shown(refreshed(matrix)) == expected()
    assert matrix.problem is None


def test_full_disk_is_said_and_what_is_known_is_searched(
    model: EmbeddingModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    matrix = opened(tmp_path)
    before = refreshed(matrix)

    def append(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    add(model, 2)
    with monkeypatch.context() as context:
        context.setattr(MatrixFile, "append", append)
        assert shown(refreshed(matrix)) == shown(before)
    assert matrix.problem == f"the vectors cannot be kept in {tmp_path} (No space left on device)"
    assert shown(refreshed(matrix)) == expected()
    assert matrix.problem is None


def test_folder_that_cannot_be_made_is_said(model: EmbeddingModel, tmp_path: Path) -> None:
    (tmp_path / "vectors").write_text("a file")
    matrix = opened(tmp_path / "vectors")
    assert shown(refreshed(matrix)) == []
    assert matrix.problem == f"the vectors cannot be kept in {tmp_path / 'vectors'} (File exists)"


@pytest.mark.django_db(transaction=True)
def test_threads_share_one_matrix(tmp_path: Path) -> None:
    model = make_model(dimension=4)
    add(model, 20)
    matrix = opened(tmp_path)
    wrong: list[object] = []

    def search() -> None:
        try:
            for _ in range(20):
                rows = refreshed(matrix)
                found = rows.nearest(np.array([1, 0, 0, 0], np.float32), 5)
                if len(found) != 5 or len(rows.ids) < 20:
                    wrong.append(found)
        except Exception as error:
            wrong.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=search) for _ in range(6)]
    for thread in threads:
        thread.start()
    for seed in range(5):
        remove(add(model, 3, seed)[:1])
    for thread in threads:
        thread.join()
    assert wrong == []
    assert shown(refreshed(matrix)) == expected()
