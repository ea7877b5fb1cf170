"""CHROMA_URL: the same process with a Chroma server, which may be slow, refuse, or go away and come back."""

import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from search.vectors.index_state import Action, Phase, leave_request
from search.vectors.nearest import BroadIndexUnavailable
from tests.search.vectors.chroma_server import chroma_server, free_port, needs_chroma
from tests.search.vectors.data_folder import DataFolder, unreached, wait_for, wait_until_equal

pytestmark = needs_chroma


def request(port: int, path: str, body: bytes | None = None) -> str:
    asked = urllib.request.Request(f"http://127.0.0.1:{port}/api/v2/{path}", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(asked, timeout=10) as answer:  # noqa: S310
        return str(answer.read().decode())


def test_index_on_a_server_follows_survives_its_absence_and_is_rebuilt(
    folder: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    folder.use(
        monkeypatch,
        CHROMA_URL=f"http://127.0.0.1:{port}",
        CHROMA_TENANT="team",
        CHROMA_DATABASE="memories",
        **{"CHROMA_TOKEN": "any"},
    )
    vectors = folder.store(300)
    with folder.process() as process:
        state = wait_for(process, lambda state: state.phase is Phase.UNAVAILABLE)
        assert (state.problem or "").startswith(f"the Chroma server http://127.0.0.1:{port} refuses the connection")
        with chroma_server(tmp_path / "server", port):
            problem = "the Chroma server has no database 'memories' of tenant 'team'"
            wait_for(process, lambda state: state.problem == problem)
            request(port, "tenants", b'{"name": "team"}')
            request(port, "tenants/team/databases", b'{"name": "memories"}')
            wait_until_equal(process, folder)
            assert unreached(process, {id: vectors[id] for id in list(vectors)[::10]}) == []
            vectors |= folder.store(10)
            folder.remove(list(vectors)[:5])
            state = wait_until_equal(process, folder)
            assert (state.held, not folder.chroma.exists()) == (305, True)
            assert state.collection is not None
            assert state.collection in request(port, "tenants/team/databases/memories/collections")
        started = time.monotonic()
        with pytest.raises(BroadIndexUnavailable):
            process.nearest(vectors[9], 3)
        assert time.monotonic() - started < 3
        wait_for(process, lambda state: state.phase is Phase.UNAVAILABLE)
        started = time.monotonic()
        with pytest.raises(
            BroadIndexUnavailable, match=r"refuses the connection|broke the connection off|does not answer in time"
        ):
            process.nearest(vectors[9], 3)
        assert time.monotonic() - started < 0.5  # it is not asked again and again
        vectors |= folder.store(10)
        with chroma_server(tmp_path / "server", port):
            wait_until_equal(process, folder)
            leave_request(folder.path, Action.REBUILD)
            wait_until_equal(process, folder)
            leave_request(folder.path, Action.CHECK)
            state = wait_until_equal(process, folder)
            assert state.check is not None
            assert (state.check.total, state.check.stale, state.check.unreachable) == (315, 0, 0)
            lost = request(port, "tenants/team/databases/memories/collections")
            assert lost.count("memweb-") == 1


@contextmanager
def odd_server(status: int, seconds: float) -> Iterator[int]:
    """A server that is none of Chroma's, for as long as the context lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            time.sleep(seconds)
            with suppress(OSError):
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.mark.parametrize(
    ("status", "seconds", "words"),
    [
        (401, 0.0, "answers 401: no Chroma server, or a wrong CHROMA_TOKEN"),
        (404, 0.0, "answers 404: no Chroma server, or a wrong CHROMA_TOKEN"),
        (200, 6.0, "does not answer in time"),
    ],
)
def test_server_that_is_none_is_told(
    folder: DataFolder, monkeypatch: pytest.MonkeyPatch, status: int, seconds: float, words: str
) -> None:
    with odd_server(status, seconds) as port:
        folder.use(monkeypatch, CHROMA_URL=f"http://127.0.0.1:{port}", **{"CHROMA_TOKEN": "key of ours"})
        folder.store(3)
        with folder.process() as process:
            state = wait_for(process, lambda state: state.phase is Phase.UNAVAILABLE)
            assert (state.problem or "").endswith(words)
            assert "key of ours" not in (state.problem or "")


def test_server_without_tls_is_told_where_tls_is_wanted(folder: DataFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    with odd_server(200, 0) as port:
        folder.use(monkeypatch, CHROMA_URL=f"https://127.0.0.1:{port}")
        folder.store(3)
        with folder.process() as process:
            state = wait_for(process, lambda state: state.phase is Phase.UNAVAILABLE)
            assert (state.problem or "").startswith(f"the Chroma server https://127.0.0.1:{port} does not speak TLS")
