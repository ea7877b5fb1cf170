"""An embedding service on this machine, for memwebs that run as processes of their own."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.embedders import FakeEmbedder


class _Handler(BaseHTTPRequestHandler):
    embedder = FakeEmbedder(state_width=0)

    def do_POST(self) -> None:
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        vectors = self.embedder.embed_documents([texts] if isinstance(texts, str) else texts).vectors
        rows = [{"index": place, "embedding": vector.tolist()} for place, vector in enumerate(vectors)]
        answer = json.dumps({"data": rows}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def embedding_service() -> Iterator[dict[str, str]]:
    """Serve while the context lasts; yields the settings that make a memweb use it."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield {
            "MEMWEB_EMBEDDER": "http",
            "MEMWEB_EMBEDDER_URL": f"http://127.0.0.1:{server.server_port}",
            "MEMWEB_EMBEDDER_MODEL": "fake",
            "MEMWEB_EMBEDDER_DIMENSION": str(_Handler.embedder.dimension),
        }
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
