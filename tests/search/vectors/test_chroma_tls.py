"""CHROMA_URL with https: a server whose certificate is trusted answers, any other does not."""

import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread

import pytest

from search.vectors.index_state import Phase
from tests.search.vectors.chroma_server import chroma_server, free_port, needs_chroma
from tests.search.vectors.data_folder import DataFolder, unreached, wait_for, wait_until_equal

pytestmark = [
    needs_chroma,
    pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl, which makes a certificate, is not installed"),
]


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate for 127.0.0.1, with its key in the same file."""
    key, signed, both = (tmp_path / name for name in ("key.pem", "signed.pem", "both.pem"))
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=127.0.0.1"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(signed)]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603
    both.write_text(key.read_text() + signed.read_text())
    return both


@contextmanager
def tls_in_front_of(port: int, certificate: Path) -> Iterator[int]:
    """A proxy that speaks TLS and passes everything on; yields its port."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    listener = socket.create_server(("127.0.0.1", 0))

    def copy(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)

    def serve(plain: socket.socket) -> None:
        with (
            suppress(OSError),
            context.wrap_socket(plain, server_side=True) as outside,
            socket.create_connection(("127.0.0.1", port)) as inside,
        ):
            back = Thread(target=copy, args=(inside, outside), daemon=True)
            back.start()
            copy(outside, inside)
            back.join()

    def listen() -> None:
        with suppress(OSError):
            while True:
                Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    thread = Thread(target=listen, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def test_server_with_a_trusted_certificate_is_used(
    folder: DataFolder, tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    with chroma_server(tmp_path / "server", port), tls_in_front_of(port, certificate) as tls_port:
        folder.use(monkeypatch, CHROMA_URL=f"https://127.0.0.1:{tls_port}", **{"SSL_CERT_FILE": str(certificate)})
        vectors = folder.store(20)
        with folder.process() as process:
            wait_until_equal(process, folder)
            assert unreached(process, vectors) == []


def test_server_with_a_certificate_of_nobody_is_not_used(
    folder: DataFolder, tmp_path: Path, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    with chroma_server(tmp_path / "server", port), tls_in_front_of(port, certificate) as tls_port:
        folder.use(monkeypatch, CHROMA_URL=f"https://127.0.0.1:{tls_port}")
        folder.store(3)
        with folder.process() as process:
            state = wait_for(process, lambda state: state.phase is Phase.UNAVAILABLE)
            assert "certificate" in (state.problem or "")
