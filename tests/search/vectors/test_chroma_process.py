"""The vector process as its parent meets it: it follows the rows, answers, dies, and comes back."""

import os
import signal
import time

import pytest

from search.vectors.index_state import Phase
from search.vectors.nearest import BroadIndexUnavailable
from tests.search.vectors.data_folder import DataFolder, unreached, wait_for, wait_until_equal


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
