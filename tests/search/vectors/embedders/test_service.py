"""An embedding service, played by a small server on this machine."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from memweb.environment import EmbeddingService
from search.vectors.embedders.service import Patience, service_embedder
from search.vectors.embedders.vectors_only import VectorsOnlyEmbedder
from search.vectors.embedding import EmbedderUnavailable

QUICK = Patience(timeout=5, pauses=(0.01, 0.01))


@dataclass
class Served:
    """What the server was asked, and the statuses and headers that it answers before it gives vectors."""

    address: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    refusals: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    body: Callable[[list[str]], Any] | None = None
    go_on: Event = field(default_factory=Event)
    is_slow: bool = False


def vectors_of(texts: list[str]) -> dict[str, Any]:
    """Answer as the interface promises, but in an order of its own: `index` tells which text is meant."""
    rows = [{"object": "embedding", "index": n, "embedding": [len(text), 3, 0]} for n, text in enumerate(texts)]
    return {"object": "list", "data": rows[::-1], "model": "served"}


@pytest.fixture
def served() -> Iterator[Served]:
    state = Served()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(body)
            state.headers.append(dict(self.headers))
            state.paths.append(self.path)
            if state.is_slow:
                state.go_on.wait(10)
            status, headers = state.refusals.pop(0) if state.refusals else (200, {})
            answer = json.dumps((state.body or vectors_of)(body["input"])).encode() if status == 200 else b"no"
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(answer))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.address = f"http://127.0.0.1:{server.server_port}/v1"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield state
    state.go_on.set()
    server.shutdown()
    thread.join()
    server.server_close()


def embedder_of(served: Served, dimension: int = 3, key: str = "", patience: Patience = QUICK) -> VectorsOnlyEmbedder:
    return service_embedder(EmbeddingService(served.address, "served", dimension, key), patience, patience)


def test_vectors_come_in_the_order_of_the_texts_and_of_length_one(served: Served) -> None:
    embedded = embedder_of(served).embed_documents(["four", ""])
    assert np.allclose(embedded.vectors, [[0.8, 0.6, 0], [0, 1, 0]])
    assert embedded.states is None
    assert served.requests == [{"model": "served", "input": ["four", ""], "encoding_format": "float"}]
    assert served.paths == ["/v1/embeddings"]
    assert "Authorization" not in served.headers[0]


def test_key_goes_into_the_header(served: Served) -> None:
    embedder_of(served, key="of mine").embed_query("text")
    assert served.headers[0]["Authorization"] == "Bearer of mine"


def test_texts_are_sent_in_batches(served: Served) -> None:
    texts = ["x" * (number % 7) for number in range(150)]
    vectors = embedder_of(served).embed_documents(texts).vectors
    assert [len(request["input"]) for request in served.requests] == [64, 64, 22]
    expected = np.array([[len(text), 3, 0] for text in texts], np.float32)
    assert np.allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True))


def test_query_is_asked_once(served: Served) -> None:
    embedder = embedder_of(served)
    assert embedder.embed_query("again") is embedder.embed_query("again")
    assert len(served.requests) == 1


def test_nothing_is_asked_for_no_texts(served: Served) -> None:
    assert embedder_of(served).embed_documents([]).vectors.shape == (0, 3)
    assert served.requests == []


@pytest.mark.parametrize("status", [429, 500, 503])
def test_passing_failure_is_tried_again(served: Served, status: int) -> None:
    served.refusals = [(status, {})] * 2
    assert embedder_of(served).embed_query("four").vectors.shape == (1, 3)
    assert len(served.requests) == 3


def test_failure_that_stays_ends_the_tries(served: Served) -> None:
    served.refusals = [(503, {})] * 9
    with pytest.raises(EmbedderUnavailable, match=r"^the embedding service http://\S+/v1 answered 503 Service Unav"):
        embedder_of(served).embed_documents(["text"])
    assert len(served.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 404])
def test_refusal_is_not_tried_again(served: Served, status: int) -> None:
    served.refusals = [(status, {})]
    with pytest.raises(EmbedderUnavailable, match=f" answered {status} ") as refusal:
        embedder_of(served, key="of mine").embed_query("text")
    assert "of mine" not in str(refusal.value)
    assert len(served.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirect_is_not_followed(served: Served, status: int) -> None:
    served.refusals = [(status, {"Location": served.address + "/elsewhere"})]
    with pytest.raises(EmbedderUnavailable, match=f" answered {status} "):
        embedder_of(served, key="of mine").embed_query("text")
    assert served.paths == ["/v1/embeddings"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"error": "no"}, "gave no vector for each of 1 texts"),
        ([], "gave no vector for each of 1 texts"),
        ({"data": []}, "gave no vector for each of 1 texts"),
        ({"data": [{"index": 1, "embedding": [1, 2, 3]}]}, "gave no vector for each of 1 texts"),
        ({"data": [{"index": 0, "embedding": [1, 2]}]}, "gave vectors of 2 numbers, not 3"),
        ({"data": [{"index": 0, "embedding": "AAAA"}]}, "gave something else than rows of numbers"),
        ({"data": [{"index": 0, "embedding": [0, 0, 0]}]}, "gave a vector that has no direction"),
        ({"data": [{"index": 0, "embedding": [1, None, 0]}]}, "gave a vector that has no direction"),
        ({"data": [{"index": 0, "embedding": [float("inf"), 0, 0]}]}, "gave a vector that has no direction"),
    ],
)
def test_answer_without_a_sound_vector_is_refused(served: Served, body: Any, message: str) -> None:
    served.body = lambda texts: body
    with pytest.raises(EmbedderUnavailable, match=message):
        embedder_of(served).embed_query("text")


def test_service_that_hangs_is_given_up(served: Served) -> None:
    served.is_slow = True
    with pytest.raises(EmbedderUnavailable, match=r"does not answer in time$"):
        embedder_of(served, patience=Patience(timeout=0.2, pauses=())).embed_query("text")


def test_service_that_failed_is_left_alone_for_a_while(served: Served) -> None:
    served.refusals = [(500, {})]
    embedder = embedder_of(served, patience=Patience(timeout=5, pauses=(), rest=0.3))
    with pytest.raises(EmbedderUnavailable, match=r" answered 500 "):
        embedder.embed_query("text")
    with pytest.raises(EmbedderUnavailable, match=r" failed and is asked again within 0\.3 seconds$"):
        embedder.embed_query("text")
    assert len(served.requests) == 1
    time.sleep(0.3)
    assert embedder.embed_query("text").vectors.shape == (1, 3)


def test_service_that_is_not_there_is_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    embedder = service_embedder(EmbeddingService(address, "served", 3, ""), QUICK, QUICK)
    with pytest.raises(
        EmbedderUnavailable,
        match=rf"^the embedding service {address} refuses the connection; it may not run, or at another port$",
    ):
        embedder.embed_query("text")


def test_half_characters_do_not_reach_the_service(served: Served) -> None:
    embedder_of(served).embed_query("half \ud83d")
    assert served.requests[0]["input"] == ["half ?"]
