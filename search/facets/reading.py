"""One reading of the rows that match, for all facets and the histogram together."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from memweb.memories.kinds import Kind
from search.facets.clock import Clock, rows_in_time
from search.facets.matches import Ids, Matches
from search.keyword.rows import Key
from search.keyword.schema import CONTENT_TABLES

# Of a kind with too many rows, so many of the newest are read for what no index tells.
SAMPLED_ROWS = 1_000


class Row(NamedTuple):
    """What facets know of a memory: its time as stored (None: unknown), its filter tokens, and two columns."""

    created_at: str | None
    scope: str
    agent: str
    room: str


@dataclass(slots=True)
class Reading:
    """The rows that were read. Not `is_complete`: the time was over before the last one."""

    rows: dict[Key, Row] = field(default_factory=dict)
    is_complete: bool = True

    def of(self, matches: Mapping[Kind, Matches]) -> list[Row]:
        """Return the rows of these matches that were read, in the order of their ids."""
        return [
            row
            for kind, one in matches.items()
            for id in wanted_ids(one).tolist()
            if (row := self.rows.get((kind, id))) is not None
        ]


def read_rows(bases: Iterable[Mapping[Kind, Matches]], clock: Clock) -> Reading:
    """Read every row that matches in any of these, once, in one statement."""
    ids: dict[Kind, set[int]] = {}
    for matches in bases:
        for kind, one in matches.items():
            ids.setdefault(kind, set()).update(wanted_ids(one).tolist())
    parts: list[str] = []
    params: list[Any] = []
    for kind, wanted in ids.items():
        if wanted:
            room = "room" if kind is Kind.DRAWER else "''"
            parts.append(
                f"SELECT '{kind}', id, '' || created_at, scope_terms, agent, {room} FROM {CONTENT_TABLES[kind]}"
                " WHERE id IN (SELECT value FROM json_each(%s))"
            )
            params.append(json.dumps(sorted(wanted, reverse=True)))
    kinds = {str(kind): kind for kind in Kind}
    found = rows_in_time(parts, params, clock)
    return Reading({(kinds[name], id): Row(*columns) for name, id, *columns in found.rows}, found.is_complete)


def wanted_ids(one: Matches) -> Ids:
    return one.ids if one.is_read else one.ids[-SAMPLED_ROWS:]


def count_tokens(rows: Iterable[Row]) -> Counter[str]:
    """Return how many of the rows have each filter token; a row has each of its tokens once."""
    return Counter(" ".join([row.scope for row in rows]).split())
