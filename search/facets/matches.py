"""What a search matches of each kind, as something to count in: ids that are known, and a plan for the index."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.utils import DatabaseError

from memweb.memories.indexing import EVERY_MEMORY
from memweb.memories.kinds import Kind
from search.keyword.expression import EVERYTHING, AllOf, AnyToken, Expression, NoneOf, to_match
from search.keyword.limits import Rows, rows_within
from search.keyword.plan import Plan
from search.keyword.schema import TABLES
from search.strategies.sqlite import Found, SQLiteSearchStrategy

# So many rows are read one by one, of the kinds with the fewest; of the others the index counts what it can.
READ_ROWS = 20_000


class Clock:
    """What is left of the time for counting."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def seconds(self) -> float:
        return max(0.0, self._end - time.monotonic())


@dataclass(frozen=True, slots=True)
class Matches:
    """What matches of one kind. `is_capped`: there are more than `ids`; `total` is None when nobody knows how many.

    `plan` finds the same in the index, where that can be asked; `last_id` bounds it.
    """

    kind: Kind
    ids: list[int]
    is_capped: bool
    total: int | None
    plan: Plan | None = None
    last_id: int | None = None

    @property
    def count(self) -> int:
        return len(self.ids) if self.total is None else self.total

    @property
    def is_countable(self) -> bool:
        """Whether the index can count by itself, without looking at rows."""
        return self.plan is not None and not self.plan.conditions

    @property
    def match(self) -> str:
        """What the index is asked for."""
        return to_match((self.plan.expression if self.plan else None) or EVERYTHING)

    @property
    def bound(self) -> str:
        """A condition on the ids of the index, with a leading AND."""
        return "" if self.last_id is None else f" AND {TABLES[self.kind]}.rowid <= {int(self.last_id)}"

    @property
    def left_out(self) -> Expression | None:
        """What is missing when everything else of the kind matches; None when more is asked for."""
        if not self.is_countable or self.last_id is not None:
            return None
        members = members_of(self.plan)
        left_out = [token for one in members if isinstance(one, NoneOf) for token in one.members]
        others = [one for one in members if not isinstance(one, NoneOf) and one != AnyToken((EVERY_MEMORY,))]
        if others or not all(isinstance(one, AnyToken) for one in left_out):
            return None
        return AnyToken(tuple(name for one in left_out if isinstance(one, AnyToken) for name in one.tokens))


def matches_of(
    found: Mapping[Kind, Found],
    strategy: SQLiteSearchStrategy,
    clock: Clock,
    last_ids: Mapping[Kind, int] | None = None,
    *,
    read: int = READ_ROWS,
) -> dict[Kind, Matches]:
    """Return what matches of each kind: the ids of all, where there are at most `read` of them."""
    matches: dict[Kind, Matches] = {}
    for kind, some in found.items():
        plan = None if kind in strategy.failed else strategy.plans.get(kind)
        last_id = None if last_ids is None else last_ids.get(kind, 0)
        total = None if some.is_capped else len(some.ids)
        matches[kind] = Matches(kind, some.ids, some.is_capped, total, plan, last_id)
    capped = {kind: one for kind, one in matches.items() if one.is_capped and one.plan}
    if not capped:
        return matches
    totals = _totals(capped, clock)
    left = read - sum(len(one.ids) for one in matches.values() if not one.is_capped)
    few: dict[Kind, Plan] = {}
    # Where nobody knows how many there are, there may be few enough.
    for kind in sorted(capped, key=lambda kind: totals.get(kind, 0)):
        left -= totals.get(kind, 0)
        plan = capped[kind].plan
        if left >= len(capped[kind].ids) and plan:
            few[kind] = plan
    more = SQLiteSearchStrategy(few, last_ids).find(read) if few and clock.seconds else {}
    for kind, one in capped.items():
        known = more.get(kind)
        if known and not known.is_capped:
            # Meaning may have found some that the plan does not.
            ids = sorted({*known.ids, *one.ids}, reverse=True)
            matches[kind] = replace(one, ids=ids, is_capped=False, total=len(ids))
        else:
            matches[kind] = replace(one, total=totals.get(kind))
    return matches


def _totals(capped: Mapping[Kind, Matches], clock: Clock) -> dict[Kind, int]:
    """Return how many rows match, of the kinds that the index can count by itself and in time."""
    parts: list[str] = []
    params: list[Any] = []
    for kind, one in capped.items():
        if one.is_countable:
            parts.append(f"SELECT '{kind}', count(*) FROM {TABLES[kind]} WHERE {TABLES[kind]} MATCH %s{one.bound}")
            params.append(one.match)
    return {Kind(name): count for name, count in rows_in_time(parts, params, clock).rows}


def rows_in_time(parts: list[str], params: list[Any], clock: Clock) -> Rows:
    """Return the rows of all statements; they are not complete when the time is over or the index cannot be read."""
    if not parts:
        return Rows()
    try:
        return rows_within(clock.seconds, " UNION ALL ".join(parts), params)
    except DatabaseError:
        return Rows(is_complete=False)


def members_of(plan: Plan | None) -> tuple[Expression, ...]:
    """Return what the index is asked, all of which must hold."""
    expression = plan.expression if plan else None
    if expression is None:
        return ()
    return expression.members if isinstance(expression, AllOf) else (expression,)
