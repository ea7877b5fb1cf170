"""Chroma's own server, for tests of what asks one."""

import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

needs_chroma = pytest.mark.skipif(
    not (Path(sys.executable).with_name("chroma").exists() or shutil.which("chroma")),
    reason="Chroma's server, the executable `chroma`, is not installed",
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def chroma_server(path: Path, port: int) -> Iterator[None]:
    """Chroma's own server, for as long as the context lasts."""
    beside = Path(sys.executable).with_name("chroma")
    command = str(beside) if beside.exists() else shutil.which("chroma") or ""
    process = subprocess.Popen(  # noqa: S603
        [command, "run", "--path", str(path), "--host", "127.0.0.1", "--port", str(port)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        end = time.monotonic() + 60
        while True:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v2/heartbeat", timeout=2):
                break
            assert time.monotonic() < end
            assert process.poll() is None
            time.sleep(0.1)
        yield
    finally:
        process.kill()
        process.wait()
