"""Which memories have each value of a facet, out of the indexes: for kinds with too many matches to be read."""

import json
from functools import cached_property

import numpy as np
from django.db import connection

from memweb.memories.kinds import Kind
from memweb.memories.models import Concept, Project, Tag
from search.facets.clock import Clock, rows_in_time
from search.facets.matches import Ids, Matches, concatenated
from search.facets.names import TOKEN_PREFIXES, FacetName
from search.keyword.schema import CONTENT_TABLES, TABLES

# A facet with more values in one kind is not looked at as a whole.
MOST_VALUES = 5_000

# The index knows all values of a facet, too, but counts the memories of each before it names them.
_NAMES = {
    FacetName.PROJECT: Project._meta.db_table,
    FacetName.CONCEPT: Concept._meta.db_table,
    FacetName.TAG: Tag._meta.db_table,
}

Values = dict[str, Ids]


# What was read, until the index is written: by database, kind and facet, with the version of the index.
_read: dict[tuple[str, Kind, FacetName], tuple[str, Values]] = {}


class Postings:
    """The ids of each value in one kind, whatever a search matches."""

    def __init__(self, kind: Kind, clock: Clock) -> None:
        self._kind = kind
        self._clock = clock
        self._known: dict[FacetName, Values | None] = {}

    def of(self, name: FacetName) -> Values | None:
        """Return the ids of each token of a facet, or of each room; None when they were not read in time."""
        if name not in self._known:
            self._known[name] = self._rooms() if name is FacetName.ROOM else self._remembered(name)
        return self._known[name]

    def _remembered(self, name: FacetName) -> Values | None:
        if self._version is None:
            return None
        key = (str(connection.settings_dict["NAME"]), self._kind, name)
        version, values = _read.get(key, ("", None))
        if values is None or version != self._version:
            values = self._tokens(name)
            if values is not None:
                _read[key] = self._version, values
        return values

    @cached_property
    def _version(self) -> str | None:
        """What changes with every write to the index: its averages and its structure, as FTS5 keeps them."""
        sql = f"SELECT group_concat(hex(block)) FROM {TABLES[self._kind]}_data WHERE id IN (1, 10)"
        rows = rows_in_time([sql], [], self._clock)
        return rows.rows[0][0] if rows.is_complete else None

    def _tokens(self, name: FacetName) -> Values | None:
        index, prefix = TABLES[self._kind], TOKEN_PREFIXES[name]
        if name in _NAMES:
            sql, params = f"SELECT '{prefix}' || id FROM {_NAMES[name]} LIMIT {MOST_VALUES + 1}", []
        else:
            sql = f"SELECT term FROM {index}_vocab WHERE term >= %s AND term < %s LIMIT {MOST_VALUES + 1}"
            params = [prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)]
        terms = rows_in_time([sql], params, self._clock)
        if not terms.is_complete or len(terms.rows) > MOST_VALUES:
            return None
        if not terms.rows:
            return {}
        return self._values(
            f"SELECT value, (SELECT group_concat(rowid) FROM {index} WHERE {index} MATCH"
            " '\"' || replace(value, '\"', '\"\"') || '\"') FROM json_each(%s)",
            [json.dumps([term for (term,) in terms.rows])],
        )

    def _rooms(self) -> Values | None:
        if self._kind is not Kind.DRAWER:
            return {}
        return self._values(f"SELECT room, group_concat(id) FROM {CONTENT_TABLES[self._kind]} GROUP BY room", [])

    def _values(self, sql: str, params: list[str]) -> Values | None:
        found = rows_in_time([sql], params, self._clock)
        return {value: concatenated(ids) for value, ids in found.rows} if found.is_complete else None


class Mask:
    """Looks up which of many ids match."""

    def __init__(self, matches: Matches) -> None:
        self._ids = matches.ids

    def count(self, ids: Ids) -> int:
        """Return how many of these ids match."""
        return len(self.those(ids))

    def those(self, ids: Ids) -> Ids:
        """Return those of these ids that match."""
        ids = ids[ids < len(self._is_there)]
        return ids[self._is_there[ids]]

    @cached_property
    def _is_there(self) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        there = np.zeros(int(self._ids[-1]) + 1 if len(self._ids) else 0, dtype=np.bool_)
        there[self._ids] = True
        return there


def forget_postings() -> None:
    """Forget what was read: after a rollback, which takes an index back to what it was."""
    _read.clear()
