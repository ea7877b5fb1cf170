"""The queue of memories whose vectors must be looked at, filled by triggers on the four memory tables.

Like the keyword index, the triggers are dropped without a word by Django's table remakes. `ensure_queue` makes them
again after every migrate and queues everything of a kind whose trigger was missing: what did not change is found out by
its text hash and not embedded again.

A task is removed only if its `changes` are still those that were read with the text, so no change is lost that happens
while a text is embedded.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from memweb.memories.kinds import Kind
from memweb.memories.models import memory_model
from search.keyword.schema import CONTENT_TABLES, IndexObject, object_faults, present_objects

TABLE = "search_embeddingtask"
# After a conflict rather than OR IGNORE, which the conflict clause of the statement that fires the trigger overrides.
_AGAIN = "ON CONFLICT (kind, memory_id) DO UPDATE SET changes = changes + 1"
_BY_LETTER = {kind.letter: kind for kind in Kind}
# What cannot be a memory.
UNKNOWN = f"(kind NOT IN {tuple(_BY_LETTER)} OR typeof(memory_id) <> 'integer')"
# Memories queued in one transaction: 50 ms, in which nobody else can write.
QUEUED_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Task:
    """A memory whose vectors must be looked at, and how often it had changed when this was read."""

    id: int
    kind: Kind
    memory_id: int
    changes: int


def text_columns(kind: Kind) -> tuple[str, ...]:
    """Return the columns whose texts are embedded."""
    model = memory_model(kind)
    return (*model.title_fields, *model.body_fields)


def queue_objects(kind: Kind) -> Iterator[IndexObject]:
    """Yield the triggers of one kind."""
    content = CONTENT_TABLES[kind]
    columns = ("id", *text_columns(kind))
    changed = " OR ".join(f"old.{column} IS NOT new.{column}" for column in columns)
    insert = f"INSERT INTO {TABLE} (kind, memory_id, changes) VALUES"
    letter = kind.letter
    for event, when, values in (
        ("INSERT", "", f"('{letter}', new.id, 0)"),
        ("DELETE", "", f"('{letter}', old.id, 1)"),
        (f"UPDATE OF {', '.join(columns)}", f" WHEN {changed}", f"('{letter}', old.id, 1), ('{letter}', new.id, 1)"),
    ):
        name = f"{content}_embedding_{event.split()[0].lower()}"
        yield IndexObject(
            "trigger",
            name,
            f"CREATE TRIGGER {name} AFTER {event} ON {content}{when} BEGIN {insert} {values} {_AGAIN}; END",
        )


def queue_faults(database: BaseDatabaseWrapper = connection) -> list[str]:
    """Return one sentence for every trigger of the queue that is missing or differs."""
    return object_faults(database, (wanted for kind in Kind for wanted in queue_objects(kind)))


def ensure_queue(database: BaseDatabaseWrapper = connection) -> list[Kind]:
    """Make the triggers that are missing or differ; queue their kinds anew and return these."""
    present = present_objects(database)
    if ("table", TABLE) not in present:
        return []
    wrong = {
        kind: [one for one in queue_objects(kind) if present.get((one.type, one.name)) != one.sql]
        for kind in Kind
        if ("table", CONTENT_TABLES[kind]) in present
    }
    if not any(wrong.values()):
        return []
    # At once: a trigger that is there says that nothing was missed.
    with transaction.atomic(using=database.alias), database.cursor() as cursor:
        for wanted in (wanted for some in wrong.values() for wanted in some):
            cursor.execute(f"DROP TRIGGER IF EXISTS {wanted.name}")
            cursor.execute(wanted.sql)
        return [kind for kind, some in wrong.items() if some and queue_everything([kind], database)]


def drop_queue(database: BaseDatabaseWrapper = connection) -> None:
    """Remove the triggers, which would otherwise write to a table that is about to go or change."""
    with database.cursor() as cursor:
        for kind in Kind:
            for wanted in queue_objects(kind):
                cursor.execute(f"DROP TRIGGER IF EXISTS {wanted.name}")


def queue_everything(kinds: Iterable[Kind] = tuple(Kind), database: BaseDatabaseWrapper = connection) -> int:
    """Queue every memory of these kinds, and those that only have vectors left; return how many were added.

    Outside of a transaction it is done in parts, between which others can write; to do it again does no harm.
    """
    return sum(_queue_memories(kind, database) + _queue_leftovers(kind, database) for kind in kinds)


def _queue_memories(kind: Kind, database: BaseDatabaseWrapper) -> int:
    content = CONTENT_TABLES[kind]
    part = f"SELECT id FROM {content} WHERE id > %s ORDER BY id LIMIT {QUEUED_AT_ONCE}"
    added, done = 0, 0
    with database.cursor() as cursor:
        while True:
            cursor.execute(f"SELECT max(id) FROM ({part})", [done])
            last = cursor.fetchone()[0]
            if last is None:
                return added
            cursor.execute(
                f"INSERT INTO {TABLE} (kind, memory_id, changes) SELECT '{kind.letter}', id, 0 FROM {content}"
                " WHERE id > %s AND id <= %s ON CONFLICT DO NOTHING",
                [done, last],
            )
            added += max(cursor.rowcount, 0)
            done = last


def _queue_leftovers(kind: Kind, database: BaseDatabaseWrapper) -> int:
    added = 0
    with database.cursor() as cursor:
        # Read first: others can write while this takes long.
        cursor.execute(
            f"SELECT DISTINCT memory_id FROM search_embedding WHERE kind = '{kind.letter}'"
            f" AND memory_id NOT IN (SELECT id FROM {CONTENT_TABLES[kind]})"
        )
        gone = cursor.fetchall()
        for start in range(0, len(gone), QUEUED_AT_ONCE):
            cursor.execute(
                f"INSERT INTO {TABLE} (kind, memory_id, changes) SELECT '{kind.letter}', value, 1"
                " FROM json_each(%s) WHERE true ON CONFLICT DO NOTHING",
                [json.dumps([id for (id,) in gone[start : start + QUEUED_AT_ONCE]])],
            )
            added += max(cursor.rowcount, 0)
    return added


def count_gone() -> int:
    """Return for how many memories that are gone the removal of their vectors waits."""
    with connection.cursor() as cursor:
        counts = ", ".join(
            f"(SELECT count(*) FROM {TABLE} WHERE kind = '{kind.letter}'"
            f" AND memory_id NOT IN (SELECT id FROM {CONTENT_TABLES[kind]}))"
            for kind in Kind
        )
        cursor.execute(f"SELECT {counts}")
        return sum(cursor.fetchone())


def next_tasks(limit: int) -> list[Task]:
    """Return the tasks to do next: changed and removed memories first, so that no first build delays them, then new
    ones, the newest first.

    Within a kind the newest is the one that was written last: to sort by time, the whole queue would have to be read.
    """
    with connection.cursor() as cursor:
        sql = f"SELECT id, kind, memory_id, changes FROM {TABLE} WHERE changes > 0 ORDER BY id DESC LIMIT %s"
        cursor.execute(sql, [limit])
        rows = cursor.fetchall()
        if len(rows) < limit:
            rows += _newest(cursor, limit)[: limit - len(rows)]
    return [Task(id, _BY_LETTER[letter], memory, changes) for id, letter, memory, changes in rows]


def remove_tasks(cursor: CursorWrapper, tasks: Iterable[Task]) -> None:
    """Remove tasks that are done; one whose memory was changed again meanwhile stays."""
    cursor.executemany(f"DELETE FROM {TABLE} WHERE id = %s AND changes = %s", [(one.id, one.changes) for one in tasks])


def drop_unknown_tasks() -> None:
    """Remove tasks for what cannot be a memory, which nobody could do."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT EXISTS (SELECT 1 FROM {TABLE} WHERE {UNKNOWN})")
        if cursor.fetchone()[0]:
            cursor.execute(f"DELETE FROM {TABLE} WHERE {UNKNOWN}")


def has_tasks() -> bool:
    """Return whether any memory waits."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT EXISTS (SELECT 1 FROM {TABLE})")
        return bool(cursor.fetchone()[0])


def backlog() -> dict[Kind, int]:
    """Return how many memories of each kind wait."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT kind, count(*) FROM {TABLE} GROUP BY kind")
        counts = dict(cursor.fetchall())
    return {kind: counts.get(kind.letter, 0) for kind in Kind}


def _newest(cursor: CursorWrapper, limit: int) -> list[tuple[int, str, int, int]]:
    found = []
    for kind in Kind:
        # The table's unique index has them in order of memory_id.
        cursor.execute(
            f"SELECT t.id, t.kind, t.memory_id, t.changes, '' || m.created_at FROM {TABLE} AS t"
            f" LEFT JOIN {CONTENT_TABLES[kind]} AS m ON m.id = t.memory_id"
            " WHERE t.kind = %s AND t.changes = 0 ORDER BY t.memory_id DESC LIMIT %s",
            [kind.letter, limit],
        )
        found += cursor.fetchall()
    found.sort(key=lambda row: row[4] or "", reverse=True)
    return [row[:4] for row in found]
