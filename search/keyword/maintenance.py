"""Care of the keyword index: status, deep check, rebuild, optimize, repair after migrations."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db import connection as default_connection
from django.db import transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import DatabaseError

from memweb.memories.kinds import Kind
from memweb.memories.models import memory_model
from memweb.memories.queries import TERM_COLUMNS
from search.keyword.schema import TABLES, drop_kind, ensure_index, index_faults, index_objects

BATCH = 1000

Progress = Callable[[Kind, int, int], None]


@dataclass(frozen=True, slots=True)
class IndexStatus:
    """State of one kind's index: rows in the table, rows in the index (None when unreadable), what is wrong."""

    kind: Kind
    table: str
    rows: int
    indexed: int | None
    faults: tuple[str, ...]

    @property
    def is_healthy(self) -> bool:
        return not self.faults and self.indexed == self.rows


def index_status(connection: BaseDatabaseWrapper = default_connection) -> list[IndexStatus]:
    """Return the state of each kind's index by counting; `check_index` looks deeper."""
    faults = index_faults(connection)
    statuses = []
    for kind in Kind:
        table = TABLES[kind]
        rows = memory_model(kind).objects.count()
        mine = tuple(fault for fault in faults if f" {table}" in fault)
        indexed = _count_indexed(connection, table)
        if indexed is None and not mine:
            mine = (f"table {table} cannot be read",)
        statuses.append(IndexStatus(kind, table, rows, indexed, mine))
    return statuses


def check_index(connection: BaseDatabaseWrapper = default_connection) -> dict[Kind, str | None]:
    """Compare every index entry with its row (FTS5 integrity-check, rank 1); None means sound, else what is wrong."""
    faults = index_faults(connection)
    result: dict[Kind, str | None] = {}
    for kind in Kind:
        table = TABLES[kind]
        mine = [fault for fault in faults if f" {table}" in fault]
        if mine:
            result[kind] = "; ".join(mine)
            continue
        try:
            with transaction.atomic(), connection.cursor() as cursor:
                # Without the 1 an external-content table is not compared with its content.
                cursor.execute(f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)")
            result[kind] = None
        except (DatabaseError, MemoryError) as error:
            result[kind] = f"index and rows differ ({error}); run `memweb index rebuild`"
    return result


def rebuild_index(
    kinds: Iterable[Kind] = tuple(Kind),
    connection: BaseDatabaseWrapper = default_connection,
    progress: Progress | None = None,
) -> dict[Kind, int]:
    """Compute the terms of every row anew and make the index from them; return rows indexed by kind.

    Works in batches, so that readers and writers go on meanwhile; the last step replaces the index of a kind in one
    statement. A damaged index is dropped, not read.
    """
    rebuilt = {}
    for kind in kinds:
        recompute_terms(kind, connection, progress)
        rebuilt[kind] = _make_anew(kind, connection)
    return rebuilt


def recompute_terms(kind: Kind, connection: BaseDatabaseWrapper, progress: Progress | None = None) -> None:
    """Write the derived columns of every row anew, without touching the index (its triggers are off meanwhile)."""
    model = memory_model(kind)
    total = model.objects.count()
    with connection.cursor() as cursor:
        for wanted in index_objects(kind):
            if wanted.type == "trigger" and wanted.name.endswith("_update"):
                cursor.execute(f"DROP TRIGGER IF EXISTS {wanted.name}")
    done, last_id = 0, 0
    while True:
        rows = list(model.objects.for_indexing().filter(pk__gt=last_id).order_by("pk")[:BATCH])
        if not rows:
            return
        with transaction.atomic():
            for row in rows:
                row.compute_terms()
            model.objects.bulk_update(rows, TERM_COLUMNS, batch_size=100)
        done, last_id = done + len(rows), rows[-1].pk
        if progress:
            progress(kind, done, total)


def optimize_index(connection: BaseDatabaseWrapper = default_connection) -> None:
    """Merge the segments of every index into one and let SQLite refresh its statistics."""
    with connection.cursor() as cursor:
        for kind in Kind:
            cursor.execute(f"INSERT INTO {TABLES[kind]}({TABLES[kind]}) VALUES ('optimize')")
        cursor.execute("PRAGMA optimize")


def repair(connection: BaseDatabaseWrapper) -> list[Kind]:
    """Make dropped tables and triggers again; index anew the kinds that may have missed writes. Return those kinds."""
    stale = ensure_index(connection)
    for kind in stale:
        _make_anew(kind, connection)
    return stale


def _count_indexed(connection: BaseDatabaseWrapper, table: str) -> int | None:
    try:
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT count(*) FROM {table}_docsize")
            return int(cursor.fetchone()[0])
    except DatabaseError:
        return None


def _make_anew(kind: Kind, connection: BaseDatabaseWrapper) -> int:
    """Replace the index of a kind by one made from the rows, in one transaction; return the rows indexed."""
    table = TABLES[kind]
    with transaction.atomic(), connection.cursor() as cursor:
        drop_kind(cursor, kind)
        for wanted in index_objects(kind):
            cursor.execute(wanted.sql)
        cursor.execute(f"INSERT INTO {table}({table}) VALUES ('rebuild')")
        cursor.execute(f"SELECT count(*) FROM {table}_docsize")
        return int(cursor.fetchone()[0])
