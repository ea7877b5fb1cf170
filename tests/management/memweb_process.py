"""A memweb of its own process, and a browser as simple as can be."""

import http.client
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-X", "utf8", str(ROOT / "manage.py")]


def environment(data_dir: Path, **variables: str) -> dict[str, str]:
    """Return the environment of a memweb with this data folder, free of the settings of whoever runs the tests."""
    inherited = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("MEMWEB_", "CHROMA_")) and name not in {"DATABASE_URL", "DJANGO_SETTINGS_MODULE"}
    }
    ours = {
        "MEMWEB_DATA_DIR": str(data_dir),
        "MEMWEB_CLAUDE_MEM": str(data_dir / "no-claude-mem"),
        "MEMWEB_EMBEDDER": "off",  # tests of meaning name one; the others need no vector process
        "NO_COLOR": "1",
    }
    return {**inherited, **ours, **variables}


def run_memweb(data_dir: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(  # noqa: S603
        [*COMMAND, *arguments],
        env=environment(data_dir, **variables),
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        timeout=120,
    )


class Memweb:
    """A running `memweb up`; `lines` holds what it has printed so far."""

    def __init__(self, data_dir: Path, *arguments: str, **variables: str) -> None:
        self.data_dir = data_dir
        self.lines: list[str] = []
        self._process = subprocess.Popen(  # noqa: S603
            [*COMMAND, "up", "--port", "0", *arguments],
            env=environment(data_dir, **variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.link = self.read_until("Sign in").split()[-1]

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def site(self) -> str:
        return re.sub(r"/accounts/.*", "", self.link)

    def read_until(self, text: str) -> str:
        """Return the first line with the text; fail with everything that was printed when there is none."""
        assert self._process.stdout is not None
        seen = next((line for line in self.lines if text in line), None)
        if seen is not None:
            return seen
        for line in self._process.stdout:
            self.lines.append(line.rstrip("\n"))
            if text in line:
                return self.lines[-1]
        raise AssertionError(f"memweb ended before it printed {text!r}:\n" + "\n".join(self.lines))

    def stop(self, with_signal: signal.Signals = signal.SIGINT) -> int:
        """Stop it as Ctrl-C does and return its exit code."""
        assert self._process.stdout is not None
        if not self._process.stdout.closed:
            self._process.send_signal(with_signal)
            self.lines += self._process.stdout.read().splitlines()
            self._process.stdout.close()
        return self._process.wait(60)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server answered."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def location(self) -> str | None:
        return self.headers["Location"]


@dataclass(slots=True)
class Browser:
    """Asks one site and keeps its cookies."""

    site: str
    cookies: SimpleCookie = field(default_factory=SimpleCookie)

    def get(self, address: str, **headers: str) -> Answer:
        connection = http.client.HTTPConnection(urlsplit(self.site).netloc, timeout=60)
        try:
            cookie = "; ".join(f"{name}={morsel.value}" for name, morsel in self.cookies.items())
            sent = {"Cookie": cookie} if cookie else {}
            connection.request("GET", address.removeprefix(self.site), headers={**sent, **headers})
            response = connection.getresponse()
            body = response.read()
        finally:
            connection.close()
        for line in response.headers.get_all("Set-Cookie", []):
            self.cookies.load(line)
        return Answer(response.status, response.headers, body)
