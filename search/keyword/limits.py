"""Bounds on what one statement may cost: time limits on SQLite statements, and which prefixes are too common."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.db import connection
from django.db.utils import DatabaseError, OperationalError

from memweb.memories.kinds import Kind
from search.keyword.schema import TABLES

_INSTRUCTIONS_BETWEEN_LOOKS = 1000
_CHUNK = 256


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
            while chunk := cursor.fetchmany(_CHUNK):
                result.rows += chunk
        except OperationalError as error:
            if "interrupted" not in str(error):
                raise
            result.is_complete = False
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


# About 60 leaf pages of 4 kB hold what FTS5 merges in some 30 ms; it cannot be interrupted while it does.
MAX_PREFIX_PAGES = 60


def is_costly_prefix(prefix: str, kind: Kind) -> bool:
    """Return whether so many index pages hold words with this prefix that merging them would be slow.

    Reads the `_idx` table of FTS5, which names the first term of every leaf page; the distance between the pages of the
    first and the last such term bounds the work without doing it.
    """
    table = TABLES[kind]
    low, high = b"0" + prefix.encode(), b"0" + prefix.encode() + b"\xff"
    # pgno holds the page number times two, plus a flag.
    sql = f"""
        SELECT (SELECT max(pgno / 2) FROM {table}_idx WHERE segid = s.segid AND term <= %s),
               (SELECT min(pgno / 2) FROM {table}_idx WHERE segid = s.segid AND term > %s),
               (SELECT max(pgno / 2) FROM {table}_idx WHERE segid = s.segid)
        FROM (SELECT DISTINCT segid FROM {table}_idx) AS s
    """
    try:
        with connection.cursor() as cursor:
            cursor.execute(sql, [low, high])
            spans = cursor.fetchall()
    except DatabaseError:
        return False
    pages = sum((end if end is not None else last) - (start if start is not None else 0) for start, end, last in spans)
    return pages > MAX_PREFIX_PAGES
