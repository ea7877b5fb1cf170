"""Prefixes of words: which are too common to be merged by FTS5, and what takes their place.

FTS5 merges the entries of all words with a prefix before it returns the first row, and nothing can interrupt it. In a
large collection that is slow for short prefixes and for common words; there, the words themselves are asked for.
"""

import time
from functools import lru_cache
from pathlib import Path

from django.db import connection
from django.db.utils import DatabaseError

from memweb.memories.kinds import Kind
from search.analysis import Alternative
from search.keyword.limits import rows_within
from search.keyword.schema import TABLES

# About 60 leaf pages of 4 kB hold what FTS5 merges in some 30 ms.
MAX_PREFIX_PAGES = 60
# In a smaller database no prefix is worth the statement that looks.
LARGE_DATABASE = 8_000_000
MIN_COMPLETED = 3
MAX_COMPLETIONS = 40
SECONDS = 0.3


def is_large_database() -> bool:
    """Return whether the database file is so large that prefixes need a look."""
    path = Path(str(connection.settings_dict["NAME"]))
    return path.is_file() and path.stat().st_size > LARGE_DATABASE


def without_costly_prefixes(alternatives: tuple[Alternative, ...]) -> tuple[tuple[Alternative, ...], bool]:
    """Return alternatives in which costly prefixes are replaced by words, and whether words may be missing."""
    found: list[Alternative] = []
    is_cut = False
    for one in alternatives:
        if not (one.prefix and any(is_costly_prefix(one.atoms[-1], kind) for kind in Kind)):
            found.append(one)
            continue
        words, is_complete = _completions_this_minute(one.atoms[-1], connection.settings_dict["NAME"], _minute())
        found += [Alternative((*one.atoms[:-1], word)) for word in words]
        is_cut = is_cut or not is_complete
    return tuple(dict.fromkeys(found)), is_cut


@lru_cache(maxsize=1000)
def _completions_this_minute(prefix: str, database: str, minute: int) -> tuple[list[str], bool]:
    """Return completions that may be a minute old: reading them takes as long as the rest of a search."""
    return completions(prefix)


def _minute() -> int:
    return int(time.monotonic() // 60)


def completions(prefix: str) -> tuple[list[str], bool]:
    """Return indexed words that begin with a prefix, the prefix itself first, and whether these are all of them."""
    if len(prefix) < MIN_COMPLETED:
        return [prefix], False
    words: dict[str, None] = {prefix: None}
    is_complete = True
    for kind in Kind:
        sql = f"SELECT term FROM {TABLES[kind]}_vocab WHERE term >= %s AND term < %s LIMIT %s"
        try:
            rows = rows_within(SECONDS, sql, [prefix, prefix + "\U0010ffff", MAX_COMPLETIONS])
        except DatabaseError:
            continue
        words |= {term: None for (term,) in rows.rows}
        is_complete = is_complete and rows.is_complete and len(rows.rows) < MAX_COMPLETIONS
    return list(words), is_complete


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
