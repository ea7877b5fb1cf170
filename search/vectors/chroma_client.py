"""The parent's side of the vector process: starts it, asks it, notices its death, starts it again."""

import itertools
import logging
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import deque
from concurrent.futures import CancelledError, Future
from concurrent.futures import TimeoutError as FutureTimeout
from contextlib import closing, suppress
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

from search.vectors.embedding import Vectors
from search.vectors.endings import crash_loop, note_ending
from search.vectors.index_folder import IndexFolder
from search.vectors.index_state import IndexState, Phase
from search.vectors.nearest import BroadIndexUnavailable
from search.vectors.vector_service import START_AGAIN, describe

logger = logging.getLogger(__name__)

QUERY_SECONDS = 1.5
MOST_WAITING = 32
# After so many answers in a row that did not come in time, the process counts as stuck and is replaced.
MOST_LATE = 3
SECONDS_TO_END = 3.0
SHORTEST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
# A process may ask for another one to begin with a new index, but not so often within so many seconds.
MOST_RESTARTS, SECONDS_OF_RESTARTS = 8, 120.0
_CRASHES = {signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP}


class VectorProcess:
    """One vector process after another. Every method may be called from any thread.

    `embeds`: whether it also embeds what is new. `purpose` is what others are told who want the index meanwhile.
    """

    def __init__(self, data_dir: Path, purpose: str, *, embeds: bool) -> None:
        self._data_dir = data_dir
        self._embeds = embeds
        self._arguments = [purpose, "embed" if embeds else "follow"]
        self._lock = threading.Lock()
        self._ending = threading.Event()
        self._changed = threading.Condition()
        self._state = IndexState(Phase.STARTING)
        self._pipe: Connection | None = None
        self._socket: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting: dict[int, Future[object]] = {}
        self._numbers = itertools.count(1)
        self._late = 0
        self._was_ready = False
        self._restarts: deque[float] = deque(maxlen=MOST_RESTARTS)
        self._supervisor = threading.Thread(target=self._supervise, name="vector process", daemon=True)

    @property
    def state(self) -> IndexState:
        """What the process said last of itself and the index."""
        return self._state

    @property
    def process_id(self) -> int | None:
        """The process that runs now, None between two."""
        process = self._process
        return process.pid if process and process.poll() is None else None

    def start(self) -> None:
        """Start the process in the background; returns at once."""
        self._supervisor.start()

    def stop(self) -> None:
        """End the process; returns when it is gone, after a few seconds at most."""
        self._ending.set()
        self._close_pipe()
        process = self._process
        if process is not None:
            try:
                process.wait(SECONDS_TO_END)
            except subprocess.TimeoutExpired:
                process.kill()
        if self._supervisor.is_alive():
            self._supervisor.join(SECONDS_TO_END)

    def nearest(self, vector: Vectors, limit: int) -> list[tuple[int, float]]:
        """Return the ids of the nearest embeddings with their cosine distance, nearest first.

        Raises BroadIndexUnavailable, at once when the process is not ready or dies, else after QUERY_SECONDS.
        """
        if self._state.phase is not Phase.READY:
            raise BroadIndexUnavailable(describe(self._state))
        number, future = next(self._numbers), Future[object]()
        try:
            with self._lock:
                if self._pipe is None or len(self._waiting) >= MOST_WAITING:
                    raise BroadIndexUnavailable("the vector process is busy" if self._pipe else describe(self._state))
                self._waiting[number] = future
                self._pipe.send((number, np.asarray(vector, np.float32), limit))
            answer = future.result(QUERY_SECONDS)
        except FutureTimeout:
            self._note_late()
            raise BroadIndexUnavailable(f"the vector index did not answer within {QUERY_SECONDS} s") from None
        except (OSError, CancelledError):
            raise BroadIndexUnavailable("the vector process ended while it searched; it is started again") from None
        finally:
            self._waiting.pop(number, None)
        self._late = 0
        if isinstance(answer, str):
            raise BroadIndexUnavailable(answer)
        return [(id, 1 - similarity) for id, similarity in answer]  # type: ignore[attr-defined]

    def wait(self, seconds: float) -> IndexState:
        """Return the state when it changes, or after so many seconds."""
        with self._changed:
            self._changed.wait(seconds)
        return self._state

    def _supervise(self) -> None:
        pause = SHORTEST_PAUSE
        while not self._ending.is_set():
            self._was_ready = False
            try:
                code = self._run()
            except OSError as error:
                code = None
                self._show(IndexState(Phase.UNAVAILABLE, f"the vector process cannot be started ({error.strerror})"))
            if self._ending.is_set():
                return
            if code == START_AGAIN and self._may_restart():
                problem = self._state.problem or "the vector index is being made anew"
                self._show(replace(self._state, phase=Phase.UNAVAILABLE, problem=problem))
                continue
            if code is not None:
                self._note_end(code)
            if self._was_ready:
                pause = SHORTEST_PAUSE
            self._ending.wait(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _may_restart(self) -> bool:
        """Return whether a process may follow without a pause."""
        now = time.monotonic()
        is_too_often = len(self._restarts) == MOST_RESTARTS and now - self._restarts[0] < SECONDS_OF_RESTARTS
        self._restarts.append(now)
        return not is_too_often

    def _run(self) -> int:
        """Start a process, take in what it says until it ends, and return its exit code."""
        ours, its = socket.socketpair()
        with ours, closing(Connection(os.dup(ours.fileno()))) as pipe:
            with its:
                process = subprocess.Popen(  # noqa: S603 - this interpreter, without a shell
                    [sys.executable, "-P", "-m", "search.vectors.chroma_process", str(its.fileno()), *self._arguments],
                    stdin=subprocess.PIPE,  # closed when this process ends, however it ends
                    stdout=subprocess.DEVNULL,
                    pass_fds=[its.fileno()],
                    start_new_session=True,  # Ctrl-C is for this process, which then ends the other
                )
            with self._lock:
                self._process, self._pipe, self._socket, self._late = process, pipe, ours, 0
            if self._ending.is_set():
                process.kill()
            with suppress(EOFError, OSError):
                while True:
                    self._take(pipe.recv())
            self._close_pipe()
        try:
            return process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()
        finally:
            if process.stdin is not None:
                process.stdin.close()

    def _take(self, message: object) -> None:
        if isinstance(message, IndexState):
            self._was_ready = self._was_ready or message.phase is Phase.READY
            self._show(message)
        elif isinstance(message, tuple):
            number, answer = message
            future = self._waiting.get(number)
            if future is not None and not future.done():
                future.set_result(answer)

    def _close_pipe(self) -> None:
        """Close the pipe, which ends the process, and tell everybody who waits for an answer."""
        with self._lock:
            if self._socket is not None:
                with suppress(OSError):
                    self._socket.shutdown(socket.SHUT_RDWR)
            self._pipe = self._socket = None
            for future in list(self._waiting.values()):
                future.cancel()

    def _note_end(self, code: int) -> None:
        """Say that the process is gone, and leave word for the next one when native code crashed."""
        reason = f"exit code {code}"
        if code < 0:
            reason = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        level = logging.WARNING if self._embeds else logging.DEBUG  # a command tells in its own words
        logger.log(level, "The vector process ended (%s) and is started again", reason)
        if -code in _CRASHES:
            folder = IndexFolder(self._data_dir)
            with suppress(OSError):
                if not folder.damage_note.exists() or not folder.damage_note.stat().st_size:
                    folder.note_damage(f"native code crashed: {reason}")
        with suppress(OSError):  # on a full disk it is only logged
            note_ending(self._data_dir, reason)
        loop = crash_loop(self._data_dir)
        problem = loop or f"the vector process ended ({reason}); it is started again"
        self._show(IndexState(Phase.UNAVAILABLE, problem, needs_help=loop is not None, model=self._state.model))

    def _note_late(self) -> None:
        with self._lock:
            self._late += 1
            process = self._process
            is_stuck = self._late >= MOST_LATE
        if is_stuck and process is not None:
            process.kill()

    def _show(self, state: IndexState) -> None:
        with self._changed:
            self._state = state
            self._changed.notify_all()
