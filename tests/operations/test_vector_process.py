"""The vector process of a running `memweb up`: it embeds, follows, comes back, ends with it, and takes requests."""

import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from http import HTTPStatus
from pathlib import Path

import pytest

from search.vectors.index_state import IndexState, Phase, pending_request, read_state
from search.vectors.ownership import index_owner
from tests.embedding_service import embedding_service
from tests.management.memweb_process import Browser, Memweb, run_memweb
from tests.sources.claude_mem import ClaudeMem


class Running:
    """A memweb with the settings of its embedding service, and claude-mem's folder that it imports."""

    def __init__(self, memweb: Memweb, source: ClaudeMem, variables: dict[str, str]) -> None:
        self.memweb = memweb
        self.source = source
        self.variables = variables
        self.browser = Browser(memweb.site)
        self.browser.get(memweb.link)

    def wait_for(self, is_so: Callable[[IndexState], bool], seconds: float = 60) -> IndexState:
        """Return the state of the index once it is so."""
        end = time.monotonic() + seconds
        while (state := read_state(self.memweb.data_dir)) is None or not is_so(state):
            assert time.monotonic() < end, f"waited in vain; the state is {state}"
            time.sleep(0.05)
        return state

    @property
    def closets(self) -> list[str]:
        with closing(sqlite3.connect(self.memweb.data_dir / "memweb.sqlite3", timeout=30)) as connection:
            return [text for (text,) in connection.execute("SELECT text FROM search_closetline")]

    @property
    def memories(self) -> int:
        with closing(sqlite3.connect(self.memweb.data_dir / "memweb.sqlite3", timeout=30)) as connection:
            return int(connection.execute("SELECT count(*) FROM memories_observation").fetchone()[0])

    def wait_until_equal(self, seconds: float = 60) -> IndexState:
        """Return the state once the index holds one vector for each memory."""
        return self.wait_for(
            lambda state: (
                state.phase is Phase.READY and (state.held, state.missing, state.ghosts) == (self.memories, 0, 0)
            ),
            seconds,
        )

    def run(self, *arguments: str) -> tuple[int, str, str]:
        done = run_memweb(self.memweb.data_dir, *arguments, **self.variables)
        return done.returncode, done.stdout, done.stderr

    def execute(self, sql: str) -> None:
        path = self.memweb.data_dir / "memweb.sqlite3"
        with closing(sqlite3.connect(path, timeout=30)) as connection, connection:
            connection.execute(sql)

    @property
    def vector_process(self) -> int:
        owner = index_owner(self.memweb.data_dir)
        assert owner is not None
        assert owner.purpose == "memweb up"
        return owner.process_id


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    source = ClaudeMem(tmp_path_factory.mktemp("claude-mem") / "claude-mem.db")
    source.session()
    for number in range(30):
        source.observation(f"Lamp {number} of the lighthouse was replaced")
    with embedding_service() as variables, closing(source.connection):
        variables = {**variables, "MEMWEB_CLAUDE_MEM": str(source.path.parent)}
        memweb = Memweb(tmp_path_factory.mktemp("data") / "memweb", **variables)
        try:
            yield Running(memweb, source, variables)
        finally:
            memweb.stop()


def is_alive(process_id: int) -> bool:
    try:
        state = Path(f"/proc/{process_id}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def wait_until_gone(process_id: int) -> None:
    end = time.monotonic() + 10
    while is_alive(process_id):
        assert time.monotonic() < end, f"process {process_id} lives on"
        time.sleep(0.02)


def test_what_is_imported_is_embedded_and_indexed(running: Running) -> None:
    state = running.wait_until_equal()
    assert state.held == 30
    assert (state.problem, state.embedding, state.set_aside) == (None, None, None)
    assert running.browser.get("/?q=lighthouse").status == HTTPStatus.OK


def test_edits_and_removals_are_followed_within_five_seconds(running: Running) -> None:
    running.wait_until_equal()
    running.execute("DELETE FROM memories_observation WHERE title = 'Lamp 3 of the lighthouse was replaced'")
    running.wait_until_equal(seconds=5)
    before = running.wait_until_equal().followed
    running.execute(
        "UPDATE memories_observation SET title = 'Oil' WHERE title = 'Lamp 4 of the lighthouse was replaced'"
    )
    running.wait_for(lambda state: state.followed > before and not state.ghosts, seconds=5)
    running.wait_until_equal(seconds=5)
    running.source.observation("The keeper went ashore")
    code, _, error = running.run("import", str(running.source.path))
    assert (code, error) == (0, "")
    running.wait_until_equal(seconds=5)


def test_closets_follow_the_drawers_within_five_seconds(running: Running) -> None:
    running.wait_until_equal()
    values = "text='The oil is low.', time_quality='unknown'"
    drawer = f"Drawer.objects.create(project=Project.objects.get(), session=Session.objects.get(), {values})"
    code, _, error = running.run("shell", "-c", f"from memweb.memories.models import *\n{drawer}")
    assert (code, error) == (0, "")
    running.wait_for(lambda state: running.closets == ["The oil is low."], seconds=5)
    running.execute("DELETE FROM memories_drawer")
    assert running.closets == []
    running.wait_until_equal(seconds=5)


def test_status_counts_beside_the_server(running: Running) -> None:
    running.wait_until_equal()
    code, text, error = running.run("index", "status", "--only", "vectors", "--json")
    assert (code, error) == (0, "")
    status = json.loads(text)["vectors"]
    count = running.memories
    assert status == {
        "model": "http:fake/1",
        "memories": count,
        "embedded": count,
        "waiting": 0,
        "nothing_to_embed": 0,
        "vectors": count,
        "in_chroma": count,
        "missing": 0,
        "ghosts": 0,
        "owner": f"process {running.vector_process} (memweb up)",
        "problem": None,
        "embedding_problem": None,
        "next_model": None,
        "next_embedded": 0,
    }


def test_check_is_carried_out_by_the_server(running: Running) -> None:
    running.wait_until_equal()
    assert running.run("index", "check", "--only", "vectors") == (
        0,
        f"vectors            {running.memories} checked, 0 not found, 0 stale\n"
        f"                   held by process {running.vector_process} (memweb up), which checked them\n",
        "",
    )


@pytest.mark.parametrize("action", ["rebuild", "optimize"])
def test_command_beside_the_server_leaves_the_work_to_it(running: Running, action: str) -> None:
    running.wait_until_equal()
    owner = running.vector_process
    code, text, error = running.run("index", action, "--only", "vectors")
    assert (code, error) == (0, "")
    assert (
        text == f"vectors            held by process {owner} (memweb up), which does it;"
        " `memweb index status` shows how far it is\n"
    )
    wait_until_gone(owner)  # only a process that has not touched the index yet may open it
    running.wait_for(lambda state: state.process_id != owner)
    running.wait_until_equal()
    assert pending_request(running.memweb.data_dir) is None
    assert list(running.memweb.data_dir.glob("chroma.damaged-*")) == []


def test_doctor_finds_all_well(running: Running) -> None:
    running.wait_until_equal()
    code, text, error = running.run("doctor", "--deep")
    assert (code, error) == (0, "")
    lines = [line.partition("vector index")[2].strip() for line in text.splitlines() if "vector index" in line]
    count = running.memories
    assert lines == [f"{count} of {count} vectors in the data folder", "every vector is found and equals its row"]


def test_killed_vector_process_costs_no_page_and_comes_back(running: Running) -> None:
    running.wait_until_equal()
    owner = running.vector_process
    os.kill(owner, signal.SIGKILL)
    assert running.browser.get("/?q=lighthouse").status == HTTPStatus.OK
    running.wait_for(lambda state: state.process_id != owner and state.phase is Phase.READY)
    running.wait_until_equal()


def test_vector_process_ends_with_memweb_also_when_that_is_killed(running: Running) -> None:
    running.wait_until_equal()
    owner = running.vector_process
    os.kill(running.memweb.process_id, signal.SIGKILL)
    wait_until_gone(owner)
    end = time.monotonic() + 10
    while index_owner(running.memweb.data_dir) is not None:  # its last threads end a moment later
        assert time.monotonic() < end
        time.sleep(0.02)
    code, text, _ = running.run("index", "status", "--only", "vectors")
    assert code == 0
    assert text.splitlines()[5:] == [
        f"vectors: in Chroma         {running.memories:>12}  no memweb runs",
        "vectors: missing                      0",
        "vectors: ghosts                       0",
    ]
