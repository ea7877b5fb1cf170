"""kill -9 at any moment: the next run ends in the state that an undisturbed one ends in."""

import os
import random
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


def start(folder: Path, step: str) -> "subprocess.Popen[str]":
    environment = {**os.environ, "MEMWEB_DATA_DIR": str(folder), "MEMWEB_EMBEDDER": "off"}
    command = [sys.executable, "-m", "tests.search.vectors.killed_indexer", step]
    return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True)  # noqa: S603


def run(folder: Path, step: str) -> str:
    """Return what a step says."""
    with start(folder, step) as process:
        said, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return said


def run_and_kill(folder: Path, step: str, seconds: float) -> bool:
    """Kill a run so long after it began; return whether that came before its end."""
    with start(folder, step) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begins\n"
        time.sleep(seconds)
        process.kill()
        return "done" not in process.stdout.read()


def test_runs_that_are_killed_end_in_the_same_state(tmp_path: Path) -> None:
    moments = random.Random(7)  # noqa: S311
    run(tmp_path, "prepare")
    killed = sum(run_and_kill(tmp_path, "index:first", moments.uniform(0, 0.3)) for _ in range(6))
    assert killed >= 2
    assert run(tmp_path, "index:first") == "begins\ndone\n"
    assert run(tmp_path, "check:first") == "equal"
    for seed in range(4):  # edits, removals and another model
        run(tmp_path, f"change:{seed}")
        run_and_kill(tmp_path, "index:second", moments.uniform(0, 0.5))
    assert run(tmp_path, "index:second") == "begins\ndone\n"
    assert run(tmp_path, "check:second") == "equal"
