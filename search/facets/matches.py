"""What a search matches of each kind: the ids of all, also where a search itself stops at the first thousands."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memweb.memories.kinds import Kind
from search.facets.clock import Clock, rows_in_time
from search.keyword.expression import EVERYTHING, AllOf, Expression, to_match
from search.keyword.plan import Plan
from search.keyword.schema import CONTENT_TABLES, TABLES
from search.strategies.sqlite import Found, SQLiteSearchStrategy

# So many rows are read one by one, of the kinds with the fewest; for the others indexes are asked.
READ_ROWS = 5_000
_TIME_CONDITIONS = ("m.created_at >= %s", "m.created_at < %s")

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Matches:
    """What matches of one kind; ids ascend. `is_capped`: there are more than these, and nobody knows how many.

    `is_read`: few enough that the rows themselves are read. `plan` finds the same in the index, if that can be asked.
    """

    kind: Kind
    ids: Ids
    is_capped: bool
    is_read: bool
    plan: Plan | None = None

    @property
    def count(self) -> int:
        return len(self.ids)


def matches_of(
    found: Mapping[Kind, Found],
    strategy: SQLiteSearchStrategy,
    clock: Clock,
    last_ids: Mapping[Kind, int] | None = None,
    *,
    read: int = READ_ROWS,
) -> dict[Kind, Matches]:
    """Return what matches of each kind, at most `read` of them to be read."""
    matches: list[Matches] = []
    for kind, some in found.items():
        plan = None if kind in strategy.failed else strategy.plans.get(kind)
        ids = np.array(some.ids[::-1], dtype=np.int64)
        one = Matches(kind, ids, some.is_capped, False, plan)
        if some.is_capped and plan is not None:
            one = _whole(one, plan, clock, None if last_ids is None else last_ids.get(kind, 0))
        matches.append(one)
    known: dict[Kind, Matches] = {}
    for one in sorted(matches, key=lambda one: (one.count, one.kind)):
        read -= one.count
        known[one.kind] = replace(one, is_read=read >= 0 and not one.is_capped)
    return {kind: known[kind] for kind in found}


def concatenated(ids: str | None) -> Ids:
    """Return ids that SQLite wrote as one text: twenty times as fast as a row for each of them."""
    return np.fromstring(ids, dtype=np.int64, sep=",") if ids else np.zeros(0, dtype=np.int64)


def members_of(plan: Plan | None) -> tuple[Expression, ...]:
    """Return what the index is asked, all of which must hold."""
    expression = plan.expression if plan else None
    if expression is None:
        return ()
    return expression.members if isinstance(expression, AllOf) else (expression,)


def _whole(one: Matches, plan: Plan, clock: Clock, last_id: int | None) -> Matches:
    """Return all that matches; what was known when the time does not suffice."""
    where, values = plan.where()
    table, index = CONTENT_TABLES[one.kind], TABLES[one.kind]
    is_of_times = all(condition.sql in _TIME_CONDITIONS for condition in plan.conditions)
    join = f" CROSS JOIN {table} AS m ON m.id = {index}.rowid" if where and not is_of_times else ""
    match = to_match(plan.expression or EVERYTHING)
    parts = [f"SELECT group_concat({index}.rowid) FROM {index}{join} WHERE {index} MATCH %s{where if join else ''}"]
    params = [match, *(values if join else ())]
    if where and is_of_times:
        # An index has times and ids together: sooner than looking at the row of each id.
        parts.append(f"SELECT group_concat(m.id) FROM {table} AS m WHERE 1{where}")
        params += values
    rows = rows_in_time(parts, params, clock)
    if not rows.is_complete:
        return one
    ids, *timely = (concatenated(text) for (text,) in rows.rows)
    for some in timely:
        ids = ids[is_among(ids, some)]
    if last_id is not None:
        ids = ids[ids <= last_id]
    # Meaning may have found some that the plan does not.
    others = one.ids[~is_among(one.ids, ids)]
    return replace(one, ids=np.sort(np.concatenate([ids, others])) if len(others) else ids, is_capped=False)


def is_among(ids: Ids, others: Ids) -> NDArray[np.bool_]:
    """Return for each id whether it is among others."""
    there = np.zeros(max(ids.max(initial=0), others.max(initial=0)) + 1, dtype=np.bool_)
    there[others] = True
    return there[ids]
