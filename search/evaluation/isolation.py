"""Measures in a process of its own, with a data folder of its own: the user's database and vector index stay untouched.

The process is measuring_process.py; it writes messages, one JSON object in each line.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from django.conf import settings

from search.evaluation.conversations import Conversation, EvaluationError, read_conversations, thinned
from search.evaluation.results import Run

MARK = "evaluation"
SECONDS_TO_END = 5

# Called with the name of a step, how much of it is done, and how much there is.
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Measurement:
    """What a measuring process is asked for. No `modes`: all that can be used."""

    path: str
    names: list[str]
    questions: int | None
    with_notes: bool
    modes: list[str]
    unfiltered: bool
    limit: int

    def conversations(self) -> list[Conversation]:
        """Read the data; raises EvaluationError."""
        found = read_conversations(Path(self.path), self.names)
        return thinned(found, self.questions) if self.questions else found


@dataclass(slots=True)
class Measured:
    """What a measuring process found. `notices` are sentences about what could not be measured."""

    runs: list[Run]
    embedder: str
    notices: list[str]


@contextmanager
def folder_for(kept: Path | None) -> Iterator[Path]:
    """Give a folder to measure in: the one to keep, else one that goes away."""
    if kept is None:
        with tempfile.TemporaryDirectory(prefix="memweb-evaluate-") as temporary:
            yield Path(temporary)
        return
    yield kept.expanduser().absolute()


def claim_folder(folder: Path, digest: str) -> None:
    """Make a data folder for an index of the data with this digest, or take one that was made for it before.

    Raises EvaluationError for a folder that holds anything else: it could be somebody's memories.
    """
    mark = folder / MARK
    try:
        if mark.is_file():
            if mark.read_text(encoding="utf-8", errors="replace").strip() != digest:
                raise EvaluationError(f"{folder} holds an index of other data; remove it or choose another folder")
        elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise EvaluationError(f"{folder} holds something else than an evaluation; choose an empty folder")
        else:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            mark.write_text(digest, encoding="utf-8")
        _lend_models(folder)
    except OSError as error:
        raise EvaluationError(f"{folder} cannot be used: {error.strerror or error}") from error


def _lend_models(folder: Path) -> None:
    """Let the embedding models of the user's data folder be found in another one."""
    models, link = settings.DATA_DIR / "models", folder / "models"
    if models.is_dir() and not link.exists():
        link.unlink(missing_ok=True)  # one that leads nowhere
        link.symlink_to(models)


def measure_isolated(measurement: Measurement, folder: Path, progress: Progress) -> Measured:
    """Measure in a claimed folder. Raises EvaluationError for what the process could not do."""
    measured = Measured([], "", [])
    process = subprocess.Popen(  # noqa: S603 - this very program
        [sys.executable, "-P", "-m", "search.evaluation.measuring_process", json.dumps(asdict(measurement))],
        stdin=subprocess.PIPE,  # the process ends when this closes
        stdout=subprocess.PIPE,
        env=environment(folder),
        start_new_session=True,  # Ctrl-C is for this process, which then ends the other
    )
    assert process.stdin and process.stdout  # noqa: S101 - both are pipes
    is_done = False
    try:
        for line in process.stdout:
            message = json.loads(line)
            match message["is"]:
                case "progress":
                    progress(message["step"], message["done"], message["total"])
                case "run":
                    measured.runs.append(Run.from_dict(message["run"]))
                case "notice":
                    measured.notices.append(message["text"])
                case "error":
                    raise EvaluationError(message["text"])
                case "done":
                    measured.embedder, is_done = message["embedder"], True
    finally:
        try:
            if not is_done:
                process.stdin.close()
            process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdin.close()
        process.stdout.close()
    if not is_done:
        raise EvaluationError(f"the process that measures ended before its time (exit code {process.returncode})")
    return measured


def environment(folder: Path) -> dict[str, str]:
    """Return the environment of a measuring process: no way leads to the user's database or vector server."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name != "DATABASE_URL" and not name.startswith("CHROMA_") and name != "MEMWEB_SECRET_KEY"
    }
    return {
        **kept,
        "MEMWEB_DATA_DIR": str(folder),
        "DJANGO_SETTINGS_MODULE": "memweb.settings",
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
    }
