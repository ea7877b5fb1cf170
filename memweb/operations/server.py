"""The web server of `memweb up`: one process, a fixed number of threads (why: docs/operations.md)."""

import errno
import signal
import socket
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from waitress import create_server

from memweb.operations.problems import Problem

WILDCARDS = {"0.0.0.0", "::"}  # noqa: S104 - compared with, never the default
LARGEST_BODY = 64 * 1024 * 1024


def open_socket(host: str, port: int) -> socket.socket:
    """Return a socket that listens on host and port (0: any free one); raise Problem when that is not possible."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
        listening = socket.socket(family, socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise Problem(f"this machine has no address {host!r}; choose another with MEMWEB_HOST or --host") from error
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(128)
    except OSError as error:
        listening.close()
        raise _socket_problem(error, host, port) from error
    return listening


def public_address(host: str, port: int, names: list[str], https: bool) -> str:
    """Return the address that a person opens, such as http://127.0.0.1:8000.

    `names` are those of MEMWEB_ALLOWED_HOSTS: a server that listens on all addresses is best reached by the first, and
    behind a proxy with TLS that name needs no port.
    """
    names = [name.lstrip(".") for name in names if name != "*"]
    if https and names:
        return f"https://{names[0]}"
    if host in WILDCARDS:
        host = names[0] if names else "127.0.0.1"
    return f"http://{bracketed(host)}:{port}"


def bracketed(host: str) -> str:
    """Return the host as it stands in an address and in the Host header: IPv6 in brackets."""
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def stop_on_signals() -> None:
    """Make Ctrl-C and SIGTERM end the program with exit code 0, through every `finally`.

    SIGINT is set too, because a shell starts programs in the background with SIGINT ignored.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)


def serve(application: Callable[..., Any], listening: socket.socket, threads: int, https: bool) -> None:
    """Answer requests until the program is told to stop; requests that are being answered then get a moment to end."""
    server = create_server(
        application,
        sockets=[listening],
        threads=threads,
        ident=None,
        url_scheme="https" if https else "http",
        clear_untrusted_proxy_headers=True,
        max_request_body_size=LARGEST_BODY,
        asyncore_use_poll=True,
    )
    server.run()
    server.close()


def _stop(number: int, frame: FrameType | None) -> None:
    sys.exit(0)


def _socket_problem(error: OSError, host: str, port: int) -> Problem:
    another = "choose another with MEMWEB_PORT={0} or --port {0}"
    if error.errno == errno.EADDRINUSE:
        following = port + 1 if port < 65535 else 8000
        return Problem(f"port {port} of {host} is taken by another program; {another.format(following)}")
    if error.errno == errno.EACCES:
        return Problem(f"port {port} of {host} needs more rights than you have; {another.format(8000)}")
    if error.errno == errno.EADDRNOTAVAIL:
        return Problem(f"this machine has no address {host!r}; choose another with MEMWEB_HOST or --host")
    return Problem(f"port {port} of {host} cannot be used ({error.strerror}); {another.format(8000)}")
