"""One process holds the vector index; others are told who."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from search.vectors.index_problems import IndexUnavailable
from search.vectors.ownership import Owner, index_owner, own_index
from tests.search.vectors.data_folder import DataFolder, unreached, wait_for, wait_until_equal

HOLD = """
import sys, time
from pathlib import Path
from search.vectors.ownership import own_index
with own_index(Path(sys.argv[1]), "another test"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_free_index_has_no_owner(tmp_path: Path) -> None:
    assert index_owner(tmp_path) is None
    with own_index(tmp_path, "a test"):
        assert index_owner(tmp_path) == Owner(os.getpid(), "a test")
    assert index_owner(tmp_path) is None


def test_owner_is_named_until_it_ends_even_by_kill(tmp_path: Path) -> None:
    other = subprocess.Popen(  # noqa: S603
        [sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    with other, other.stdout:
        assert other.stdout.readline() == "held\n"
        message = rf"^the vector index is held by process {other.pid} \(another test\)$"
        with pytest.raises(IndexUnavailable, match=message), own_index(tmp_path, "a test"):
            pass
        other.kill()
        other.wait()
    with own_index(tmp_path, "a test"):
        assert index_owner(tmp_path) == Owner(os.getpid(), "a test")


def test_lock_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "chroma.lock").mkdir()
    with pytest.raises(IndexUnavailable, match=r"chroma\.lock cannot be written"), own_index(tmp_path, "a test"):
        pass


def test_second_process_waits_for_the_first_and_then_takes_over(folder: DataFolder) -> None:
    vectors = folder.store(40)
    with folder.process("the first") as first:
        wait_until_equal(first, folder)
        problem = f"the vector index is held by process {first.process_id} (the first)"
        with folder.process("the second") as second:
            wait_for(second, lambda state: state.problem == problem)
            vectors |= folder.store(40)
            wait_until_equal(first, folder)
            first.stop()
            wait_until_equal(second, folder)
            assert unreached(second, vectors) == []
    assert folder.set_aside == []
