"""Which drawers belong together, and which groups of them changed: triggers on the drawers keep count.

A group's lines are copies of parts of its drawers. So they go in the transaction that changes or removes one of these
drawers, and are made again by the next upkeep; nothing of a text that was taken back is left.

Like the other triggers, these are dropped without a word by Django's table remakes; `ensure_groups` makes them again
after every migrate and then counts every group as changed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from memweb.memories.kinds import Kind
from search.closets.building import READ_LENGTH, Passage
from search.keyword.schema import CONTENT_TABLES, IndexObject, object_faults, present_objects

GROUPS, LINES, POINTERS = "search_closetgroup", "search_closetline", "search_closetpointer"
# Of a longer group the rest has no closets; a signal may do without, and one group must not take minutes.
DRAWERS_READ = 3_000

_CONTENT = CONTENT_TABLES[Kind.DRAWER]
# What decides which lines a group has.
_COLUMNS = (
    "id",
    "text",
    "session_id",
    "file_id",
    "chunk_index",
    "created_at",
    "state",
    "is_noise",
    "superseded_by_id",
)
_OF_GROUP = {
    "s": "session_id = %s ORDER BY created_at, id",
    "f": "session_id IS NULL AND file_id = %s ORDER BY chunk_index, id",
}
IS_KEY = "key GLOB '[sf][0-9]*' AND key NOT GLOB '?*[^0-9]*'"


@dataclass(frozen=True, slots=True)
class Group:
    """A group as it stands: how often it had changed when this was read, and what made its lines."""

    key: str
    changes: int
    model: str


def group_objects() -> Iterator[IndexObject]:
    """Yield the triggers."""
    changed = " OR ".join(f"old.{column} IS NOT new.{column}" for column in _COLUMNS)
    for event, when, rows in (
        ("INSERT", "", ("new",)),
        ("DELETE", "", ("old",)),
        (f"UPDATE OF {', '.join(_COLUMNS)}", f" WHEN {changed}", ("old", "new")),
    ):
        name = f"{_CONTENT}_closet_{event.split()[0].lower()}"
        parts = [part for row in rows for part in _noted(row)]
        yield IndexObject(
            "trigger", name, f"CREATE TRIGGER {name} AFTER {event} ON {_CONTENT}{when} BEGIN {' '.join(parts)} END"
        )


def _key(row: str) -> str:
    return (
        f"CASE WHEN {row}.session_id IS NOT NULL THEN 's' || {row}.session_id"
        f" WHEN {row}.file_id IS NOT NULL THEN 'f' || {row}.file_id END"
    )


def _noted(row: str) -> Iterator[str]:
    key = _key(row)
    if row == "old":
        yield f"DELETE FROM {POINTERS} WHERE line_id IN (SELECT id FROM {LINES} WHERE group_id = {key});"
        yield f"DELETE FROM {LINES} WHERE group_id = {key};"
    # After a conflict rather than OR IGNORE, which the conflict clause of the firing statement overrides.
    yield (
        f"INSERT INTO {GROUPS} (key, changes, built, model) SELECT {key}, 1, -1, '' WHERE {key} IS NOT NULL"
        " ON CONFLICT (key) DO UPDATE SET changes = changes + 1;"
    )


def group_faults(database: BaseDatabaseWrapper = connection) -> list[str]:
    """Return one sentence for every trigger that is missing or differs."""
    return object_faults(database, group_objects())


def ensure_groups(database: BaseDatabaseWrapper = connection) -> bool:
    """Make the triggers that are missing or differ; return whether any was, and every group counts as changed now."""
    present = present_objects(database)
    if ("table", GROUPS) not in present or ("table", _CONTENT) not in present:
        return False
    wrong = [one for one in group_objects() if present.get((one.type, one.name)) != one.sql]
    if not wrong:
        return False
    # At once: a trigger that is there says that nothing was missed.
    with transaction.atomic(using=database.alias), database.cursor() as cursor:
        for wanted in wrong:
            cursor.execute(f"DROP TRIGGER IF EXISTS {wanted.name}")
            cursor.execute(wanted.sql)
        cursor.execute(f"UPDATE {GROUPS} SET changes = changes + 1")
        cursor.execute(
            f"INSERT INTO {GROUPS} (key, changes, built, model)"
            f" SELECT DISTINCT {_key('m')}, 1, -1, '' FROM {_CONTENT} AS m"
            " WHERE m.session_id IS NOT NULL OR m.file_id IS NOT NULL ON CONFLICT DO NOTHING"
        )
    return True


def drop_groups(database: BaseDatabaseWrapper = connection) -> None:
    """Remove the triggers, which would otherwise write to tables that are about to go."""
    with database.cursor() as cursor:
        for wanted in group_objects():
            cursor.execute(f"DROP TRIGGER IF EXISTS {wanted.name}")


def changed_groups(limit: int) -> list[Group]:
    """Return groups whose lines are to be made again."""
    sql = f"SELECT key, changes, model FROM {GROUPS} WHERE NOT (built = changes) AND {IS_KEY} ORDER BY key LIMIT %s"
    with connection.cursor() as cursor:
        cursor.execute(sql, [limit])
        return [Group(*row) for row in cursor.fetchall()]


def passages_of(group: Group) -> list[Passage]:
    """Return the beginnings of the drawers of a group, in their order; those that search hides are left out."""
    sql = (
        f"SELECT id, substr(text, 1, {READ_LENGTH}) FROM {_CONTENT} WHERE state = 'active' AND NOT is_noise"
        f" AND superseded_by_id IS NULL AND {_OF_GROUP[group.key[0]]} LIMIT {DRAWERS_READ}"
    )
    with connection.cursor() as cursor:
        cursor.execute(sql, [int(group.key[1:])])
        return [Passage(*row) for row in cursor.fetchall()]
