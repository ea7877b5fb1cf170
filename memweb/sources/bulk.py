"""Writes many rows at once: SQL made from the models' own metadata, without an object for each row.

The rows must be complete: no signal, no `save` and no field default but those of the unlisted fields runs here. The
keyword index follows through its triggers.
"""

import gc
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from django.db import connection, models


class RowWriter:
    """Inserts rows of one model. Values come in the order of `names`; every other field gets its default."""

    def __init__(self, model: type[models.Model], names: Sequence[str]) -> None:
        fields = {field.attname: field for field in model._meta.concrete_fields}
        unlisted = [field for name, field in fields.items() if name not in names and not field.primary_key]
        columns = [*(fields[name] for name in names), *unlisted]
        self.model = model
        self._adapters = [
            (place, adapt) for place, name in enumerate(names) if (adapt := _adapter(fields[name])) is not None
        ]
        self._defaults = [field.get_db_prep_save(field.get_default(), connection) for field in unlisted]
        quote = connection.ops.quote_name
        listed = ", ".join(quote(str(field.column)) for field in columns)
        marks = ", ".join(["%s"] * len(columns))
        self._sql = f"INSERT INTO {quote(model._meta.db_table)} ({listed}) VALUES ({marks})"  # noqa: S608 - models' names

    def insert(self, rows: Iterable[list[Any]]) -> None:
        """Insert rows; the lists are changed on the way."""
        for row in (rows := list(rows)):
            for place, adapt in self._adapters:
                row[place] = adapt(row[place])
            row += self._defaults
        if rows:
            with connection.cursor() as cursor:
                cursor.executemany(self._sql, rows)


def first_free_id(model: type[models.Model]) -> int:
    """Return an id above all that were ever used; stays free only inside a transaction that began IMMEDIATE."""
    table = model._meta.db_table
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
        used = cursor.fetchone()
        cursor.execute(f"SELECT max(id) FROM {connection.ops.quote_name(table)}")  # noqa: S608 - a model's own table
        return max(used[0] if used else 0, cursor.fetchone()[0] or 0) + 1


@contextmanager
def bulk_writing() -> Iterator[None]:
    """Spend less on tidying up while very many rows are written, and tidy up at the end.

    The write-ahead log is copied into the database every 64 MB instead of every 4, since bulk writing changes the same
    pages again and again; Python looks for cycles of garbage less often, and only among what is new: rows have none.
    """
    thresholds = gc.get_threshold()
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA wal_autocheckpoint")
        pages = int(cursor.fetchone()[0])
        cursor.execute("PRAGMA wal_autocheckpoint = 16000")
    gc.freeze()
    gc.set_threshold(100_000, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
        with connection.cursor() as cursor:
            cursor.execute(f"PRAGMA wal_autocheckpoint = {pages}")
            if not connection.in_atomic_block:
                cursor.execute("PRAGMA wal_checkpoint(PASSIVE)")


def data_version() -> int:
    """Return a number that changes whenever another connection has written to the database."""
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA data_version")
        return int(cursor.fetchone()[0])


def _adapter(field: "models.Field[Any, Any]") -> Callable[[Any], Any] | None:
    """Return what turns a Python value into the column's, None where they are the same."""
    if isinstance(field, models.DateTimeField):
        return _utc_text
    if isinstance(field, models.JSONField):
        return _json_text
    return None


def _utc_text(value: datetime | None) -> str | None:
    """Return a moment as Django stores it: in UTC, without saying so."""
    return None if value is None else value.astimezone(UTC).isoformat(" ").removesuffix("+00:00")


def _json_text(value: Any) -> str:
    return json.dumps(value) if value else "[]" if value == [] else "{}" if value == {} else json.dumps(value)
