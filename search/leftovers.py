"""Rows of derived tables that no upkeep would look at again: how many there are, and how they are put right.

None can come of memweb's own work; a table remake, a hand in the database or a backup of a part of it can leave them.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db import connection, transaction

from memweb.memories.kinds import Kind
from search.closets.groups import GROUPS, IS_KEY, LINES, POINTERS
from search.keyword.schema import CONTENT_TABLES
from search.vectors.queue import TABLE, UNKNOWN

_EMBEDDINGS = "search_embedding"
_TABLES = {TABLE, _EMBEDDINGS, GROUPS, LINES, POINTERS, *CONTENT_TABLES.values()}


@dataclass(frozen=True, slots=True)
class Leftover:
    """Rows that are left over: what they are part of, what is said of so many of them, and how they are put right."""

    subject: str
    sentence: str
    count: str
    mend: str


def _leftovers() -> Iterator[Leftover]:
    strays = f"FROM {TABLE} WHERE {UNKNOWN}"
    yield Leftover(
        "vector queue",
        "{:,} entries name nothing that could be a memory",
        f"SELECT count(*) {strays}",
        f"DELETE {strays}",
    )
    for kind in Kind:
        orphans = (
            f"FROM {_EMBEDDINGS} AS e WHERE kind = '{kind.letter}'"
            f" AND NOT EXISTS (SELECT 1 FROM {CONTENT_TABLES[kind]} AS m WHERE m.id = e.memory_id)"
            f" AND NOT EXISTS (SELECT 1 FROM {TABLE} AS t WHERE t.kind = e.kind AND t.memory_id = e.memory_id)"
        )
        yield Leftover(
            "vector queue",
            f"{{:,}} vectors are of {kind.plural} that are gone, and do not wait for their removal",
            f"SELECT count(*) {orphans}",
            f"INSERT INTO {TABLE} (kind, memory_id, changes) SELECT DISTINCT kind, memory_id, 1 {orphans}",
        )
    for sentence, rows in (
        ("{:,} groups are of nothing that could have closets", f"FROM {GROUPS} WHERE NOT ({IS_KEY})"),
        ("{:,} lines belong to no group", f"FROM {LINES} WHERE group_id NOT IN (SELECT key FROM {GROUPS})"),
        (
            "{:,} lines point at passages that are gone, or are gone themselves",
            f"FROM {POINTERS} WHERE line_id NOT IN (SELECT id FROM {LINES})"
            f" OR drawer_id NOT IN (SELECT id FROM {CONTENT_TABLES[Kind.DRAWER]})",
        ),
    ):
        yield Leftover("closets", sentence, f"SELECT count(*) {rows}", f"DELETE {rows}")


def find_leftovers() -> list[tuple[str, str]]:
    """Return subject and sentence for whatever is left over; reads the tables whole."""
    found = []
    with connection.cursor() as cursor:
        for one in _leftovers():
            cursor.execute(one.count)
            if count := cursor.fetchone()[0]:
                found.append((one.subject, one.sentence.format(count)))
    return found


def mend_leftovers() -> None:
    """Put right whatever is left over, each kind of it for itself; nothing before the first migrate."""
    if not set(connection.introspection.table_names()) >= _TABLES:
        return
    for one in _leftovers():
        with connection.cursor() as cursor:
            cursor.execute(one.count)
            if cursor.fetchone()[0]:
                with transaction.atomic():
                    cursor.execute(one.mend)
