"""DDL of the keyword index on SQLite: one external-content FTS5 table for each kind, with its triggers.

Everything here is idempotent and lives in this one place: Django's table remake (AddField, AlterField, AddConstraint)
drops triggers without a word, so `ensure_index` runs again after every migrate, and `index_faults` compares what is in
the database with what should be.
"""

import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.utils import CursorWrapper

from memweb.memories.kinds import Kind

COLUMNS = ("title_terms", "body_terms", "variant_terms", "scope_terms")
# bm25() weights of the columns; filter tokens carry no weight.
COLUMN_WEIGHTS = (3.0, 1.0, 0.5, 0.0)
TABLES = {
    Kind.DRAWER: "drawers_fts",
    Kind.OBSERVATION: "observations_fts",
    Kind.PROMPT: "user_prompts_fts",
    Kind.SUMMARY: "session_summaries_fts",
}
CONTENT_TABLES = {
    Kind.DRAWER: "memories_drawer",
    Kind.OBSERVATION: "memories_observation",
    Kind.PROMPT: "memories_userprompt",
    Kind.SUMMARY: "memories_sessionsummary",
}


@dataclass(frozen=True, slots=True)
class IndexObject:
    """One table or trigger of the keyword index: its type and name in sqlite_master, and the SQL that makes it."""

    type: str
    name: str
    sql: str


def tokenizer() -> str:
    """Return the FTS5 tokenizer option: tokens end at ASCII blanks only, since the analyzer already made them."""
    characters = string.punctuation.replace("'", "''")
    return f"ascii tokenchars '{characters}'"


def index_objects(kind: Kind) -> Iterator[IndexObject]:
    """Yield the tables and triggers of one kind in the order in which they can be made."""
    table, content = TABLES[kind], CONTENT_TABLES[kind]
    columns = ", ".join(COLUMNS)
    new, old = (", ".join(f"{row}.{column}" for column in COLUMNS) for row in ("new", "old"))
    quoted_tokenizer = tokenizer().replace("'", "''")
    yield IndexObject(
        "table",
        table,
        f"CREATE VIRTUAL TABLE {table} USING fts5({columns}, content='{content}', content_rowid='id',"
        f" tokenize='{quoted_tokenizer}')",
    )
    yield IndexObject("table", f"{table}_vocab", f"CREATE VIRTUAL TABLE {table}_vocab USING fts5vocab({table}, row)")
    insert = f"INSERT INTO {table}(rowid, {columns}) VALUES (new.id, {new});"
    delete = f"INSERT INTO {table}({table}, rowid, {columns}) VALUES ('delete', old.id, {old});"
    yield IndexObject(
        "trigger", f"{table}_insert", f"CREATE TRIGGER {table}_insert AFTER INSERT ON {content} BEGIN {insert} END"
    )
    yield IndexObject(
        "trigger", f"{table}_delete", f"CREATE TRIGGER {table}_delete AFTER DELETE ON {content} BEGIN {delete} END"
    )
    # Only a change of the indexed columns touches the index: pinning or counting a view must not rewrite postings.
    yield IndexObject(
        "trigger",
        f"{table}_update",
        f"CREATE TRIGGER {table}_update AFTER UPDATE OF id, {columns} ON {content} BEGIN {delete} {insert} END",
    )


def present_objects(connection: BaseDatabaseWrapper) -> dict[tuple[str, str], str]:
    """Return the SQL of every table and trigger in the database, by type and name."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT type, name, sql FROM sqlite_master WHERE type IN ('table', 'trigger')")
        return {(type, name): sql or "" for type, name, sql in cursor.fetchall()}


def index_faults(connection: BaseDatabaseWrapper) -> list[str]:
    """Return one sentence for every table or trigger of the keyword index that is missing or differs."""
    return object_faults(connection, (wanted for kind in Kind for wanted in index_objects(kind)))


def object_faults(connection: BaseDatabaseWrapper, wanted: Iterable[IndexObject]) -> list[str]:
    """Return one sentence for each of these tables and triggers that is missing or differs."""
    present = present_objects(connection)
    faults = []
    for one in wanted:
        found = present.get((one.type, one.name))
        if found is None:
            faults.append(f"{one.type} {one.name} is missing")
        elif found != one.sql:
            faults.append(f"{one.type} {one.name} differs from what memweb makes")
    return faults


def ensure_index(connection: BaseDatabaseWrapper) -> list[Kind]:
    """Make whatever of the keyword index is missing or differs; return the kinds whose index must be rebuilt.

    A kind is returned when its table was made anew, or when a trigger was missing while the content table has rows
    (rows may have been written meanwhile).
    """
    present = present_objects(connection)
    stale = []
    with connection.cursor() as cursor:
        for kind in Kind:
            content = CONTENT_TABLES[kind]
            if ("table", content) not in present:
                continue
            touched = False
            for wanted in index_objects(kind):
                found = present.get((wanted.type, wanted.name))
                if found == wanted.sql:
                    continue
                if found is not None:
                    cursor.execute(f"DROP {wanted.type} {wanted.name}")
                cursor.execute(wanted.sql)
                touched = touched or wanted.name != f"{TABLES[kind]}_vocab"
            if touched:
                cursor.execute(f"SELECT EXISTS (SELECT 1 FROM {content})")
                if cursor.fetchone()[0]:
                    stale.append(kind)
    return stale


def drop_index(connection: BaseDatabaseWrapper) -> None:
    """Remove every table and trigger of the keyword index."""
    with connection.cursor() as cursor:
        for kind in Kind:
            drop_kind(cursor, kind)


def drop_kind(cursor: CursorWrapper, kind: Kind) -> None:
    """Remove the tables and triggers of a kind without asking FTS5, which may be unable to open what it shall drop.

    Taken out of the schema first, its shadow tables are tables like any other.
    """
    for wanted in index_objects(kind):
        if wanted.type == "trigger":
            cursor.execute(f"DROP TRIGGER IF EXISTS {wanted.name}")
    table = TABLES[kind]
    cursor.execute("PRAGMA writable_schema = ON")
    cursor.execute("DELETE FROM sqlite_master WHERE type = 'table' AND name IN (%s, %s)", [table, f"{table}_vocab"])
    cursor.execute("PRAGMA writable_schema = RESET")
    for shadow in ("data", "idx", "docsize", "config", "content"):
        cursor.execute(f"DROP TABLE IF EXISTS {table}_{shadow}")
