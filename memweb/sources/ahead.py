"""Reads a large source in a process of its own: it reads, cleans, hashes and analyses one batch while the importer
writes the one before. Python alone would do one after the other.

The process is reading_process.py; it never touches memweb's database.
"""

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from django.conf import settings

from memweb.sources.preparing import Batch
from memweb.sources.records import Reader, ReadOptions, SourceError
from memweb.sources.report import Tally

# Below this the start of a process costs more than it saves.
ROWS_WORTHWHILE = 10_000


class ReaderAhead:
    """Stands for a reader that was opened and closed again, and reads in another process what that one would."""

    def __init__(self, reader: Reader, path: Path, source: str, options: ReadOptions) -> None:
        self.format = reader.format
        self.location = reader.location
        self.tally = Tally()
        self._total = reader.total()
        self._request = {"path": str(path), "source": source, "include_noise": options.include_noise}
        self._process: subprocess.Popen[bytes] | None = None
        self._taking: ThreadPoolExecutor | None = None

    def total(self) -> int | None:
        return self._total

    def batches(self, with_terms: bool) -> Iterator[Batch]:
        """Yield what `prepared_batches` yields; raises SourceError as the reader would."""
        environment = {
            **os.environ,
            "DJANGO_SETTINGS_MODULE": str(settings.SETTINGS_MODULE),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        self._process = subprocess.Popen(  # noqa: S603 - this very program
            [
                sys.executable,
                "-P",  # the current folder may hold anything
                "-m",
                "memweb.sources.reading_process",
                json.dumps({**self._request, "with_terms": with_terms}),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            env=environment,
        )
        # The next message is taken in while SQLite writes the one before, for which it needs no Python.
        self._taking = ThreadPoolExecutor(1, thread_name_prefix="import")
        following = self._taking.submit(self._message)
        while True:
            try:
                message = following.result()
            except (EOFError, pickle.UnpicklingError) as error:
                code = self._process.wait()
                raise SourceError(
                    f"the process that reads {self.location} ended before its time (exit code {code});"
                    " what was imported so far stays, importing again continues"
                ) from error
            if isinstance(message, SourceError):
                raise message
            batch, self.tally = message
            if batch is None:
                return
            following = self._taking.submit(self._message)
            yield batch

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
        if self._taking is not None:
            # With the process ends what the thread waits for.
            self._taking.shutdown(cancel_futures=True)
            self._taking = None
        if self._process is not None:
            if self._process.stdout:
                self._process.stdout.close()
            self._process.wait()
            self._process = None

    def _message(self) -> Any:
        assert self._process is not None and self._process.stdout is not None  # noqa: S101 - stdout is a pipe
        return pickle.load(self._process.stdout)  # noqa: S301 - written by this very program


def pays_off(rows: int | None) -> bool:
    """Return whether a source is so large, and the machine such, that reading ahead saves time."""
    return rows is not None and rows >= ROWS_WORTHWHILE and (os.cpu_count() or 1) > 1
