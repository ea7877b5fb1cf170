"""States that are hidden unless asked for: how many memories each of them would bring."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from memweb.memories.indexing import flag_token
from memweb.memories.kinds import Kind
from search.facets.clock import Clock, rows_in_time
from search.facets.matches import Matches, members_of
from search.keyword.expression import AllOf, AnyToken, Expression, to_match
from search.keyword.filters import HIDDEN_FLAGS, hidden_by_default
from search.keyword.schema import CONTENT_TABLES, TABLES

ANY = "any"


def count_hidden(matches: Mapping[Kind, Matches], clock: Clock) -> Counter[str] | None:
    """Return how many memories there would be with each hidden state, and how many more in any; None when not in time.

    Only kinds that have such memories at all are asked.
    """
    flags = _flags_of(matches, clock)
    parts: list[str] = []
    params: list[Any] = []
    for kind, flag in flags:
        one = matches[kind]
        others = tuple(other for other in HIDDEN_FLAGS if other != flag)
        for name, wanted, hidden in ((flag, (flag,), others), (ANY, HIDDEN_FLAGS, ())):
            sql, values = _statement(one, name, wanted, hidden)
            if sql not in parts or name != ANY:
                parts.append(sql)
                params += values
    found = rows_in_time(parts, params, clock)
    counts: Counter[str] = Counter()
    for name, count in found.rows:
        counts[name] += count
    return +counts if found.is_complete else None


def _flags_of(matches: Mapping[Kind, Matches], clock: Clock) -> list[tuple[Kind, str]]:
    tokens = {flag_token(flag): flag for flag in HIDDEN_FLAGS}
    marks = ", ".join(["%s"] * len(tokens))
    asked = [kind for kind, one in matches.items() if one.plan]
    parts = [f"SELECT '{kind}', term FROM {TABLES[kind]}_vocab WHERE term IN ({marks})" for kind in asked]
    rows = rows_in_time(parts, [*tokens] * len(parts), clock)
    return [(Kind(name), tokens[token]) for name, token in rows.rows]


def _statement(one: Matches, name: str, wanted: tuple[str, ...], hidden: tuple[str, ...]) -> tuple[str, list[Any]]:
    index, plan = TABLES[one.kind], one.plan
    members: list[Expression] = [AnyToken(tuple(map(flag_token, wanted)))]
    members += [each for each in members_of(plan) if each != hidden_by_default(HIDDEN_FLAGS)]
    members += [hidden_by_default(hidden)] if hidden else []
    where, values = plan.where() if plan else ("", [])
    join = f" CROSS JOIN {CONTENT_TABLES[one.kind]} AS m ON m.id = {index}.rowid" if where else ""
    sql = f"SELECT '{name}', count(*) FROM {index}{join} WHERE {index} MATCH %s{where}"
    return sql, [to_match(AllOf(tuple(members))), *values]
