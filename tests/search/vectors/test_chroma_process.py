"""The vector process as its parent meets it: it follows the rows, answers, dies, and comes back."""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path

import pytest

from search.vectors import chroma_client
from search.vectors.index_state import Action, Phase, leave_request
from search.vectors.nearest import BroadIndexUnavailable
from tests.search.vectors.data_folder import DataFolder, copy_of, unreached, wait_for, wait_until_equal


def test_rows_are_found_by_their_vectors_and_follow_additions_and_removals(folder: DataFolder) -> None:
    vectors = folder.store(300)
    with folder.process() as process:
        state = wait_until_equal(process, folder)
        assert (state.held, state.missing, state.ghosts) == (300, 0, 0)
        assert unreached(process, vectors) == []
        new = folder.store(5)
        started = time.monotonic()
        wait_until_equal(process, folder)
        assert unreached(process, new) == []
        gone = list(vectors)[:120]
        folder.remove(gone)
        state = wait_for(process, lambda state: state.held == 185)
        assert time.monotonic() - started < 10
        answered = {id for id, _ in process.nearest(vectors[gone[0]], 185)}
        assert answered == {*vectors, *new}.difference(gone)


def test_files_of_the_current_folder_are_not_run(
    folder: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("numpy.py", "chromadb.py", "search.py"):
        (here / name).write_text("raise SystemExit(1)")
    vectors = folder.store(5)
    monkeypatch.chdir(here)
    with folder.process() as process:
        wait_until_equal(process, folder)
        assert unreached(process, vectors) == []


def test_process_that_is_killed_comes_back_by_itself(folder: DataFolder) -> None:
    vectors = folder.store(50)
    with folder.process() as process:
        wait_until_equal(process, folder)
        first = process.process_id
        assert first is not None
        os.kill(first, signal.SIGKILL)
        wait_for(process, lambda state: state.phase is Phase.UNAVAILABLE, 5)
        with pytest.raises(BroadIndexUnavailable, match=r"^the vector process ended \(SIGKILL\); it is started again$"):
            process.nearest(vectors[1], 3)
        wait_until_equal(process, folder)
        assert unreached(process, vectors) == []
        assert process.process_id != first
        assert folder.set_aside == []


def test_process_that_does_not_answer_is_replaced(folder: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma_client, "QUERY_SECONDS", 0.3)
    vectors = folder.store(30)
    with folder.process() as process:
        wait_until_equal(process, folder)
        stuck = process.process_id
        assert stuck is not None
        os.kill(stuck, signal.SIGSTOP)
        for _ in range(3):
            started = time.monotonic()
            with pytest.raises(BroadIndexUnavailable, match=r"^the vector index did not answer within 0\.3 s$"):
                process.nearest(vectors[1], 3)
            assert time.monotonic() - started < 3
        wait_for(process, lambda state: process.process_id not in (stuck, None) and state.phase is Phase.READY)
        assert unreached(process, vectors) == []


def test_question_that_meets_the_end_of_the_process_is_told_at_once(folder: DataFolder) -> None:
    vectors = folder.store(30)
    with folder.process() as process:
        wait_until_equal(process, folder)
        victim = process.process_id
        assert victim is not None
        os.kill(victim, signal.SIGSTOP)
        threading.Timer(0.3, os.kill, (victim, signal.SIGKILL)).start()
        started = time.monotonic()
        with pytest.raises(BroadIndexUnavailable, match=r"^the vector process ended"):
            process.nearest(vectors[1], 3)
        assert time.monotonic() - started < 1.4


def test_many_questions_at_once_are_answered(folder: DataFolder) -> None:
    vectors = folder.store(200)
    with folder.process() as process, ThreadPoolExecutor(8) as pool:
        wait_until_equal(process, folder)
        found = list(pool.map(lambda vector: process.nearest(vector, 1), list(vectors.values()) * 2))
        assert [answer[0][0] for answer in found] == list(vectors) * 2


def test_any_limit_is_answered(folder: DataFolder) -> None:
    folder.store(30)
    vectors = folder.vectors()
    exact = {id: 1 - float(vector @ vectors[7]) for id, vector in vectors.items()}
    with folder.process() as process:
        wait_until_equal(process, folder)
        for limit in (0, 1, 29, 30, 31, 20_000):
            found = process.nearest(vectors[7], limit)
            assert [id for id, _ in found] == sorted(vectors, key=exact.__getitem__)[:limit]
            assert all(abs(distance - exact[id]) < 0.002 for id, distance in found)


def test_batches_past_the_limit_of_chroma_are_split(folder: DataFolder) -> None:
    vectors = folder.store(6_000)
    with folder.process() as process:
        wait_until_equal(process, folder, 120)
        folder.remove(list(vectors)[:5_900])
        state = wait_for(process, lambda state: state.held == 100 and not state.ghosts)
        assert (state.missing, state.phase) == (0, Phase.READY)


def test_other_model_gets_an_index_of_its_own(folder: DataFolder) -> None:
    folder.store(30)
    with folder.process() as process:
        first = wait_until_equal(process, folder).collection
        folder.dimension = 24
        other = folder.make_model("other/1")
        vectors = folder.store(20, other)
        state = wait_for(process, lambda state: state.model == "other/1" and state.held == 20)
        assert state.collection != first
        wait_until_equal(process, folder)
        assert unreached(process, vectors) == []
    with closing(sqlite3.connect(folder.chroma / "chroma.sqlite3")) as connection:
        assert connection.execute("SELECT name FROM collections").fetchall() == [(state.collection,)]


def test_database_that_was_replaced_by_a_backup_is_noticed(folder: DataFolder) -> None:
    folder.store(50)
    backup = (folder.path / "memweb.sqlite3").read_bytes()
    folder.store(30)
    with folder.process() as process:
        wait_until_equal(process, folder)
    for path in folder.path.glob("memweb.sqlite3*"):
        path.unlink()
    (folder.path / "memweb.sqlite3").write_bytes(backup)
    folder.store(30)  # other vectors, the same ids
    with folder.process() as process:
        wait_until_equal(process, folder)
        assert unreached(process, folder.vectors()) == []


def remove_folder(chroma: Path) -> None:
    shutil.rmtree(chroma)


def remove_database(chroma: Path) -> None:
    (chroma / "chroma.sqlite3").unlink()


def replace_by_copy(chroma: Path) -> None:
    chroma.rename(chroma.with_name("old"))
    shutil.copytree(chroma.with_name("old"), chroma)


def put_file_in_place(chroma: Path) -> None:
    shutil.rmtree(chroma)
    chroma.write_text("not a folder")


@pytest.mark.parametrize("lose", [remove_folder, remove_database, replace_by_copy, put_file_in_place])
def test_folder_that_is_lost_during_use_is_noticed_and_made_anew(
    folder: DataFolder, lose: Callable[[Path], None]
) -> None:
    vectors = folder.store(30)
    with folder.process() as process:
        before = wait_until_equal(process, folder)
        lose(folder.chroma)
        wait_for(process, lambda state: state.process_id != before.process_id and state.phase is Phase.READY)
        vectors |= folder.store(5)
        wait_until_equal(process, folder)
        assert unreached(process, vectors) == []
    with closing(sqlite3.connect(folder.chroma / "chroma.sqlite3")) as connection:
        assert connection.execute("SELECT count(*) FROM embeddings").fetchone() == (35,)


@pytest.mark.parametrize("seed", range(2))
def test_kills_at_any_moment_end_in_the_same_state(
    sound: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(chroma_client, "SHORTEST_PAUSE", 0.05)
    choose = random.Random(seed)  # noqa: S311 - no secret
    folder = copy_of(sound, tmp_path / "data", monkeypatch)
    with folder.process() as process:
        for number in range(5):
            wait_for(process, lambda state: state.held is not None and process.process_id is not None)
            if number % 2:
                leave_request(folder.path, Action.REBUILD)
            time.sleep(choose.uniform(0, 0.8))
            if (victim := process.process_id) is not None:
                os.kill(victim, signal.SIGKILL)
            folder.store(choose.randrange(50, 300))
            folder.remove(choose.sample(list(folder.vectors()), 40))
        wait_until_equal(process, folder, 120)
        vectors = folder.vectors()
        some = {id: vectors[id] for id in list(vectors)[::40]}
        assert unreached(process, some) == []


PARENT = """
import sys, time
from pathlib import Path
import django
django.setup()
from search.vectors.chroma_client import VectorProcess
process = VectorProcess(Path(sys.argv[1]), "a test", embeds=False)
process.start()
while process.process_id is None or process.state.phase != sys.argv[2]:
    process.wait(0.05)
print(process.process_id, flush=True)
time.sleep(60)
"""


@pytest.mark.parametrize("phase", ["starting", "ready"])
def test_process_ends_with_its_parent_that_is_killed(folder: DataFolder, phase: str) -> None:
    folder.store(30)
    parent = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", PARENT, str(folder.path), phase], stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    with parent, parent.stdout:
        child = Path("/proc") / parent.stdout.readline().strip()
        parent.kill()
        parent.wait()
        end = time.monotonic() + 10
        while child.exists() and ") Z " not in (child / "stat").read_text(encoding="ascii"):
            assert time.monotonic() < end
            time.sleep(0.02)


def test_folder_that_cannot_be_readied_is_told_and_used_as_soon_as_it_can(folder: DataFolder) -> None:
    vectors = folder.store(30)
    note = folder.path / "chroma.damage"
    note.mkdir()
    with folder.process() as process:
        state = wait_for(process, lambda state: state.phase is Phase.UNAVAILABLE)
        assert state.problem == f"{note} cannot be written (Is a directory)"
        with pytest.raises(BroadIndexUnavailable, match="cannot be written"):
            process.nearest(vectors[1], 3)
        note.rmdir()
        wait_until_equal(process, folder)
        assert unreached(process, vectors) == []


@pytest.mark.parametrize("is_link", [False, True])
def test_what_is_no_folder_is_set_aside_and_told(folder: DataFolder, is_link: bool) -> None:
    vectors = folder.store(30)
    (folder.path / "elsewhere").mkdir()
    if is_link:
        folder.chroma.symlink_to("elsewhere")
    else:
        folder.chroma.write_text("not a folder")
    with folder.process() as process:
        wait_until_equal(process, folder)
        assert unreached(process, vectors) == []
        [aside] = folder.set_aside
        reason = "it is a link, and Chroma's folder must be one itself" if is_link else "it is a file, not a folder"
        assert process.state.set_aside == f"{reason}; kept in {aside}"


WATCH = """
import os, sys
if "search.vectors.chroma_process" in " ".join(sys.orig_argv):
    log = open(os.environ["SOCKET_LOG"], "a", buffering=1)
    def note(event, values):
        if event.startswith(("socket.", "urllib", "http.client")) and event != "socket.__new__":
            log.write(f"{event} {values[1:]}\\n")
    sys.addaudithook(note)
    log.write("watching\\n")
"""


def test_nothing_is_connected_to(folder: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's own calls are noted by an audit hook; sockets that native code opens are seen in /proc."""
    (tmp_path / "watch").mkdir()
    (tmp_path / "watch/sitecustomize.py").write_text(WATCH)
    log = tmp_path / "sockets"
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "watch"))
    monkeypatch.setenv("SOCKET_LOG", str(log))
    vectors = folder.store(300)
    seen: set[str] = set()
    with folder.process() as process:
        end = time.monotonic() + 60
        while process.state.held != 300 and time.monotonic() < end:
            seen |= internet_sockets(process.process_id)
            time.sleep(0.005)
        wait_until_equal(process, folder)
        assert unreached(process, vectors) == []
        seen |= internet_sockets(process.process_id)
    assert seen == set()
    assert log.read_text().splitlines() == ["watching"]


def internet_sockets(process_id: int | None) -> set[str]:
    """Return the internet sockets that a process has open."""
    found = set()
    with suppress(OSError):
        tables = [Path(f"/proc/{process_id}/net/{name}") for name in ("tcp", "tcp6", "udp", "udp6")]
        known = {
            line.split()[9]: line for path in tables if path.exists() for line in path.read_text().splitlines()[1:]
        }
        for entry in Path(f"/proc/{process_id}/fd").iterdir():
            with suppress(OSError):
                target = str(entry.readlink())
                if target.startswith("socket:[") and target[8:-1] in known:
                    found.add(known[target[8:-1]])
    return found
