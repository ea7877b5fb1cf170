"""The queue of memories whose vectors must be looked at, filled by triggers on the four memory tables.

Like the keyword index, the triggers are dropped without a word by Django's table remakes. `ensure_queue` makes them
again after every migrate and queues everything of a kind whose trigger was missing: what did not change is found out by
its text hash and not embedded again.

A task is removed only if its `changes` are still those that were read with the text, so no change is lost that happens
while a text is embedded.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db import connection as default_connection
from django.db.backends.base.base import BaseDatabaseWrapper

from memweb.memories.kinds import Kind
from memweb.memories.models import memory_model
from search.keyword.schema import CONTENT_TABLES, IndexObject, present_objects

TABLE = "search_embeddingtask"
# After a conflict rather than OR IGNORE, which the conflict clause of the statement that fires the trigger overrides.
_AGAIN = "ON CONFLICT (kind, memory_id) DO UPDATE SET changes = changes + 1"


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


def queue_faults(connection: BaseDatabaseWrapper = default_connection) -> list[str]:
    """Return one sentence for every trigger of the queue that is missing or differs."""
    present = present_objects(connection)
    faults = []
    for wanted in (wanted for kind in Kind for wanted in queue_objects(kind)):
        found = present.get((wanted.type, wanted.name))
        if found is None:
            faults.append(f"{wanted.type} {wanted.name} is missing")
        elif found != wanted.sql:
            faults.append(f"{wanted.type} {wanted.name} differs from what memweb makes")
    return faults


def ensure_queue(connection: BaseDatabaseWrapper = default_connection) -> list[Kind]:
    """Make the triggers that are missing or differ; queue their kinds anew and return these."""
    present = present_objects(connection)
    stale = []
    with connection.cursor() as cursor:
        for kind in Kind:
            if ("table", CONTENT_TABLES[kind]) not in present or ("table", TABLE) not in present:
                continue
            wrong = [one for one in queue_objects(kind) if present.get((one.type, one.name)) != one.sql]
            for wanted in wrong:
                cursor.execute(f"DROP TRIGGER IF EXISTS {wanted.name}")
                cursor.execute(wanted.sql)
            if wrong and queue_everything([kind], connection):
                stale.append(kind)
    return stale


def drop_queue(connection: BaseDatabaseWrapper = default_connection) -> None:
    """Remove the triggers, which would otherwise write to a table that is about to go or change."""
    with connection.cursor() as cursor:
        for kind in Kind:
            for wanted in queue_objects(kind):
                cursor.execute(f"DROP TRIGGER IF EXISTS {wanted.name}")


def queue_everything(kinds: Iterable[Kind] = tuple(Kind), connection: BaseDatabaseWrapper = default_connection) -> int:
    """Queue every memory of these kinds, and those that only have vectors left; return how many were added."""
    added = 0
    with connection.cursor() as cursor:
        for kind in kinds:
            for sql in (
                f"SELECT '{kind.letter}', id, 0 FROM {CONTENT_TABLES[kind]} WHERE true",
                f"SELECT DISTINCT kind, memory_id, 1 FROM search_embedding WHERE kind = '{kind.letter}'"
                f" AND memory_id NOT IN (SELECT id FROM {CONTENT_TABLES[kind]})",
            ):
                cursor.execute(f"INSERT INTO {TABLE} (kind, memory_id, changes) {sql} ON CONFLICT DO NOTHING")
                added += max(cursor.rowcount, 0)
    return added


def backlog(connection: BaseDatabaseWrapper = default_connection) -> dict[Kind, int]:
    """Return how many memories of each kind wait."""
    letters: dict[Any, int] = {}
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT kind, count(*) FROM {TABLE} GROUP BY kind")
        letters = dict(cursor.fetchall())
    return {kind: letters.get(kind.letter, 0) for kind in Kind}
