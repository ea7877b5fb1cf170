"""How often the vector process ended lately. Kept in a file: a process that dies at once can tell nothing itself."""

import json
import os
import time
from pathlib import Path

ENDINGS_NAME = "chroma.endings"
MOST_ENDINGS = 3
MINUTES = 10
_KEPT = 100


def note_ending(data_dir: Path, reason: str) -> None:
    """Note that the process ended without having been asked to. Raises OSError."""
    endings = [*_recent(data_dir), (time.time(), reason)]
    path = data_dir / ENDINGS_NAME
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(endings[-_KEPT:]), encoding="utf-8")
    draft.replace(path)


def forget_endings(data_dir: Path) -> None:
    (data_dir / ENDINGS_NAME).unlink(missing_ok=True)


def crash_loop(data_dir: Path) -> str | None:
    """Return in words that the process ends again and again; None when it does not."""
    endings = _recent(data_dir)
    if len(endings) < MOST_ENDINGS:
        return None
    return f"the vector process ended {len(endings)} times within {MINUTES} minutes, last with {endings[-1][1]}"


def _recent(data_dir: Path) -> list[tuple[float, str]]:
    now = time.time()
    try:
        noted = json.loads((data_dir / ENDINGS_NAME).read_text(encoding="utf-8"))
        return [(float(at), str(reason)) for at, reason in noted if now - 60 * MINUTES < at <= now]
    except (OSError, ValueError, TypeError):
        return []
