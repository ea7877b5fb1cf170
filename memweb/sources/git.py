"""Reads the history of a git repository: every commit becomes an observation of its author.

Only `git` itself is run, without a shell, on the commits that HEAD reaches. Nothing that a repository may configure is
executed: no signature program, no pager, no external diff, no fetch.
"""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, ClassVar

from memweb.memories.kinds import Kind
from memweb.memories.models import TimeQuality
from memweb.sources.cleaning import clean_text
from memweb.sources.keys import identity_key
from memweb.sources.records import ObservationRecord, ReadOptions, Record, SessionRecord, SessionRef, SourceError
from memweb.sources.report import Tally
from memweb.sources.times import LATEST, Moment

PLATFORM = "git"
MOST_COMMITS = 50_000
MOST_FILES = 500
LONGEST_BODY = 100_000
TYPES = {"fix": "bugfix", "feat": "feature", "refactor": "refactor", "perf": "refactor"}
_PREFIX = re.compile(r"(?P<word>[A-Za-z]+)(?:\((?P<scope>[^()]{1,60})\))?!?:\s")
# Words before a colon that are conventional; any other ("Note: ...") is part of an ordinary subject.
_CONVENTIONAL = {*TYPES, "build", "chore", "ci", "docs", "revert", "style", "test"}
_SAFE = (
    "--no-pager",
    *("-c", "core.quotePath=false"),
    *("-c", "core.fsmonitor=false"),
    *("-c", "i18n.logOutputEncoding=UTF-8"),
    *("-c", "protocol.allow=never"),
)
# Each commit begins with an empty field: file names are never empty, so that is where the names before it end.
_FORMAT = "%x00%H%x00%an%x00%at%x00%s%x00%b%x00"
_TIMEOUT = 60


class GitHistory:
    """The history of one repository, oldest commit first. Raises SourceError when there is none to read."""

    format: ClassVar[str] = "git"

    def __init__(self, path: Path, options: ReadOptions | None = None) -> None:
        self.tally = Tally()
        self._path = path
        answer = self._ask("rev-parse", "--git-common-dir", "--is-shallow-repository")
        common, shallow = answer.strip().split("\n")
        folder = (self._folder() / common).resolve()
        # A worktree is part of its main repository, not a project of its own.
        root = folder.parent if folder.name == ".git" else folder
        self.location = str(root)
        self.project = clean_text(root.name.removesuffix(".git"))
        if shallow == "true":
            self.tally.warn("the repository is a shallow clone: older commits are not in it")
        try:
            count = int(self._ask("rev-list", "--count", "HEAD", "--"))
        except SourceError:
            count = 0  # a repository without a commit
        if count > MOST_COMMITS:
            self.tally.warn(f"of {count:,} commits the newest {MOST_COMMITS:,} are read")
        self._total = min(count, MOST_COMMITS)
        self._process: subprocess.Popen[bytes] | None = None

    def total(self) -> int:
        return self._total

    def records(self) -> Iterator[Record]:
        sessions: set[SessionRef] = set()
        for fields, files in self._commits() if self._total else ():
            record = self._observation(fields, files)
            if record.session not in sessions:
                sessions.add(record.session)
                day = record.moment.at
                yield SessionRecord(
                    row=f"session/{record.session.content_id}",
                    ref=record.session,
                    project=self.project,
                    title=f"{record.agent}, {day:%Y-%m-%d}" if day else record.agent,
                    status="completed",
                    started_at=day,
                )
            yield record

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            if self._process.stdout:
                self._process.stdout.close()
            self._process = None

    def _observation(self, fields: list[str], files: list[str]) -> ObservationRecord:
        commit, author, epoch, subject, body = map(clean_text, fields)
        moment = _moment(epoch)
        day = f"{moment.at:%Y-%m-%d}" if moment.at else "unknown"
        match = _PREFIX.match(subject)
        word = match["word"].lower() if match else ""
        word = word if word in _CONVENTIONAL else ""
        labels = [word, match["scope"] if match else None] if word else []
        extra: dict[str, object] = {"commit": commit}
        if len(files) > MOST_FILES:
            extra["files_left_out"] = len(files) - MOST_FILES
            self.tally.note(
                "skipped", "observation", f"files of a commit beyond {MOST_FILES}", f"{commit[:12]} {subject}"
            )
        if moment.at is None:
            self.tally.note("time", "observation", "no usable time", f"{commit[:12]}: {epoch}")
        return ObservationRecord(
            row=commit,
            key=identity_key(self.format, Kind.OBSERVATION, commit),
            project=self.project,
            session=SessionRef(PLATFORM, f"{self.project}:{author}:{day}"),
            moment=moment,
            agent=author,
            type=TYPES.get(word, "change"),
            title=subject,
            narrative=body.strip()[:LONGEST_BODY],
            concepts=[label.strip() for label in labels if label and label.strip()],
            files_modified=[name for name in map(clean_text, files[:MOST_FILES]) if name],
            extra=extra,
        )

    def _commits(self) -> Iterator[tuple[list[str], list[str]]]:
        """Yield the five fields of each commit and the names of its files."""
        with tempfile.TemporaryFile() as errors:
            self._process = subprocess.Popen(  # noqa: S603 - a fixed program with fixed options
                [
                    *self._git(),
                    "log",
                    "-z",
                    "--reverse",
                    f"--max-count={MOST_COMMITS}",
                    "--name-only",
                    "--no-renames",
                    "--no-ext-diff",
                    "--no-textconv",
                    "--no-show-signature",
                    "--no-color",
                    f"--format={_FORMAT}",
                    "HEAD",
                    "--",
                ],
                stdout=subprocess.PIPE,
                stderr=errors,
                stdin=subprocess.DEVNULL,
                env=_environment(),
            )
            assert self._process.stdout is not None  # noqa: S101 - stdout is a pipe
            yield from _parse(_tokens(self._process.stdout))
            if self._process.wait():
                errors.seek(0)
                raise self._failure(errors.read(2000))

    def _ask(self, *arguments: str) -> str:
        try:
            done = subprocess.run(  # noqa: S603 - a fixed program with fixed options
                [*self._git(), *arguments],
                capture_output=True,
                stdin=subprocess.DEVNULL,
                env=_environment(),
                timeout=_TIMEOUT,
                check=False,
            )
        except FileNotFoundError as error:
            raise SourceError("git is not installed; install it, or import another source") from error
        except subprocess.TimeoutExpired as error:
            raise SourceError(f"git did not answer for {self._path} within {_TIMEOUT} seconds") from error
        if done.returncode:
            raise self._failure(done.stderr)
        return done.stdout.decode("utf-8", "replace")

    def _git(self) -> list[str]:
        return ["git", "-C", str(self._folder()), *_SAFE]

    def _folder(self) -> Path:
        return self._path if self._path.is_dir() else self._path.parent

    def _failure(self, errors: bytes) -> SourceError:
        said = errors.decode("utf-8", "replace").strip().split("\n")[0]
        return SourceError(f"{self._path} cannot be read as a git repository: {said or 'git failed'}")


def is_repository(path: Path) -> bool:
    """Return whether a folder is the top of a working copy, a worktree, or a bare repository."""
    return (path / ".git").exists() or all((path / name).exists() for name in ("HEAD", "objects", "refs"))


def _environment() -> dict[str, str]:
    """Return the environment for git: not that of a hook we may run in, no question, no lock, no fetch."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**kept, "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}


def _moment(epoch: str) -> Moment:
    """Return the time of a commit; git says seconds, and commits may be older than any agent."""
    seconds = int(epoch) if epoch.isdigit() else 0
    if not 0 < seconds < LATEST.timestamp():
        return Moment(None, TimeQuality.UNKNOWN, "no usable time")
    return Moment(datetime.fromtimestamp(seconds, UTC), TimeQuality.EXACT)


def _tokens(stream: IO[bytes]) -> Iterator[str]:
    """Yield the NUL-ended pieces of git's output."""
    rest = b""
    while block := stream.read(1 << 16):
        *pieces, rest = (rest + block).split(b"\0")
        for piece in pieces:
            yield piece.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")


def _parse(tokens: Iterator[str]) -> Iterator[tuple[list[str], list[str]]]:
    token = next(tokens, None)
    while token is not None:
        fields = [next(tokens, "") for _ in range(5)]
        next(tokens, None)  # the end of the message
        files: list[str] = []
        while token := next(tokens, None):
            files.append(token if files else token.removeprefix("\n"))
        yield fields, files
