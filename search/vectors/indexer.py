"""Makes and removes stored vectors, as the queue asks for it.

Everything that is done is committed in small parts, and a task is removed in the transaction that finishes it. So the
work can be ended at any moment, kill -9 included, and the next run goes on where it was.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from django.db import connection, transaction

from memweb.memories.kinds import Kind
from memweb.memories.models import Memory, memory_model
from search.models import EmbeddingModel
from search.vectors.comparison import Key
from search.vectors.embedding import Embedder, States
from search.vectors.matrix import VectorMatrix, read_state
from search.vectors.queue import (
    Task,
    drop_unknown_tasks,
    ensure_queue,
    has_tasks,
    next_tasks,
    queue_everything,
    remove_tasks,
    text_columns,
)
from search.vectors.stored import (
    NewRow,
    StoredRow,
    hash_text,
    insert_row,
    read_rows,
    remove_rows,
    remove_some_of_model,
    replace_foreign_rows,
)
from search.vectors.texts import chunks_of, stored_name

# Tasks looked at together, most of which may need nothing, and texts embedded for one transaction: about a second.
TASKS_AT_ONCE = 256
TEXTS_AT_ONCE = 32
# Vectors kept in case that equal texts follow, such as prompts that are sent again and again.
_REMEMBERED = 512

NOTHING = ""


@dataclass(slots=True)
class Done:
    """What a run did: memories looked at, of these unchanged, without text or gone; texts embedded, and those that got
    the vector of an equal text; vectors removed. `is_complete`: nothing waits any more.
    """

    memories: int = 0
    unchanged: int = 0
    empty: int = 0
    gone: int = 0
    embedded: int = 0
    reused: int = 0
    removed: int = 0
    seconds: float = 0.0
    embedding_seconds: float = 0.0
    is_complete: bool = False

    @property
    def rate(self) -> float:
        """Texts embedded in a second, all other work included."""
        return self.embedded / self.seconds if self.seconds else 0.0


Progress = Callable[[Done], None]


@dataclass(frozen=True, slots=True)
class _Vector:
    """What is stored of an embedded text."""

    vector: bytes
    states: bytes | None


@dataclass(slots=True)
class _Work:
    """What a task comes to: rows that must go, and chunks that must be embedded."""

    task: Task
    is_gone: bool = False
    is_empty: bool = False
    stale: list[int] = field(default_factory=list)
    missing: list[tuple[int, str, bytes]] = field(default_factory=list)

    @property
    def key(self) -> Key:
        return self.task.kind, self.task.memory_id


class Indexer:
    """Keeps the vectors of one embedder's model equal to the memories. One at a time; rows of two do no harm."""

    def __init__(self, embedder: Embedder, progress: Progress | None = None) -> None:
        self._embedder = embedder
        self._progress = progress
        self._name = stored_name(embedder.name)
        self._remembered: OrderedDict[bytes, _Vector] = OrderedDict()
        self._model_id = 0
        self._matrix: VectorMatrix | None = None

    def run(self, limit_seconds: float | None = None) -> Done:
        """Do what waits, for about so many seconds (None: until nothing is left), and return what was done.

        Raises EmbedderUnavailable; what was done until then is kept.
        """
        started = time.monotonic()
        deadline = None if limit_seconds is None else started + limit_seconds
        done = Done()

        def tell() -> bool:
            """Note the time and return whether there is some left."""
            done.seconds = time.monotonic() - started
            if self._progress is not None:
                self._progress(done)
            return deadline is None or time.monotonic() < deadline

        self._begin()
        done.removed += self._refresh_matrix()
        while tasks := next_tasks(TASKS_AT_ONCE):
            self._do(tasks, done, tell)
            done.removed += self._refresh_matrix()
            if not tell():
                break
        else:
            done.is_complete = self._switch()
            for removed in self._remove_other_models():
                done.removed += removed
                if not tell():
                    break
            self._refresh_matrix()
        tell()
        return done

    def _begin(self) -> None:
        """See to it that the model is there and that the queue is meant for it."""
        width = self._embedder.state_width
        model = EmbeddingModel.objects.filter(name=self._name).first()
        if model is not None and model.pk == self._model_id:
            return
        ensure_queue()
        drop_unknown_tasks()
        shape = (self._embedder.dimension, width)
        is_other = model is None or (model.dimension, model.state_width) != shape
        # The queue knew what was to do for the model that was begun last, which may not be this one.
        is_abandoned = model and EmbeddingModel.objects.filter(is_searched=False, pk__gt=model.pk).exists()
        if is_other or is_abandoned:
            # In parts. Until all is queued the model is not noted, so a run after one that was killed begins again.
            queue_everything()
        with transaction.atomic():
            model, _ = EmbeddingModel.objects.update_or_create(
                name=self._name, defaults={"dimension": shape[0], "state_width": shape[1]}
            )
            if not EmbeddingModel.objects.filter(is_searched=True).exists():
                EmbeddingModel.objects.filter(pk=model.pk).update(is_searched=True)
        self._model_id = model.pk
        self._matrix = None

    def _refresh_matrix(self) -> int:
        """Bring the file of vectors up to date; replace rows that cannot be ours and return how many there were."""
        state = read_state(self._model_id, self._matrix.last_known if self._matrix else 0)
        if state is None:
            return 0
        if self._matrix is None or self._matrix.file_name != state.file_name:
            self._matrix = VectorMatrix(state)
        self._matrix.refresh(state)
        foreign = self._matrix.foreign
        return replace_foreign_rows(foreign) if foreign else 0

    def _do(self, tasks: Sequence[Task], done: Done, has_time: Callable[[], bool]) -> None:
        """Do the first of these tasks, as many as need no more than TEXTS_AT_ONCE texts, but one at least."""
        works = self._plan(tasks)
        pending = [(work, *chunk) for work in works for chunk in work.missing]
        finished = [work for work in works if not work.missing]
        parts = [pending[at : at + TEXTS_AT_ONCE] for at in range(0, len(pending), TEXTS_AT_ONCE)] or [[]]
        left = {id(work): len(work.missing) for work in works}
        for part in parts:
            before = done.embedded
            vectors = self._vectors({hash: text for _, _, text, hash in part}, done)
            done.reused += sum(text != NOTHING for _, _, text, _ in part) - (done.embedded - before)
            with transaction.atomic(), connection.cursor() as cursor:
                for work in (*finished, *{id(work): work for work, *_ in part}.values()):
                    done.removed += remove_rows(cursor, work.stale)
                    work.stale = []
                for work, chunk, _, hash in part:
                    made = vectors[hash]
                    if insert_row(cursor, self._model_id, NewRow(work.key, chunk, hash, made.vector, made.states)):
                        left[id(work)] -= 1
                finished += [work for work in {id(one): one for one, *_ in part}.values() if left[id(work)] == 0]
                remove_tasks(cursor, [work.task for work in finished])
            self._count(finished, done)
            finished = []
            if not has_time():
                return

    def _plan(self, tasks: Sequence[Task]) -> list[_Work]:
        """Return what the first tasks come to."""
        memories = dict(_memories(tasks))
        rows = read_rows((task.kind, task.memory_id) for task in tasks)
        works: list[_Work] = []
        texts = 0
        for task in tasks:
            key = task.kind, task.memory_id
            work = self._compare(task, memories.get(key), rows.get(key, []))
            texts += len(work.missing)
            if works and texts > TEXTS_AT_ONCE:
                break
            works.append(work)
        return works

    def _compare(self, task: Task, memory: Memory | None, rows: Sequence[StoredRow]) -> _Work:
        """Compare what is stored of a memory with what should be."""
        if memory is None:
            return _Work(task, is_gone=True, stale=[row.id for row in rows])
        chunks = chunks_of(memory, self._embedder)
        wanted = {chunk: (text, hash_text(text)) for chunk, text in enumerate(chunks or [NOTHING])}
        work = _Work(task, is_empty=not chunks)
        for row in rows:
            if row.model_id != self._model_id:
                continue
            # A text that could not be embedded is stored without a vector, too.
            is_sound = row.size in (0, self._embedder.dimension * 2)
            if is_sound and row.chunk in wanted and wanted[row.chunk][1] == row.text_hash:
                del wanted[row.chunk]
            else:
                work.stale.append(row.id)
        work.missing = [(chunk, text, hash) for chunk, (text, hash) in wanted.items()]
        return work

    def _vectors(self, texts: dict[bytes, str], done: Done) -> dict[bytes, _Vector]:
        """Return what to store of texts, by their hashes; each is embedded once."""
        found = {hash: self._remembered[hash] for hash in texts if hash in self._remembered}
        new = {hash: text for hash, text in texts.items() if hash not in found and text != NOTHING}
        found |= {hash: _Vector(b"", None) for hash, text in texts.items() if text == NOTHING}
        if new:
            started = time.monotonic()
            embedded = self._embedder.embed_documents(list(new.values()))
            done.embedding_seconds += time.monotonic() - started
            done.embedded += len(new)
            states: Sequence[States | None] = embedded.states or [None] * len(new)
            for hash, vector, some in zip(new, embedded.vectors, states, strict=True):
                is_sound = bool(np.isfinite(vector).all() and vector.any())
                made = _Vector(
                    vector.astype("<f2").tobytes() if is_sound else b"",
                    None if some is None or not is_sound else some.tobytes(),
                )
                found[hash] = self._remembered[hash] = made
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
        return found

    def _count(self, finished: Sequence[_Work], done: Done) -> None:
        done.memories += len(finished)
        done.gone += sum(work.is_gone for work in finished)
        done.empty += sum(work.is_empty for work in finished)
        done.unchanged += sum(not work.is_gone and not work.missing for work in finished)

    def _switch(self) -> bool:
        """Let this model be the searched one if it is complete; return whether it is."""
        if has_tasks():
            return False
        if EmbeddingModel.objects.filter(pk=self._model_id, is_searched=True).exists():
            return True
        with transaction.atomic():
            if has_tasks():
                return False
            EmbeddingModel.objects.filter(is_searched=True).update(is_searched=False)
            return EmbeddingModel.objects.filter(pk=self._model_id).update(is_searched=True) == 1

    def _remove_other_models(self) -> Iterator[int]:
        """Remove the vectors of models that are not searched any more, in parts; yield how many."""
        others = EmbeddingModel.objects.filter(is_searched=False).exclude(pk=self._model_id)
        for model_id in others.values_list("pk", flat=True):
            while EmbeddingModel.objects.filter(pk=model_id).exists():
                yield remove_some_of_model(model_id)


def _memories(tasks: Sequence[Task]) -> Iterator[tuple[Key, Memory]]:
    """Yield the memories of tasks, by key, with the texts that are embedded."""
    for kind in Kind:
        ids = [task.memory_id for task in tasks if task.kind is kind]
        if ids:
            for memory in memory_model(kind).objects.filter(pk__in=ids).only(*text_columns(kind)):
                yield (kind, memory.pk), memory
