"""`memweb index` and `memweb doctor` on the vector index, without a memweb that runs."""

import json
import os
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from search.vectors import upkeep
from search.vectors.index_problems import IndexUnavailable
from search.vectors.index_state import Action, IndexState, Phase, leave_request, pending_request, write_state
from search.vectors.ownership import own_index
from tests.management.memweb_process import COMMAND
from tests.search.vectors.data_folder import ROWS, DataFolder, copy_of, unreached, wait_until_equal
from tests.search.vectors.test_damage import missing_metadata
from tests.search.vectors.test_index_folder import copy_writable


def run(*arguments: str) -> tuple[int, str, str]:
    """Run memweb in the environment of the test's data folder; return exit code, output, errors."""
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, check=False, timeout=120)  # noqa: S603
    return done.returncode, done.stdout, done.stderr


def vectors_of(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    assert list(found) == ["vectors"]
    answer: dict[str, Any] = found["vectors"]
    return answer


def counts(text: str) -> list[int | None]:
    found = vectors_of(text)
    return [found[name] for name in ("vectors", "in_chroma", "missing", "ghosts")]


def test_counts_are_zero_only_when_true(folder: DataFolder) -> None:
    status = ("index", "status", "--only", "vectors", "--json")
    vectors = folder.store(50)
    assert counts(run(*status)[1]) == [50, 0, 50, 0]
    assert run("index", "rebuild", "--only", "vectors") == (0, "vectors                    50 indexed\n", "")
    assert counts(run(*status)[1]) == [50, 50, 0, 0]
    folder.store(3)
    assert counts(run(*status)[1]) == [53, 50, 3, 0]
    folder.remove(list(vectors)[:10])
    assert counts(run(*status)[1]) == [43, 50, 3, 10]
    assert run("index", "check", "--only", "vectors") == (
        0,
        "vectors            43 checked, 0 not found, 0 stale\n",
        "",
    )
    assert counts(run(*status)[1]) == [43, 43, 0, 0]
    shutil.rmtree(folder.chroma)
    assert counts(run(*status)[1]) == [43, 0, 43, 0]


def test_index_that_lost_its_way_is_told_and_made_anew(
    sound: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy_of(sound, tmp_path / "data", monkeypatch)
    missing_metadata(folder.chroma)
    code, text, error = run("index", "check", "--only", "vectors", "--json")
    assert code == 1
    assert error.startswith("memweb: the vector index was damaged and has been made anew: ")
    found = vectors_of(text)
    assert (found["checked"], found["stale"], found["unreachable"]) == (ROWS, 0, 0)
    [aside] = folder.set_aside
    assert str(aside) in found["damage"]
    assert run("index", "check", "--only", "vectors")[0] == 0


def test_rebuild_needs_nothing_of_the_old_index(folder: DataFolder, shared: Path) -> None:
    folder.store(30)
    copy_writable(shared / "cases/files/D01_palace_bad_neighbour_ids/palace", folder.chroma)
    assert vectors_of(run("index", "rebuild", "--only", "vectors", "--json")[1]) == {"indexed": 30, "asked": None}
    assert folder.set_aside == []
    with folder.process() as process:
        wait_until_equal(process, folder)
        assert unreached(process, folder.vectors()) == []


def test_optimize_gives_space_back(sound: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = copy_of(sound, tmp_path / "data", monkeypatch)
    folder.remove(list(folder.vectors())[: ROWS - 100])
    run("index", "check", "--only", "vectors")
    before = (folder.chroma / "chroma.sqlite3").stat().st_size
    assert run("index", "optimize", "--only", "vectors") == (0, "The vector index is compact.\n", "")
    assert (folder.chroma / "chroma.sqlite3").stat().st_size < before
    assert counts(run("index", "status", "--only", "vectors", "--json")[1]) == [100, 100, 0, 0]


@pytest.mark.parametrize("action", ["check", "rebuild", "optimize"])
def test_nothing_embedded_is_nothing_to_do(folder: DataFolder, action: str) -> None:
    folder.execute("DELETE FROM search_embeddingmodel")
    code, _, error = run("index", action, "--only", "vectors")
    assert (code, error, folder.chroma.exists()) == (0, "", False)
    code, text, _ = run("index", "status", "--only", "vectors")
    assert code == 0
    assert text.splitlines()[:2] == [
        "vectors: memories                     0",
        "vectors: embedded                     0  no model has embedded anything yet",
    ]


def test_index_that_is_held_is_left_to_its_owner(folder: DataFolder) -> None:
    folder.store(30)
    with folder.process("a test") as process:
        wait_until_equal(process, folder)
        code, text, error = run("index", "rebuild", "--only", "vectors", "--json")
        assert (code, error) == (0, "")
        assert vectors_of(text) == {"indexed": None, "asked": f"process {process.state.process_id} (a test)"}
        wait_until_equal(process, folder)


def test_check_ends_when_its_owner_does(folder: DataFolder, monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    settings.DATA_DIR = folder.path
    monkeypatch.setattr(upkeep, "PATIENCE_WITHOUT_OWNER", 0.5)
    with own_index(folder.path, "a test"), pytest.raises(IndexUnavailable) as problem:
        write_state(folder.path, IndexState(Phase.READY, held=3, missing=0, ghosts=0))
        threading.Timer(0.5, (folder.path / "chroma.lock").unlink).start()  # as if its process were gone
        upkeep.ask_owner(Action.CHECK, "a test", lambda name, done, total: None, waits=True)
    owner = f"process {os.getpid()} (a test)"
    assert str(problem.value) == f"{owner}, which held the index, has ended meanwhile; run the command again"
    assert pending_request(folder.path) is None


def test_folder_that_cannot_be_used_ends_the_command_with_the_reason(folder: DataFolder) -> None:
    folder.store(3)
    note = folder.path / "chroma.damage"
    note.mkdir()
    code, _, error = run("index", "check", "--only", "vectors")
    assert code == 1
    assert error == f"memweb: check of the vector index failed: {note} cannot be written (Is a directory)\n"
    assert pending_request(folder.path) is None


@pytest.mark.parametrize("name", ["chroma", "chroma.removed"])
@pytest.mark.parametrize("is_link", [False, True])
def test_file_or_link_in_the_place_of_the_folder_hinders_no_command(
    folder: DataFolder, name: str, is_link: bool
) -> None:
    folder.store(3)
    if is_link:
        (folder.path / name).symlink_to(folder.path)
    else:
        (folder.path / name).write_text("not a folder")
    assert run("index", "rebuild", "--only", "vectors") == (0, "vectors                     3 indexed\n", "")
    _, text, error = run("doctor", "--json")
    states = [one["state"] for one in json.loads(text)["findings"] if one["subject"] == "vector index"]
    assert (error, states[0]) == ("", "3 of 3 vectors in the data folder")
    assert len(states) == (2 if name == "chroma" else 1)


def test_doctor_tells_of_what_was_set_aside(folder: DataFolder, shared: Path) -> None:
    folder.store(30)
    copy_writable(shared / "cases/files/D05_palace_config_empty/palace", folder.chroma)
    code, text, _ = run("doctor", "--deep", "--json")
    findings = [one["state"] for one in json.loads(text)["findings"] if one["subject"] == "vector index"]
    [aside] = folder.set_aside
    assert code == 1
    assert findings == [
        "not counted yet, 30 vectors stored",
        f"was damaged, and was made anew just now: it belongs to another program: collection mempalace_drawers;"
        f" kept in {aside}",
    ]
    code, text, _ = run("doctor", "--json")
    findings = [one["state"] for one in json.loads(text)["findings"] if one["subject"] == "vector index"]
    assert findings == [
        "30 of 30 vectors in the data folder",
        f"was set aside: it belongs to another program: collection mempalace_drawers; {aside} (0 MB) may be removed",
    ]


def test_request_that_was_left_is_carried_out_at_the_next_start(folder: DataFolder) -> None:
    folder.store(30)
    with folder.process() as process:
        wait_until_equal(process, folder)
    (folder.chroma / "stray").touch()
    leave_request(folder.path, Action.REBUILD)
    leave_request(folder.path, Action.CHECK)
    assert pending_request(folder.path) is Action.REBUILD
    with folder.process() as process:
        wait_until_equal(process, folder)
    assert not (folder.chroma / "stray").exists()


def test_commands_that_only_search_never_import_chroma(folder: DataFolder) -> None:
    loads = (
        "import sys, django; django.setup(); import search.vectors.upkeep, search.vectors.chroma_client, search.views"
    )
    asked = f"{loads}; print([name for name in sys.modules if name.startswith('chromadb')])"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)  # noqa: S603
    assert done.stdout == "[]\n"
    root = Path(COMMAND[-1]).parent
    files = [path for folder in ("search", "memweb") for path in (root / folder).rglob("*.py")]
    users = [path.name for path in files if re.search(r"^\s*(import|from) chromadb", path.read_text(), re.MULTILINE)]
    assert users == ["chroma_process.py"]
