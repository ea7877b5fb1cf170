"""Chroma's folder on the disk: what may be opened, and what is set aside before anybody opens it.

A damaged index can end the process that queries it, without an exception. So whoever opens the folder leaves notes
beside it: Python's fault handler writes one when native code crashes, and a folder with such a note is never opened
again.
"""

import os
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import quote

from search.vectors.endings import forget_endings
from search.vectors.index_problems import IndexUnavailable, folder_problem
from search.vectors.vector_index import OUR_PREFIX

REASON_NAME = "why-set-aside.txt"
MOST_OPENINGS = 3
MOST_SET_ASIDE = 5
_EMBEDDING_CODE = ("onnxruntime", "tokenizers", "search/vectors/embedders", "search/vectors/indexer")


@dataclass(frozen=True, slots=True)
class SetAside:
    """A folder that was taken out of use, and why."""

    path: Path
    reason: str


class IndexFolder:
    """Chroma's folder in a data folder, and the notes beside it. Only for the owner of the lock."""

    def __init__(self, data_dir: Path) -> None:
        self.path = data_dir / "chroma"
        self.damage_note = data_dir / "chroma.damage"
        self._openings = data_dir / "chroma.opening"

    def make_ready(self) -> SetAside | None:
        """Leave a folder that may be opened, and set aside what may not; raise IndexUnavailable when that fails."""
        reason = no_folder(self.path) or self._noted_damage() or self._foreign_content() or self._failed_openings()
        aside = self.set_aside(reason) if reason and os.path.lexists(self.path) else None
        self.damage_note.unlink(missing_ok=True)
        try:
            self.path.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise IndexUnavailable(f"{self.path} cannot be made ({error.strerror})") from error
        if problem := folder_problem(self.path):
            raise IndexUnavailable(problem)
        if unwritable := next((one for one in _files(self.path) if not os.access(one, os.W_OK)), None):
            raise IndexUnavailable(f"{unwritable} cannot be written; correct its owner and mode")
        return aside

    def identity(self) -> tuple[tuple[int, int] | None, ...]:
        """Return what tells this folder and its database from others that are put in their place; None for one gone."""
        return tuple(_inode(path) for path in (self.path, self.path / "chroma.sqlite3"))

    def note_damage(self, reason: str, detail: str = "") -> None:
        """Leave word that the folder must not be opened again; `detail` is kept with it in a line of its own."""
        self.damage_note.write_text("\n".join(filter(None, (reason, detail))), encoding="utf-8")

    def note_opening(self) -> None:
        """Count that the folder is being opened; `note_opened` ends it."""
        self._openings.write_text(str(self._count_openings() + 1), encoding="ascii")

    def note_opened(self) -> None:
        self._openings.unlink(missing_ok=True)

    def set_aside(self, note: str) -> SetAside:
        """Rename the folder, with the note in it; raise IndexUnavailable when that is not possible or is no use.

        The reason is the first line of the note.
        """
        reason = note.partition("\n")[0]
        recent = datetime.now(UTC) - timedelta(hours=1)
        damaged = [one for one in set_aside_folders(self.path.parent) if _time_of(one.path) >= recent]
        if len(damaged) >= MOST_SET_ASIDE:
            raise IndexUnavailable(
                f"the vector index was damaged {len(damaged)} times within an hour ({reason});"
                " when the cause is gone, run: memweb index rebuild --only vectors"
            )
        target = self.path.with_name(f"chroma.damaged-{datetime.now(UTC):%Y%m%dT%H%M%S%f}")
        try:
            self.path.rename(target)
        except OSError as error:
            raise IndexUnavailable(
                f"{self.path} is damaged ({reason}) and cannot be renamed ({error.strerror}); move it away"
            ) from error
        if no_folder(target) is None:
            with suppress(OSError):  # the folder is out of the way, which is what matters
                _write_new(target / REASON_NAME, note + "\n")
        self.note_opened()
        return SetAside(target, reason)

    def remove(self) -> None:
        """Remove the folder and its notes, to begin anew without reading anything of it."""
        self.damage_note.unlink(missing_ok=True)
        forget_endings(self.path.parent)
        self.note_opened()
        if no_folder(self.path) or not self.path.exists():
            return  # what is no folder of ours is set aside by `make_ready`
        doomed = self.path.with_name("chroma.removed")
        try:
            _discard(doomed)
            self.path.rename(doomed)
        except OSError as error:
            raise IndexUnavailable(f"{self.path} cannot be removed ({error.strerror})") from error
        _discard(doomed)

    def compact(self) -> None:
        """Give what Chroma's database no longer needs back to the disk. For a folder that nobody has open."""
        database = self.path / "chroma.sqlite3"
        if database.exists():
            with closing(sqlite3.connect(database)) as connection:
                connection.execute("VACUUM")

    def _noted_damage(self) -> str | None:
        if not self.damage_note.exists():
            return None
        text = self.damage_note.read_text(encoding="utf-8", errors="replace").strip()
        _, is_crash, rest = text.partition("Fatal Python error: ")
        if not is_crash:
            return text or None
        current = rest.partition("Current thread")[2].partition("\n\n")[0]
        if any(sign in current for sign in _EMBEDDING_CODE):
            return None  # a crash while embedding says nothing about the index
        return f"native code crashed: {rest.splitlines()[0].strip()}"

    def _failed_openings(self) -> str | None:
        count = self._count_openings()
        return f"the process ended {count} times while it opened the index" if count >= MOST_OPENINGS else None

    def _count_openings(self) -> int:
        try:
            return int(self._openings.read_text(encoding="ascii"))
        except (OSError, ValueError):
            return 0

    def _foreign_content(self) -> str | None:
        """Return what in the folder is not ours. Read with sqlite3, because Chroma would change what it opens."""
        if not self.path.is_dir():
            return None
        database = self.path / "chroma.sqlite3"
        try:
            if not any(self.path.iterdir()):
                return None
            if not database.exists():
                return "it holds files that are not Chroma's"
            # Opened for writing, because what a killed process left half written can only then be rolled back.
            with closing(sqlite3.connect(f"file:{quote(str(database))}?mode=rw", uri=True, timeout=5)) as connection:
                names = [row[0] for row in connection.execute("SELECT name FROM collections")]
        except OSError as error:
            raise IndexUnavailable(f"{self.path} cannot be read ({error.strerror})") from error
        except sqlite3.DatabaseError as error:
            if problem := folder_problem(self.path, error):
                raise IndexUnavailable(problem) from error
            if "no such table" in str(error):
                return "its format is older or newer than this version's, or writing was interrupted"
            return f"chroma.sqlite3 is damaged: {error}"
        foreign = sorted(name for name in names if not name.startswith(OUR_PREFIX))
        return f"it belongs to another program: collection {', '.join(foreign)}" if foreign else None


def set_aside_folders(data_dir: Path) -> list[SetAside]:
    """Return the folders that were set aside, oldest first."""
    found = []
    for path in sorted(data_dir.glob("chroma.damaged-*")):
        found.append(SetAside(path, no_folder(path) or _reason_in(path) or "reason unknown"))
    return found


def no_folder(path: Path) -> str | None:
    """Return what stands in the place of Chroma's folder instead of a folder; None when it is one, or nothing is there.

    A link would let two memwebs open one folder, each with a lock of its own.
    """
    if path.is_symlink():
        return "it is a link, and Chroma's folder must be one itself"
    if path.exists() and not path.is_dir():
        return "it is a file, not a folder"
    return None


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _reason_in(folder: Path) -> str:
    """Return the reason that was left in a folder; empty where none can be read. Follows no link, waits for no pipe."""
    try:
        descriptor = os.open(folder / REASON_NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(descriptor, encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - it is open already
            return file.read(1000).strip().partition("\n")[0] if stat.S_ISREG(os.fstat(descriptor).st_mode) else ""
    except OSError:
        return ""


def _write_new(path: Path, text: str) -> None:
    """Write a file in the place of whatever is there: the folder may come from anywhere, with a link of that name."""
    path.unlink(missing_ok=True)
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


def _discard(path: Path) -> None:
    """Remove what is there, a folder with all in it; what a link points to stays."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    else:
        shutil.rmtree(path, ignore_errors=True)


def _time_of(path: Path) -> datetime:
    try:
        return datetime.strptime(path.name.rpartition("-")[2], "%Y%m%dT%H%M%S%f").replace(tzinfo=UTC)
    except ValueError:
        return datetime.min.replace(tzinfo=UTC)


def _files(folder: Path) -> Iterator[Path]:
    yield folder
    yield from folder.rglob("*")
