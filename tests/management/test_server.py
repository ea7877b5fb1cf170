"""The socket and the address of the server."""

import socket

import pytest

from memweb.operations.problems import Problem
from memweb.operations.server import open_socket, public_address


def test_open_socket_listens_at_once() -> None:
    with open_socket("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()) as client:
        assert client.getpeername() == listening.getsockname()


def test_port_in_use_is_refused_with_another() -> None:
    with open_socket("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        with pytest.raises(Problem, match=rf"^port {port} of 127\.0\.0\.1 is taken .* MEMWEB_PORT=\d+ or --port \d+$"):
            open_socket("127.0.0.1", port)


@pytest.mark.parametrize("host", ["192.0.2.1", "no host", "ü" * 70, "a..b"])
def test_address_that_the_machine_has_not_is_refused(host: str) -> None:
    with pytest.raises(Problem, match=r"^this machine has no address .*; choose another with MEMWEB_HOST or --host$"):
        open_socket(host, 0)


@pytest.mark.parametrize(
    ("host", "names", "https", "address"),
    [
        ("127.0.0.1", [], False, "http://127.0.0.1:8000"),
        ("localhost", [], False, "http://localhost:8000"),
        ("::1", [], False, "http://[::1]:8000"),
        ("[::1]", [], False, "http://[::1]:8000"),
        ("192.168.1.5", ["memweb.example"], False, "http://192.168.1.5:8000"),
        ("0.0.0.0", [], False, "http://127.0.0.1:8000"),  # noqa: S104 - nothing is bound
        ("::", ["memweb.example", "other.example"], False, "http://memweb.example:8000"),
        ("::", ["*"], False, "http://127.0.0.1:8000"),
        ("127.0.0.1", [".memweb.example"], True, "https://memweb.example"),
        ("127.0.0.1", [], True, "http://127.0.0.1:8000"),
    ],
)
def test_public_address_is_one_that_a_person_can_open(host: str, names: list[str], https: bool, address: str) -> None:
    assert public_address(host, 8000, names, https) == address
