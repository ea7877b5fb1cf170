"""Bounds on what one statement may cost: time limits on SQLite statements."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.db.utils import DatabaseError, OperationalError

_INSTRUCTIONS_BETWEEN_LOOKS = 1000


@dataclass(slots=True)
class Rows:
    """Rows of a statement; `is_complete` is False when its time ran out before the last one."""

    rows: list[tuple[Any, ...]] = field(default_factory=list)
    is_complete: bool = True


def rows_within(seconds: float, sql: str, params: Sequence[Any]) -> Rows:
    """Run a reading statement for at most about `seconds`; return what it found until then.

    Raises DatabaseError for every other failure, also when the damage shows after some rows.
    """
    result = Rows()
    with time_limit(seconds), connection.cursor() as cursor:
        try:
            cursor.execute(sql, list(params))
            # Row by row, past Django's wrapper of each: what was found before the time ran out is kept.
            with connection.wrap_database_errors:
                result.rows.extend(cursor.cursor)
        except OperationalError as error:
            if "interrupted" not in str(error):
                raise
            result.is_complete = False
        except MemoryError as error:
            # SQLite says so of a damaged index whose lengths are absurd.
            raise DatabaseError("the index is damaged: it asks for more memory than there is") from error
    return result


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Interrupt statements that run longer; SQLite looks at the clock between its instructions."""
    connection.ensure_connection()
    raw: sqlite3.Connection = connection.connection
    deadline = time.monotonic() + seconds
    raw.set_progress_handler(lambda: time.monotonic() > deadline, _INSTRUCTIONS_BETWEEN_LOOKS)
    try:
        yield
    finally:
        raw.set_progress_handler(None, 0)
