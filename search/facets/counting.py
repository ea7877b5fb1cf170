"""Counts of filter tokens by the index alone, for a kind with too many matches to be read."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

from memweb.memories.kinds import Kind
from search.facets.matches import Clock, Matches, rows_in_time
from search.facets.names import TOKEN_PREFIXES, FacetName
from search.keyword.expression import AnyToken, to_match
from search.keyword.schema import CONTENT_TABLES, TABLES

# Of more values than this only some are known to the index without asking for each of them.
LISTED_VALUES = 5_000
# When all but so few rows match, these are read and the rest is known.
LEFT_OUT_ROWS = 2_000


class IndexCounter:
    """Counts what matches of one kind. Every count is None when it was not made in time."""

    def __init__(self, matches: Matches, clock: Clock) -> None:
        self._matches = matches
        self._clock = clock
        self._index = TABLES[matches.kind]
        self._table = CONTENT_TABLES[matches.kind]
        self._left_out = self._tokens_left_out()

    @property
    def is_whole(self) -> bool:
        """Whether nearly all of the kind matches, so that what the index knows of the kind tells all counts."""
        return self._left_out is not None

    def documents(self, name: FacetName) -> Counter[str] | None:
        """Return the tokens of a facet, each with how many memories of the kind have it; of very many some."""
        prefix = TOKEN_PREFIXES[name]
        rows = self._rows(
            f"SELECT term, doc FROM {self._index}_vocab WHERE term >= %s AND term < %s LIMIT {LISTED_VALUES}",
            [prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)],
        )
        left_out = self._left_out or Counter[str]()
        return None if rows is None else +Counter({token: count - left_out[token] for token, count in rows})

    def count(self, tokens: Sequence[str]) -> Counter[str] | None:
        """Return how many matches have each of these tokens."""
        rows = self._rows(
            f"SELECT value, (SELECT count(*) FROM {self._index} WHERE {self._index} MATCH"
            f" %s || ' AND \"' || replace(value, '\"', '\"\"') || '\"'{self._matches.bound}) FROM json_each(%s)",
            [self._matches.match, json.dumps(tokens)],
        )
        return None if rows is None else Counter(dict(rows))

    def rooms(self) -> Counter[str] | None:
        """Return how many matches are in each room; None too when the rows themselves would have to be read."""
        left_out = self._matches.left_out
        if self._matches.kind is not Kind.DRAWER:
            return Counter()
        if left_out is None:
            return None
        rows = self._rows(
            f"SELECT room, count(*) FROM {self._table} GROUP BY room UNION ALL"
            f" SELECT m.room, -count(*) FROM {self._index} CROSS JOIN {self._table} AS m ON m.id = {self._index}.rowid"
            f" WHERE {self._index} MATCH %s GROUP BY m.room",
            [to_match(left_out)],
        )
        if rows is None:
            return None
        counts: Counter[str] = Counter()
        for room, count in rows:
            counts[room] += count
        return +counts

    def _tokens_left_out(self) -> Counter[str] | None:
        """Return the tokens of the few rows that do not match; None when there are many, or more is asked for."""
        left_out = self._matches.left_out
        if left_out is None:
            return None
        if left_out == AnyToken(()):
            return Counter()
        rows = self._rows(
            "SELECT m.scope_terms FROM"
            f" (SELECT rowid AS id FROM {self._index} WHERE {self._index} MATCH %s LIMIT {LEFT_OUT_ROWS + 1}) AS f"
            f" CROSS JOIN {self._table} AS m ON m.id = f.id",
            [to_match(left_out)],
        )
        if rows is None or len(rows) > LEFT_OUT_ROWS:
            return None
        return Counter(" ".join([scope for (scope,) in rows]).split())

    def _rows(self, sql: str, params: list[str]) -> list[tuple[Any, ...]] | None:
        found = rows_in_time([sql], params, self._clock)
        return found.rows if found.is_complete else None
