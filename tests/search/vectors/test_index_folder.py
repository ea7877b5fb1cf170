"""Chroma's folder before it is opened: what is foreign or damaged is renamed and kept, never opened."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from search.vectors.index_folder import MOST_OPENINGS, MOST_SET_ASIDE, IndexFolder, set_aside_folders
from search.vectors.index_problems import IndexUnavailable, folder_problem

PALACES = [
    "D01_palace_bad_neighbour_ids",
    "D01_palace_missing_index_metadata",
    "D01_palace_scrambled_bins",
    "D01_palace_truncated_level0",
    "D05_palace_config_empty",
    "D05_palace_config_with_type",
]


def copy_writable(source: Path, target: Path) -> None:
    """Copy a folder as its owner would have made it: with files that can be written."""
    shutil.copytree(source, target)
    for path in (target, *target.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def database(folder: Path, *statements: str) -> None:
    folder.mkdir()
    with closing(sqlite3.connect(folder / "chroma.sqlite3")) as connection, connection:
        for statement in statements:
            connection.execute(statement)


@pytest.mark.parametrize("name", PALACES)
def test_palace_is_set_aside_as_it_was(shared: Path, tmp_path: Path, name: str) -> None:
    copy_writable(shared / "cases/files" / name / "palace", tmp_path / "chroma")
    before = content(tmp_path / "chroma")
    aside = IndexFolder(tmp_path).make_ready()
    assert aside is not None
    assert aside.reason == "it belongs to another program: collection mempalace_drawers"
    after = content(aside.path)
    assert after.pop("why-set-aside.txt").decode().strip() == aside.reason
    assert after == before
    assert list((tmp_path / "chroma").iterdir()) == []
    assert set_aside_folders(tmp_path) == [aside]


def zeros(folder: Path) -> None:
    folder.mkdir()
    (folder / "chroma.sqlite3").write_bytes(bytes(8192))


def no_database(folder: Path) -> None:
    folder.mkdir()
    (folder / "chroma-embeddings.parquet").write_bytes(b"PAR1")


def other_format(folder: Path) -> None:
    database(folder, "CREATE TABLE embeddings_of_old (id)")


def cut_database(folder: Path) -> None:
    database(folder, "CREATE TABLE collections (name)", *(["INSERT INTO collections VALUES (randomblob(4000))"] * 9))
    path = folder / "chroma.sqlite3"
    path.write_bytes(path.read_bytes()[:5000])


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (zeros, "chroma.sqlite3 is damaged: file is not a database"),
        (no_database, "it holds files that are not Chroma's"),
        (other_format, "its format is older or newer than this version's, or writing was interrupted"),
        (cut_database, "chroma.sqlite3 is damaged: database disk image is malformed"),
    ],
)
def test_folder_that_is_no_index_is_set_aside_with_the_reason(
    tmp_path: Path, make: Callable[[Path], None], reason: str
) -> None:
    make(tmp_path / "chroma")
    aside = IndexFolder(tmp_path).make_ready()
    assert aside is not None
    assert aside.reason == reason
    assert "not found" not in reason
    assert (tmp_path / "chroma").is_dir()


def test_our_own_index_and_an_empty_folder_are_left_alone(tmp_path: Path) -> None:
    folder = IndexFolder(tmp_path)
    assert folder.make_ready() is None
    assert folder.make_ready() is None
    folder.remove()
    database(folder.path, "CREATE TABLE collections (name)", "INSERT INTO collections VALUES ('memweb-0')")
    before = content(folder.path)
    assert folder.make_ready() is None
    assert content(folder.path) == before


def test_half_written_transaction_of_a_killed_process_is_no_damage(tmp_path: Path) -> None:
    folder = IndexFolder(tmp_path)
    database(folder.path, "CREATE TABLE collections (name)", "INSERT INTO collections VALUES ('memweb-0')")
    path = folder.path / "chroma.sqlite3"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("PRAGMA cache_spill = 1")
        connection.execute("BEGIN")
        for _ in range(200):
            connection.execute("INSERT INTO collections VALUES ('mempalace' || hex(randomblob(2000)))")
        torn = {name: (folder.path / name).read_bytes() for name in ("chroma.sqlite3", "chroma.sqlite3-journal")}
        connection.rollback()
    for name, data in torn.items():
        (folder.path / name).write_bytes(data)
    assert folder.make_ready() is None
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM collections").fetchall() == [("memweb-0",)]


CRASH = (
    "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call first):\n  File {!r}, line 1\n"
)


def test_folder_whose_user_crashed_is_not_opened_again(tmp_path: Path) -> None:
    folder = IndexFolder(tmp_path)
    folder.make_ready()
    folder.note_damage(CRASH.format("/chromadb/api/rust.py"))
    aside = folder.make_ready()
    assert aside is not None
    assert aside.reason == "native code crashed: Segmentation fault"
    assert folder.make_ready() is None


@pytest.mark.parametrize("module", ["onnxruntime/capi/inference.py", "search/vectors/embedders/bge_small.py"])
def test_crash_while_embedding_is_not_the_fault_of_the_index(tmp_path: Path, module: str) -> None:
    folder = IndexFolder(tmp_path)
    folder.make_ready()
    folder.note_damage(CRASH.format(f"/somewhere/{module}"))
    assert folder.make_ready() is None
    assert set_aside_folders(tmp_path) == []


def test_folder_that_ends_whoever_opens_it_is_set_aside(tmp_path: Path) -> None:
    folder = IndexFolder(tmp_path)
    for _ in range(MOST_OPENINGS):
        assert folder.make_ready() is None
        folder.note_opening()
    aside = folder.make_ready()
    assert aside is not None
    assert aside.reason == "the process ended 3 times while it opened the index"
    folder.note_opening()
    folder.note_opened()
    assert folder.make_ready() is None


def test_index_that_is_damaged_again_and_again_is_given_up_until_asked_for(tmp_path: Path) -> None:
    folder = IndexFolder(tmp_path)
    for _ in range(MOST_SET_ASIDE):
        folder.make_ready()
        folder.note_damage("some reason")
    folder.make_ready()
    folder.note_damage("some reason")
    with pytest.raises(IndexUnavailable, match=r"damaged 5 times within an hour \(some reason\); .*index rebuild"):
        folder.make_ready()
    folder.remove()
    assert folder.make_ready() is None
    assert len(set_aside_folders(tmp_path)) == MOST_SET_ASIDE


def make_file(path: Path) -> None:
    path.write_text("not a folder")


def make_link_to_folder(path: Path) -> None:
    (path.parent / "elsewhere").mkdir(exist_ok=True)
    (path.parent / "elsewhere/kept").touch()
    path.symlink_to("elsewhere")


def make_broken_link(path: Path) -> None:
    path.symlink_to("nowhere")


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


NO_FOLDERS = {
    make_file: "it is a file, not a folder",
    make_pipe: "it is a file, not a folder",
    make_link_to_folder: "it is a link, and Chroma's folder must be one itself",
    make_broken_link: "it is a link, and Chroma's folder must be one itself",
}


@pytest.mark.parametrize("make", NO_FOLDERS)
@pytest.mark.parametrize("is_rebuild", [False, True])
def test_what_is_no_folder_is_set_aside(tmp_path: Path, make: Callable[[Path], None], is_rebuild: bool) -> None:
    make(tmp_path / "chroma")
    folder = IndexFolder(tmp_path)
    if is_rebuild:
        folder.remove()
    aside = folder.make_ready()
    assert aside is not None
    assert aside.reason == NO_FOLDERS[make]
    assert set_aside_folders(tmp_path) == [aside]
    assert folder.path.is_dir() and not folder.path.is_symlink()
    assert folder.make_ready() is None
    kept = tmp_path / "elsewhere"
    assert not kept.exists() or [path.name for path in kept.iterdir()] == ["kept"]


@pytest.mark.parametrize("make", [make_file, make_link_to_folder, make_broken_link, zeros])
def test_removing_is_not_hindered_by_what_is_in_its_way(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "chroma.removed")
    folder = IndexFolder(tmp_path)
    folder.make_ready()
    (folder.path / "file").touch()
    folder.remove()
    assert {path.name for path in tmp_path.iterdir()} <= {"elsewhere"}
    assert not (tmp_path / "elsewhere").exists() or (tmp_path / "elsewhere/kept").exists()


def test_reason_is_not_written_through_a_link(tmp_path: Path) -> None:
    no_database(tmp_path / "chroma")
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "chroma/why-set-aside.txt").symlink_to("../precious")
    aside = IndexFolder(tmp_path).make_ready()
    assert aside is not None
    assert set_aside_folders(tmp_path) == [aside]
    assert (tmp_path / "precious").read_text() == "precious"


@pytest.mark.parametrize("make", [make_broken_link, make_pipe, lambda path: path.symlink_to("../secret_key"), zeros])
def test_reason_is_not_read_from_what_is_no_file(tmp_path: Path, make: Callable[[Path], None]) -> None:
    (tmp_path / "secret_key").write_text("secret")
    (tmp_path / "chroma.damaged-1").mkdir()
    make(tmp_path / "chroma.damaged-1/why-set-aside.txt")
    assert [one.reason for one in set_aside_folders(tmp_path)] == ["reason unknown"]


def test_what_the_library_said_is_kept_beside_the_reason(tmp_path: Path) -> None:
    folder = IndexFolder(tmp_path)
    folder.make_ready()
    folder.note_damage("Chroma cannot read it", "Error executing plan: Internal error: backfill")
    aside = folder.make_ready()
    assert aside is not None
    assert aside.reason == "Chroma cannot read it"
    assert set_aside_folders(tmp_path) == [aside]
    said = (aside.path / "why-set-aside.txt").read_text()
    assert said == "Chroma cannot read it\nError executing plan: Internal error: backfill\n"


def test_reason_that_is_no_text_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "chroma.damaged-1").mkdir()
    (tmp_path / "chroma.damaged-1/why-set-aside.txt").write_bytes(b"\xff\xfe because " + b"x" * 10**6)
    [aside] = set_aside_folders(tmp_path)
    assert (aside.reason[:11], len(aside.reason)) == ("\ufffd\ufffd because ", 1000)


def test_removing_leaves_what_was_set_aside(tmp_path: Path) -> None:
    folder = IndexFolder(tmp_path)
    zeros(folder.path)
    folder.make_ready()
    (folder.path / "file").touch()
    folder.remove()
    folder.remove()
    assert [path.name[:15] for path in tmp_path.iterdir()] == ["chroma.damaged-"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        ("database or disk is full", "is full; free some space"),
        ("error returned from database: (code: 13) database or disk is full", "is full; free some space"),
        ("No space left on device (os error 28)", "is full; free some space"),
        ("attempt to write a readonly database", "cannot be written; correct its owner and mode"),
        ("Permission denied (os error 13)", "cannot be written; correct its owner and mode"),
        ("Read-only file system (os error 30)", "cannot be written; correct its owner and mode"),
        ("unable to open database file", "cannot be written; correct its owner and mode"),
    ],
)
def test_what_the_disk_says_is_no_damage(tmp_path: Path, error: str, words: str) -> None:
    assert (folder_problem(tmp_path, OSError(error)) or "").endswith(words)


def test_other_errors_are_not_the_disk(tmp_path: Path) -> None:
    assert folder_problem(tmp_path, ValueError("index out of range")) is None
    assert folder_problem(tmp_path / "not" / "there") is None


AS_NOBODY = """
import os, sys
from pathlib import Path
from search.vectors.index_folder import IndexFolder
from search.vectors.index_problems import IndexUnavailable
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)  # root may write everywhere
try:
    print(IndexFolder(Path(sys.argv[1])).make_ready())
except IndexUnavailable as problem:
    print(problem)
"""


@pytest.mark.parametrize("mode", [0o500, 0o000])
@pytest.mark.parametrize("has_index", [False, True])
def test_folder_that_is_closed_is_told_and_left_alone(mode: int, has_index: bool) -> None:
    # Not in pytest's folder, which nobody but its owner may enter.
    with tempfile.TemporaryDirectory() as name:
        data = Path(name)
        data.chmod(0o777)
        folder = IndexFolder(data)
        database(folder.path, "CREATE TABLE collections (name)", "INSERT INTO collections VALUES ('memweb-0')")
        if not has_index:
            (folder.path / "chroma.sqlite3").unlink()
        for path in folder.path.iterdir():
            path.chmod(0o444)
            if os.geteuid() == 0:
                os.chown(path, 65534, 65534)
        if os.geteuid() == 0:
            os.chown(folder.path, 65534, 65534)
        folder.path.chmod(mode)
        done = subprocess.run(  # noqa: S603
            [sys.executable, "-c", AS_NOBODY, name], capture_output=True, text=True, check=False
        )
        folder.path.chmod(0o700)
        assert done.stderr == ""
        assert done.stdout.startswith(f"{folder.path}")
        assert "cannot be" in done.stdout
        assert set_aside_folders(data) == []
