"""What can be wrong with the vector index, in words for people."""

import shutil
from pathlib import Path

LEAST_FREE_BYTES = 32 * 1024 * 1024
_FULL = ("disk is full", "no space left", "os error 28", "disk i/o error", "code: 13)")
_CLOSED = ("readonly", "read-only", "permission denied", "unable to open", "os error 13", "os error 30", "code: 14)")


class IndexUnavailable(Exception):
    """The vector index cannot be used now; the message says why. Search goes on without it."""


class IndexDamaged(Exception):
    """What is in the index cannot be trusted; it has to be set aside and made anew from the stored vectors."""


def folder_problem(folder: Path, error: BaseException | None = None) -> str | None:
    """Return why a folder cannot be written, None when nothing speaks against it.

    Both the folder and the error that came of using it are looked at: neither alone tells all.
    """
    text = str(error).lower() if error else ""
    existing = next(place for place in (folder, *folder.parents) if place.exists())
    if shutil.disk_usage(existing).free < LEAST_FREE_BYTES or any(sign in text for sign in _FULL):
        return f"the disk that holds {folder} is full; free some space"
    if any(sign in text for sign in _CLOSED):
        return f"{folder} cannot be written; correct its owner and mode"
    return None
