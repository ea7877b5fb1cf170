"""Errors of libraries in words for people."""

import errno
import socket
import ssl
import threading
from collections.abc import Callable
from urllib.error import URLError
from urllib.request import urlopen

import httpx
import pytest
from django.db.utils import OperationalError

from search.vectors.failures import database_trouble, network_trouble


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("database is locked", "the database is in use by another program"),
        ("database or disk is full", "the disk that holds the database is full; free some space"),
        ("attempt to write a readonly database", "the database cannot be written; correct its owner and mode"),
        ("unable to open database file", "the database cannot be opened; correct its owner and mode"),
        ("database disk image is malformed", "the database is damaged; `memweb doctor --deep` says more"),
        ("no such table: search_embedding", "the database is not up to date; `memweb migrate` brings it so"),
        ("something else", "the database cannot be used; `memweb doctor` says more"),
    ],
)
def test_what_the_database_says_is_put_in_words(text: str, sentence: str) -> None:
    assert database_trouble(OperationalError(text)) == sentence


REFUSED = "refuses the connection; it may not run, or at another port"
UNKNOWN = "has a name that is not known here; look for a slip in its address"
UNTRUSTED = "has a certificate that this machine does not trust; SSL_CERT_FILE names one that it should"
PLAIN = "does not speak TLS; its address may begin with http:// instead"


@pytest.mark.parametrize(
    ("error", "predicate"),
    [
        (URLError(ConnectionRefusedError(errno.ECONNREFUSED, "x")), REFUSED),
        (ConnectionResetError(errno.ECONNRESET, "x"), "broke the connection off"),
        (OSError(errno.ENETUNREACH, "x"), "is out of reach of this machine"),
        (URLError(TimeoutError()), "does not answer in time"),
        (URLError(socket.gaierror(-2, "Name or service not known")), UNKNOWN),
        (URLError(ssl.SSLCertVerificationError("x")), UNTRUSTED),
        (URLError(ssl.SSLError("WRONG_VERSION_NUMBER")), PLAIN),
        (ValueError("x"), "cannot be reached"),
    ],
)
def test_what_the_network_says_is_put_in_words(error: Exception, predicate: str) -> None:
    assert network_trouble(error) == predicate


def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
        return port


def ask_with_urllib(address: str) -> None:
    urlopen(address, timeout=5).close()  # noqa: S310 - an address of the test


def ask_with_httpx(address: str) -> None:
    httpx.get(address, timeout=5)


@pytest.mark.parametrize("ask", [ask_with_urllib, ask_with_httpx])
def test_libraries_are_understood(ask: Callable[[str], None]) -> None:
    with pytest.raises((OSError, httpx.HTTPError)) as refused:
        ask(f"http://127.0.0.1:{closed_port()}")
    assert network_trouble(refused.value) == REFUSED
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            with server.accept()[0] as connection:
                connection.recv(999)
                connection.sendall(b"HTTP/1.0 400 no\r\n\r\n")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises((OSError, httpx.HTTPError)) as plain:
            ask(f"https://127.0.0.1:{server.getsockname()[1]}")
        thread.join()
    assert network_trouble(plain.value) == PLAIN
