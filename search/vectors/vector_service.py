"""What the vector process does: embeds what is new, keeps the index equal to the rows, answers queries."""

import logging
import os
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from hashlib import blake2b
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from django.db import DatabaseError, connection

from search.models import EmbeddingModel
from search.vectors.embedding import Vectors
from search.vectors.failures import database_trouble
from search.vectors.index_problems import IndexDamaged, IndexUnavailable
from search.vectors.index_state import (
    Action,
    Check,
    IndexState,
    Phase,
    clear_request,
    pending_request,
    read_state,
    write_state,
)
from search.vectors.ownership import own_index
from search.vectors.reconciler import Counts, Reconciler
from search.vectors.vector_index import OUR_PREFIX, IndexStore

logger = logging.getLogger(__name__)

# The exit code that asks for a new process at once: the index has to be opened by one that has not touched it.
START_AGAIN = 75
STEP_SECONDS = 1.0
PAUSE_SECONDS = 0.5
SHORTEST_WAIT, LONGEST_WAIT = 1.0, 15.0
SECONDS_BETWEEN_PROBES = 60.0
# A step takes a second or two; opening an index of a million vectors takes ten.
STUCK_SECONDS = 120.0
# So long after a query more are expected.
SECONDS_OF_QUERIES = 3.0
# An index that lacks more than this part answers nothing; exact comparison does.
MOST_MISSING_WHILE_BUILDING, MOST_MISSING = 0.01, 0.05
# An answer that is shorter than it should be by more than this part is not believed.
LEAST_OF_ANSWER = 0.95
LONGEST_DETAIL = 500


class VectorService:
    """Serves one pipe. Three kinds of threads: the pipe's, one that keeps the index, one that embeds."""

    def __init__(self, pipe: Connection, data_dir: Path, store: IndexStore, purpose: str, *, embeds: bool) -> None:
        self._pipe = pipe
        self._data_dir = data_dir
        self._store = store
        self._purpose = purpose
        self._embeds = embeds
        self._sending = threading.Lock()
        self._updating = threading.RLock()
        self._ending = threading.Event()
        self._changed = threading.Event()
        self._exit_code = 0
        last = read_state(data_dir)
        self._known_collections = {last.collection} if last and last.collection else set()
        self._state = IndexState(Phase.STARTING, collection=last.collection if last else None, process_id=os.getpid())
        self._told = 0.0
        self._is_owner = False
        self._reconciler: Reconciler | None = None
        self._was_equal = False
        self._stepped = time.monotonic()
        self._check: Iterator[Check] | None = None
        self._suspicion: str | None = None
        self._damage: IndexDamaged | None = None
        self._probed = self._asked = float("-inf")

    def serve(self) -> int:
        """Answer until the pipe closes or the index needs another process; return the exit code."""
        self._tell()
        for work in (self._keep_index, *([self._embed] if self._embeds else [])):
            threading.Thread(target=work, daemon=True).start()
        threading.Thread(target=self._listen, daemon=True).start()
        while not self._ending.wait(PAUSE_SECONDS):
            if self._store.needs_new_process and time.monotonic() - self._stepped > STUCK_SECONDS:
                logger.error("Chroma has not come back for %d s", STUCK_SECONDS)
                self._end(START_AGAIN)
        return self._exit_code

    def _listen(self) -> None:
        with ThreadPoolExecutor(4) as pool:
            try:
                while True:
                    number, vector, limit = self._pipe.recv()
                    pool.submit(self._answer, number, vector, limit)
            except (EOFError, OSError):
                self._ending.set()

    def _answer(self, number: int, vector: Vectors, limit: int) -> None:
        answer: object
        try:
            answer = self.nearest(vector, limit)
        except IndexUnavailable as problem:
            answer = str(problem)
        except Exception:
            logger.exception("The vector process failed to answer")
            answer = "the vector process failed to answer"
        self._send((number, answer))

    def nearest(self, vector: Vectors, limit: int) -> list[tuple[int, float]]:
        """Return row ids with their cosine similarity, nearest first; raise IndexUnavailable."""
        reconciler, state = self._reconciler, self._state
        if reconciler is None or state.phase is not Phase.READY:
            raise IndexUnavailable(describe(state))
        if len(vector) != reconciler.model.dimension:
            raise IndexUnavailable(f"the vector index follows {state.model}, not yet the model of the question")
        self._asked = time.monotonic()
        try:
            [found] = reconciler.index.nearest(vector.reshape(1, -1), limit)
        except IndexDamaged as damage:
            self._damage = damage
            self._changed.set()
            raise IndexUnavailable(f"the vector index is damaged and is made anew ({damage})") from damage
        except IndexUnavailable as problem:
            self._suspicion = str(problem)
            self._changed.set()
            raise
        wanted = min(limit, reconciler.counts.held)
        if len(found) < LEAST_OF_ANSWER * wanted:
            self._suspicion = f"the vector index found {len(found)} of {wanted} vectors"
            self._changed.set()
            raise IndexUnavailable(self._suspicion)
        return found

    def _keep_index(self) -> None:
        """Hold, open, follow and mend the index for as long as the process lives."""
        wait = SHORTEST_WAIT
        with ExitStack() as ownership:
            while not self._ending.is_set():
                try:
                    if not self._is_owner:
                        # Kept until the process ends: an index that was opened once cannot be closed.
                        ownership.enter_context(own_index(self._data_dir, self._purpose))
                        self._is_owner = True
                    self._stepped = time.monotonic()
                    self._step()
                    wait = SHORTEST_WAIT
                    self._pause()
                    continue
                except IndexDamaged as damage:
                    self._lose(damage)
                except IndexUnavailable as problem:
                    self._close(str(problem), needs_help=True)
                    if self._store.needs_new_process:
                        # After a full disk, say, Chroma may wait for itself for ever; a new process does not.
                        self._end(START_AGAIN)
                except OSError as error:
                    self._close(
                        f"{error.filename or 'the data folder'} cannot be written ({error.strerror})", needs_help=True
                    )
                except DatabaseError as error:
                    logger.warning("The vector process cannot read the database: %s", error)
                    self._close(database_trouble(error))
                    connection.close()
                except Exception:
                    logger.exception("The vector process failed")
                    self._close("the vector process failed; what `memweb up` printed of it says more")
                self._ending.wait(wait)
                wait = min(2 * wait, LONGEST_WAIT)

    def _step(self) -> None:
        action = pending_request(self._data_dir)
        model = EmbeddingModel.objects.filter(is_searched=True).first()
        followed = self._reconciler.model if self._reconciler else None
        if action in (Action.REBUILD, Action.OPTIMIZE):
            if self._store.needs_new_process:
                self._end(START_AGAIN)  # the next process finds the request before it opens anything
                return
            self._reconciler = None
        if model is None or followed is None or collection_name(model) != collection_name(followed):
            self._reconciler = None
        if self._reconciler is None:
            self._open(model, action)
        if self._reconciler is None:
            return
        if not self._store.is_in_place():
            self._close("the folder of the vector index was removed or replaced during use; it is opened anew")
            self._end(START_AGAIN)
            return
        if self._damage:
            raise IndexDamaged(str(self._damage)) from self._damage.__cause__
        if self._suspicion and time.monotonic() - self._probed > SECONDS_BETWEEN_PROBES:
            self._probed = time.monotonic()
            self._reconciler.probe()
            self._suspicion = None
        self._reconciler.is_queried = time.monotonic() - self._asked < SECONDS_OF_QUERIES
        self._show(self._reconciler.reconcile(STEP_SECONDS))
        self._continue_check(action)

    def _open(self, model: EmbeddingModel | None, action: Action | None) -> None:
        aside = self._store.prepare(action)
        if aside:
            logger.warning("Set the vector index aside, it is made anew from the stored vectors: %s", aside)
        self._damage, self._suspicion, self._check = None, None, None
        self._update(set_aside=aside or self._state.set_aside, check=None)
        if model is None:
            self._store.note_opened()
            clear_request(self._data_dir)
            self._update(phase=Phase.EMPTY, problem=None, needs_help=False, model=None, held=0, missing=0, ghosts=0)
            return
        name = collection_name(model)
        others = {collection_name(one) for one in EmbeddingModel.objects.exclude(pk=model.pk)}
        index = self._store.open(name, model.name, sorted(others | self._known_collections - {name}))
        if action in (Action.REBUILD, Action.OPTIMIZE):
            clear_request(self._data_dir)
        reconciler = Reconciler(index, model)
        reconciler.look()
        reconciler.probe()
        self._store.note_opened()
        self._was_equal = False
        self._reconciler = reconciler
        self._known_collections = {name}
        self._update(problem=None, needs_help=False, model=model.name, collection=name)

    def _show(self, counts: Counts) -> None:
        share = counts.missing / max(counts.held + counts.missing, 1)
        allowed = MOST_MISSING if self._was_equal else MOST_MISSING_WHILE_BUILDING
        self._was_equal = share <= allowed
        self._update(
            phase=Phase.READY if self._was_equal else Phase.BUILDING,
            held=counts.held,
            missing=counts.missing,
            ghosts=counts.ghosts,
            followed=counts.followed,
            removals=counts.removals,
        )

    def _continue_check(self, action: Action | None) -> None:
        if action is Action.CHECK and self._check is None and self._reconciler is not None:
            self._check = self._reconciler.check()
            self._update(check=None)
        if self._check is None:
            return
        end = time.monotonic() + STEP_SECONDS
        while time.monotonic() < end:
            try:
                found = next(self._check, None)
            except IndexDamaged:
                clear_request(self._data_dir)
                raise
            if found is None:
                self._check = None
                self._update(check=self._state.check or Check(0))
                clear_request(self._data_dir)
                return
            self._update(check=found)

    def _lose(self, damage: IndexDamaged) -> None:
        """Make sure that the damaged index is not opened again, and begin a new one."""
        reason, detail = str(damage), " ".join(str(damage.__cause__ or "").split())[:LONGEST_DETAIL]
        if detail:
            logger.warning("Chroma says of the damaged index: %s", detail)
        self._close(f"the vector index is damaged and is made anew ({reason})")
        with suppress(OSError):  # a full disk is told of when the next process looks at the folder
            self._store.condemn(reason, detail)
        if self._store.needs_new_process:
            self._end(START_AGAIN)

    def _close(self, problem: str, *, needs_help: bool = False) -> None:
        if problem != self._state.problem:
            logger.warning("Search by meaning does without its index: %s", problem)
        self._reconciler = None
        self._check = None
        self._update(phase=Phase.UNAVAILABLE, problem=problem, needs_help=needs_help)

    def _end(self, exit_code: int) -> None:
        self._exit_code = exit_code
        self._ending.set()

    def _pause(self) -> None:
        """Wait a moment when there is nothing to do."""
        state = self._state
        if not (state.missing or state.ghosts or self._check):
            self._changed.wait(PAUSE_SECONDS)
        self._changed.clear()

    def _embed(self) -> None:
        """Embed what is new, with low priority, so that pages and queries come first."""
        from search.closets.upkeep import ClosetKeeper
        from search.vectors.embedding import EmbedderUnavailable, current_embedder
        from search.vectors.indexer import Indexer

        if sys.platform == "linux":  # where threads have priorities of their own
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 10)
        indexer: Indexer | None = None
        closets: ClosetKeeper | None = None
        while not self._ending.is_set():
            problem, wait = None, 0.0
            try:
                indexer = indexer or Indexer(current_embedder())
                done = indexer.run(STEP_SECONDS)
                if done.embedded or done.reused or done.removed:
                    self._changed.set()
                if done.is_complete:
                    closets = closets or ClosetKeeper(current_embedder())
                    wait = PAUSE_SECONDS if closets.run(STEP_SECONDS).is_complete else 0.0
            except EmbedderUnavailable as error:
                problem, wait = str(error), 15.0
            except DatabaseError as error:
                logger.warning("Vectors cannot be stored: %s", error)
                problem, wait = f"vectors cannot be stored: {database_trouble(error)}", 5.0
                connection.close()
            except Exception:
                logger.exception("Embedding failed")
                problem, wait = "embedding failed; what `memweb up` printed of it says more", 30.0
            if problem:
                indexer = closets = None
            self._update(embedding=problem)
            self._ending.wait(wait)

    def _update(self, **changes: Any) -> None:
        """Change the state and tell of it: of turns and ends at once, of progress now and then."""
        with self._updating:
            old, self._state = self._state, replace(self._state, **changes)
            state = self._state
            if state == old:
                return
            is_turn = (state.phase, state.problem, state.embedding) != (old.phase, old.problem, old.embedding)
            is_checked = state.check is None or state.check.done == state.check.total
            is_end = not state.missing and not state.ghosts and is_checked
            if is_turn or is_end or time.monotonic() - self._told > PAUSE_SECONDS:
                self._tell()

    def _tell(self) -> None:
        self._told = time.monotonic()
        if self._is_owner:
            # Before it is sent: whoever waits for it may end this process as soon as it knows.
            try:
                write_state(self._data_dir, self._state)
            except OSError as error:
                logger.warning("The state of the vector index cannot be written: %s", error.strerror)
        self._send(self._state)

    def _send(self, message: object) -> None:
        try:
            with self._sending:
                self._pipe.send(message)
        except (OSError, ValueError):
            self._ending.set()


def collection_name(model: EmbeddingModel) -> str:
    """Return the name of the collection of one model of one database, which no other database uses."""
    identity = f"{model.name}\n{model.dimension}\n{model.created_at.isoformat()}"
    return OUR_PREFIX + blake2b(identity.encode(), digest_size=8).hexdigest()


def describe(state: IndexState) -> str:
    """Return in words what the index does."""
    match state.phase:
        case Phase.READY:
            return "the vector index is in step"
        case Phase.EMPTY:
            return "there are no vectors yet"
        case Phase.BUILDING:
            held, missing = state.held or 0, state.missing or 0
            return f"the vector index is being built ({held:,} of {held + missing:,} vectors)"
        case Phase.STARTING:
            return "the vector index is being opened"
    return state.problem or "the vector index is unavailable"
