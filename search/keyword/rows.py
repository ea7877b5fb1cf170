"""Rows of memories with their terms, read by key and compared with what a request asks for."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from memweb.memories.kinds import Kind
from search.keyword.expression import RowTerms, matches
from search.keyword.limits import rows_within
from search.keyword.plan import Plan
from search.keyword.schema import COLUMNS, CONTENT_TABLES

READ_SECONDS = 1.0

Key = tuple[Kind, int]


def padded(columns: Iterable[str]) -> str:
    """Return SQL for columns of terms as RowTerms holds them: SQLite pads a thousand rows sooner than Python does."""
    return ", ".join(f"' ' || {column} || ' '" for column in columns)


_TERMS = padded(f"m.{column}" for column in COLUMNS)


@dataclass(frozen=True, slots=True)
class Row:
    """A row with its terms and its time as stored; `is_wanted`: it fulfils the plan of its kind."""

    created_at: str | None
    terms: RowTerms
    is_wanted: bool


def read_rows(keys: Iterable[Key], plans: Mapping[Kind, Plan]) -> dict[Key, Row]:
    """Return the rows of these keys; those of a kind without a plan are not wanted."""
    ids: dict[Kind, list[int]] = {}
    for kind, id in keys:
        ids.setdefault(kind, []).append(id)
    found: dict[Key, Row] = {}
    for kind, some in ids.items():
        plan = plans.get(kind)
        where, values = plan.where() if plan else (" AND 0", [])
        sql = (
            f"SELECT m.id, '' || m.created_at, (1{where}), {_TERMS} FROM {CONTENT_TABLES[kind]} AS m"
            " WHERE m.id IN (SELECT value FROM json_each(%s))"
        )
        for id, created_at, fulfils, *columns in rows_within(READ_SECONDS, sql, [*values, json.dumps(some)]).rows:
            terms = RowTerms(*columns)
            expression = plan.expression if plan else None
            is_wanted = bool(fulfils) and (expression is None or matches(expression, terms))
            found[kind, id] = Row(created_at, terms, is_wanted)
    return found
