"""Care of the vector index from outside of the process that holds it: counts, and what may be asked of its owner."""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection

from memweb.memories.kinds import Kind
from memweb.memories.models import memory_model
from search.models import EmbeddingModel, EmbeddingTask
from search.vectors.coverage import coverage
from search.vectors.endings import crash_loop
from search.vectors.index_problems import IndexUnavailable
from search.vectors.index_state import (
    Action,
    IndexState,
    Phase,
    clear_request,
    leave_request,
    pending_request,
    read_state,
)
from search.vectors.ownership import Owner, index_owner

# So long an index may be unavailable before a command gives up: a new process needs a few seconds to begin.
PATIENCE, PATIENCE_WITHOUT_HOPE = 60.0, 2.5
# So long nobody may hold the index that another process held: it may be starting a new one for a request.
PATIENCE_WITHOUT_OWNER = 10.0

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class VectorStatus:
    """How much is embedded, and how much of it the index holds.

    `vectors` counts stored vectors; a long memory has several. `in_chroma`, `missing` and `ghosts` are those of the
    index, None when nobody has counted yet. `owner` is empty when no process holds the index: the counts then are what
    the last one left. `problem` says why searches do without the index. `next_model` is the one that will be searched
    instead when all is embedded by it.
    """

    model: str | None
    memories: int
    embedded: int
    waiting: int
    nothing_to_embed: int
    vectors: int
    in_chroma: int | None
    missing: int | None
    ghosts: int | None
    owner: str
    problem: str | None
    embedding_problem: str | None
    next_model: str | None = None
    next_embedded: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a request: the state of the index afterwards, or the owner who was asked and will see to it."""

    state: IndexState | None
    asked: Owner | None = None
    was_damaged: str | None = None


def vector_status() -> VectorStatus:
    """Return all counts. Opens no index: what its owner says of it is set right by what the rows say now."""
    model = EmbeddingModel.objects.filter(is_searched=True).first()
    embedded = nothing = vectors = 0
    if model is not None:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FILTER (WHERE chunk = 0 AND length(vector) > 0),"
                " count(*) FILTER (WHERE chunk = 0 AND length(vector) = 0), count(*) FILTER (WHERE length(vector) > 0)"
                " FROM search_embedding WHERE model_id = %s",
                [model.pk],
            )
            embedded, nothing, vectors = cursor.fetchone()
    known = coverage()
    owner = index_owner(settings.DATA_DIR)
    state = read_state(settings.DATA_DIR)
    held, missing, ghosts = _compared(state, model, vectors)
    return VectorStatus(
        model=model.name if model else None,
        memories=sum(memory_model(kind).objects.count() for kind in Kind),
        embedded=embedded,
        waiting=EmbeddingTask.objects.count(),
        nothing_to_embed=nothing,
        vectors=vectors,
        in_chroma=held,
        missing=missing,
        ghosts=ghosts,
        owner=str(owner) if owner else "",
        problem=crash_loop(settings.DATA_DIR) or _told_problem(state, owner),
        embedding_problem=state.embedding if state and owner else None,
        next_model=known.next_model,
        next_embedded=known.next_embedded,
    )


def health_problem() -> str | None:
    """Return in words that may be shown to anybody why searches do without the index; asks no database."""
    if loop := crash_loop(settings.DATA_DIR):
        return loop
    owner = index_owner(settings.DATA_DIR)
    is_usable = _told_problem(read_state(settings.DATA_DIR), owner) is None
    return None if is_usable else "the vector index cannot be used now"


def ask_owner(action: Action, purpose: str, progress: Progress, *, waits: bool = False) -> Outcome:
    """Have something done to the index: by the process that holds it, else by one that is started for it here.

    Where another process holds it the request is left with it; `waits` waits until it was carried out. Raises
    IndexUnavailable when it cannot be.
    """
    from search.vectors.chroma_client import VectorProcess

    data_dir: Path = settings.DATA_DIR
    before = read_state(data_dir)
    owner = index_owner(data_dir)
    leave_request(data_dir, action)
    if owner is not None:
        if not waits:
            return Outcome(None, owner)
        state = _follow(data_dir, action, _Others(data_dir, owner), progress)
        known = before.set_aside if before else None
        return Outcome(state, owner, state.set_aside if state.set_aside != known else None)
    process = VectorProcess(data_dir, purpose, embeds=False)
    process.start()
    damaged: list[str] = []

    def watch() -> IndexState:
        state = process.wait(0.2)
        if state.set_aside and state.set_aside not in damaged:
            damaged.append(state.set_aside)
        return state

    try:
        state = _follow(data_dir, action, watch, progress)
    except IndexUnavailable:
        with suppress(OSError):
            clear_request(data_dir)  # a later memweb would be surprised by it
        raise
    finally:
        process.stop()
    return Outcome(state, None, "; ".join(damaged) or None)


class _Others:
    """Looks at the state that another process tells, for as long as there is one."""

    def __init__(self, data_dir: Path, owner: Owner) -> None:
        self._data_dir = data_dir
        self._owner = owner
        self._held = time.monotonic()

    def __call__(self) -> IndexState | None:
        if index_owner(self._data_dir) is not None:
            self._held = time.monotonic()
        elif time.monotonic() - self._held > PATIENCE_WITHOUT_OWNER:
            clear_request(self._data_dir)
            raise IndexUnavailable(f"{self._owner}, which held the index, has ended meanwhile; run the command again")
        return read_state(self._data_dir)


def _follow(data_dir: Path, action: Action, look: Callable[[], IndexState | None], progress: Progress) -> IndexState:
    """Return the state once the request was carried out and the index is equal to the rows."""
    usable = hopeful = time.monotonic()
    while True:
        is_pending = pending_request(data_dir) is not None
        state = look()
        if state is not None and state.phase not in (Phase.UNAVAILABLE, Phase.STARTING):
            usable = time.monotonic()
            held, missing = state.held or 0, state.missing or 0
            if not is_pending and not missing and not state.ghosts and state.phase in (Phase.READY, Phase.EMPTY):
                return state
            if action is Action.CHECK and state.check and not missing:
                progress("vectors checked", state.check.done, state.check.total)
            else:
                progress("vectors", held, held + missing)
        elif time.monotonic() - usable > PATIENCE:
            raise IndexUnavailable((state and state.problem) or "the vector process does not start")
        if state is None or not state.needs_help:
            hopeful = time.monotonic()
        elif time.monotonic() - hopeful > PATIENCE_WITHOUT_HOPE:
            raise IndexUnavailable(state.problem or "the vector index is unavailable")
        time.sleep(0.1)


def _told_problem(state: IndexState | None, owner: Owner | None) -> str | None:
    """Return what the present owner of the index says is wrong with it."""
    return state.problem if state and owner and state.phase is Phase.UNAVAILABLE else None


def _compared(
    state: IndexState | None, model: EmbeddingModel | None, vectors: int
) -> tuple[int | None, int | None, int | None]:
    """Return how many vectors the index holds, lacks and has too many, as the rows are now."""
    if settings.CHROMA is None and not (settings.DATA_DIR / "chroma").exists():
        return 0, vectors, 0
    if state is None or state.held is None or (model is not None and state.model not in (None, model.name)):
        return None, None, None
    if model is None or state.model is None:
        return state.held, vectors, state.held
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM search_embedding WHERE model_id = %s AND id > %s AND length(vector) > 0",
            [model.pk, state.followed],
        )
        missing = cursor.fetchone()[0] + (state.missing or 0)
    # Of what is held, all but `vectors - missing` belongs to no row.
    return state.held, missing, max(state.held + missing - vectors, 0)
