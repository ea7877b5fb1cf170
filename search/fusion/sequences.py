"""Which drawers stand next to each other."""

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise

from search.keyword.limits import rows_within

READ_SECONDS = 1.0

_BESIDE = (
    "(SELECT group_concat(id) FROM (SELECT n.id FROM memories_drawer AS n WHERE {owner}"
    " AND (n.{place}, n.id) {sign} (m.{place}, m.id) ORDER BY n.{place} {sort}, n.id {sort} LIMIT {reach}))"
)
_IN_SESSION = {"owner": "n.session_id = m.session_id", "place": "created_at"}
_IN_FILE = {"owner": "m.session_id IS NULL AND n.session_id IS NULL AND n.file_id = m.file_id", "place": "chunk_index"}
_SIDES = tuple(
    {**owner, "sign": sign, "sort": sort}
    for owner in (_IN_SESSION, _IN_FILE)
    for sign, sort in (("<", "DESC"), (">", "ASC"))
)


class Sequences:
    """Which drawers stand next to each other: by time in one session, else by chunk in one file."""

    def __init__(self) -> None:
        self._next: dict[int, int] = {}
        self._previous: dict[int, int] = {}
        self._around: dict[tuple[int, int], tuple[tuple[int, int], ...]] = {}

    def add(self, ids: Sequence[int]) -> None:
        """Note that these drawers follow one another."""
        for one, other in pairwise(ids):
            self._next[one] = other
            self._previous[other] = one

    def beside(self, id: int) -> tuple[int | None, int | None]:
        """Return the drawers right before and right after one."""
        return self._previous.get(id), self._next.get(id)

    def around(self, id: int, reach: int) -> tuple[tuple[int, int], ...]:
        """Return drawers at most `reach` places away (as far as they are known) with their distances, itself first."""
        known = self._around.get((id, reach))
        if known is None:
            found = [(id, 0)]
            for step in (self._next, self._previous):
                at = id
                for distance in range(1, reach + 1):
                    if at not in step:
                        break
                    at = step[at]
                    found.append((at, distance))
            known = self._around[id, reach] = tuple(found)
        return known


def read_sequences(ids: Iterable[int], reach: int) -> Sequences:
    """Return the drawers up to `reach` places before and after each of some drawers, in one statement."""
    found = Sequences()
    wanted = list(ids)
    if not wanted:
        return found
    sides = ", ".join(_BESIDE.format(reach=int(reach), **side) for side in _SIDES)
    sql = f"SELECT m.id, {sides} FROM memories_drawer AS m WHERE m.id IN (SELECT value FROM json_each(%s))"
    for id, *lists in rows_within(READ_SECONDS, sql, [json.dumps(wanted)]).rows:
        before, after, before_in_file, after_in_file = (
            [int(one) for one in (ids or "").split(",") if one] for ids in lists
        )
        found.add([*reversed(before or before_in_file), id, *(after or after_in_file)])
    return found
