"""kill -9 at any moment: the next run ends in the state that an undisturbed one ends in."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def start(folder: Path, *steps: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "MEMWEB_DATA_DIR": str(folder), "MEMWEB_EMBEDDER": "off"}
    command = [sys.executable, "-m", "tests.search.vectors.killed_indexer", *steps]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)  # noqa: S603


def run(folder: Path, *steps: str) -> str:
    """Return what steps say."""
    with start(folder, *steps) as process:
        said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return said


def run_and_kill(folder: Path, *steps: str, seconds: float) -> bool:
    """Kill a run so long after it began to index; return whether that came before its end."""
    with start(folder, *steps) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begins\n"
        time.sleep(seconds)
        process.kill()
        return "done" not in process.stdout.read()


def test_runs_that_are_killed_end_in_the_same_state(tmp_path: Path) -> None:
    moments = random.Random(7)  # noqa: S311
    run(tmp_path, "prepare")
    killed = sum(run_and_kill(tmp_path, "index:first", seconds=moments.uniform(0, 0.2)) for _ in range(6))
    assert killed >= 2
    assert run(tmp_path, "index:first", "check:first") == "begins\ndone\nequal"
    for seed in range(4):  # edits, removals and another model
        run_and_kill(tmp_path, f"change:{seed}", "index:second", seconds=moments.uniform(0, 0.3))
    assert run(tmp_path, "index:second", "check:second") == "begins\ndone\nequal"
