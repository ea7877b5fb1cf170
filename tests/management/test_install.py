"""`make install`: the right Python, and no work when there is none to do."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.management.memweb_process import ROOT

OLD_PYTHON = """#!/bin/sh
case "$2" in
    *sys.exit*) exit 1 ;;
    *) echo "$3 is Python 3.9.2" ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with nothing in it but what installing reads."""
    for name in ("scripts/install", "Makefile", "requirements.lock", "pyproject.toml"):
        target = tmp_path / name
        target.parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, target)
    return tmp_path


def install(checkout: Path, python: Path | str) -> subprocess.CompletedProcess[str]:
    make = shutil.which("make")
    assert make is not None
    return subprocess.run(  # noqa: S603
        [make, "--no-print-directory", "install", f"PYTHON={python}"],
        cwd=checkout,
        capture_output=True,
        text=True,
        check=False,
    )


def first_line(done: subprocess.CompletedProcess[str]) -> str:
    """Return the message; make adds a line of its own that names the failed target."""
    return done.stderr.splitlines()[0]


def test_old_python_is_named_with_what_to_do(checkout: Path) -> None:
    python = checkout / "python3"
    python.write_text(OLD_PYTHON, encoding="ascii")
    python.chmod(0o755)
    done = install(checkout, python)
    assert done.returncode == 2  # make's own code for a failed target
    assert first_line(done) == (
        f"memweb: Python 3.11 or newer is needed and {python} is Python 3.9.2;"
        " install it, or name one: make run PYTHON=/path/to/python3.12"
    )
    assert not (checkout / ".venv").exists()


def test_python_that_is_not_there_is_named(checkout: Path) -> None:
    done = install(checkout, "no-such-python")
    assert first_line(done).startswith("memweb: Python 3.11 or newer is needed and there is no no-such-python here;")


def test_installed_environment_is_left_alone_until_the_lock_changes(checkout: Path) -> None:
    scripts = checkout / ".venv" / "bin"
    scripts.mkdir(parents=True)
    (scripts / "python").symlink_to(sys.executable)
    (scripts / "memweb").touch(mode=0o755)
    summing = 'printf "%s: %s" "$(pwd)" "$(cat requirements.lock pyproject.toml | cksum)" > .venv/installed'
    subprocess.run(["/bin/sh", "-c", summing], cwd=checkout, check=True)  # noqa: S603
    done = install(checkout, "no-such-python")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with (checkout / "requirements.lock").open("a", encoding="ascii") as lock:
        lock.write("# changed\n")
    assert install(checkout, "no-such-python").returncode == 2
