"""One text for each forward pass, several passes at a time."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

Made = TypeVar("Made")


def usable_cores() -> int:
    """Return the number of processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Workers:
    """Threads that embed one text each.

    Measured on two cores, with texts of 100 tokens: passes of one thread each, two at a time, embed 54 texts a second;
    one pass of two threads at a time 45, with a fifth more work for the processor. See benchmarks/embedding_speed.py.
    """

    def __init__(self, threads: int | None = None) -> None:
        self._threads = threads or usable_cores()
        self._lock = Lock()
        self._pool: ThreadPoolExecutor | None = None

    def map(self, embed: Callable[[str], Made], texts: Sequence[str]) -> list[Made]:
        """Return what `embed` makes of each text, in their order."""
        if len(texts) < 2 or self._threads == 1:
            return [embed(text) for text in texts]
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="embed")
        # Long texts first: otherwise one thread would still be busy with a long one when all others are done.
        order = sorted(range(len(texts)), key=lambda number: -len(texts[number]))
        made = dict(zip(order, self._pool.map(embed, [texts[number] for number in order]), strict=True))
        return [made[number] for number in range(len(texts))]
