"""SQLiteSearchStrategy: candidates out of FTS5 for all kinds, in few statements of bounded cost."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.utils import DatabaseError

from memweb.memories.kinds import Kind
from search.cursors import TimeCursor
from search.keyword.expression import EVERYTHING, AnyPhrase, Expression, RowTerms, matches, to_match
from search.keyword.limits import Rows, rows_within
from search.keyword.plan import INDEXED, Plan
from search.keyword.rows import Key, padded
from search.keyword.schema import COLUMN_WEIGHTS, CONTENT_TABLES, TABLES
from search.request import Order

COUNTED = 5_000
SORTED = 50_000
# So few rows are read and sorted; with more, walking along the index of times meets the next ones sooner.
SORTED_DIRECTLY = 500
DENSE = 0.05
STATEMENT_SECONDS = 1.0
# With fewer rows than this left by the column conditions, rows are read and matched one by one.
FEW_ROWS = 3_000
# Conditions on fewer rows than this are answered beforehand, out of an index of their column where there is one.
LISTED_ROWS = 20_000
PROBE_SECONDS = 0.03
BOUNDS_SECONDS = 0.15
PHRASE_SECONDS = 0.025
BEST_SECONDS = 0.1
SCANNED = 20_000
SCAN_SECONDS = 1.5

_RANKED_TERMS = padded(("title_terms", "body_terms", "variant_terms"))

Bounds = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Found:
    """Ids of the rows of one kind that match, newest id first; `is_capped`: there are more."""

    ids: list[int]
    is_capped: bool

    @property
    def is_dense(self) -> bool:
        """Whether so many rows match that walking along any index soon meets the next ones."""
        return self.is_capped and len(self.ids) > (self.ids[0] - self.ids[-1]) * DENSE


@dataclass(frozen=True, slots=True)
class Candidate:
    """A row to be ranked: its key, its time as stored (text, None when unknown), its terms."""

    kind: Kind
    id: int
    created_at: str | None
    terms: RowTerms


class SQLiteSearchStrategy:
    """Finds rows by plans, one for each kind; `last_ids` bounds them from above.

    `failed` holds the kinds whose index could not be read.
    """

    name = "sqlite"

    def __init__(self, plans: Mapping[Kind, Plan], last_ids: Mapping[Kind, int] | None = None) -> None:
        self.plans = {kind: plan for kind, plan in plans.items() if not plan.is_empty}
        self.failed: dict[Kind, str] = {}
        self._last_ids = last_ids

    def find(self, limit: int = COUNTED) -> dict[Kind, Found]:
        """Return the matching ids of each kind, at most `limit` each."""
        found: dict[Kind, list[int]] = {kind: [] for kind in self.plans}
        ids_of = {str(kind): ids for kind, ids in found.items()}
        parts: dict[Kind, tuple[str, list[Any]]] = {}
        few = self._among_few()
        for kind, plan in self.plans.items():
            if kind in few:
                found[kind] += few[kind]
            elif kind not in self.failed:
                parts[kind] = self._matching(kind, plan, limit, self._id_bounds(kind, plan))
        rows = self._union(parts, STATEMENT_SECONDS)
        for name, id in rows.rows:
            ids_of[name].append(id)
        return {kind: Found(ids[:limit], len(ids) > limit or (not rows.is_complete)) for kind, ids in found.items()}

    def candidates(self, ids: Mapping[Kind, Iterable[int]]) -> list[Candidate]:
        """Return rows with their terms, for ranking; ids that no longer exist are left out."""
        parts: dict[Kind, tuple[str, list[Any]]] = {}
        for kind, wanted in ids.items():
            listed = list(wanted)
            if listed:
                parts[kind] = (
                    f"SELECT '{kind}', id, '' || created_at, {_RANKED_TERMS}"
                    f" FROM {CONTENT_TABLES[kind]} WHERE id IN (SELECT value FROM json_each(%s))",
                    [json.dumps(listed)],
                )
        rows = self._union(parts, STATEMENT_SECONDS)
        kinds = {str(kind): kind for kind in Kind}
        return [
            Candidate(kinds[name], id, created_at, RowTerms(title, body, variants, ""))
            for name, id, created_at, title, body, variants in rows.rows
        ]

    def with_phrase(self, phrase: AnyPhrase, limit: int) -> dict[Kind, list[int]]:
        """Return ids of matching rows that also hold a phrase, as many as a short time allows."""
        found: dict[Kind, list[int]] = {}
        for kind, plan in self.plans.items():
            statement = self._matching(kind, plan.narrowed(phrase), limit, (None, self._last_id(kind)))
            self._add_ids(found, kind, PHRASE_SECONDS, statement)
        return found

    def best(self, limit: int, words: Expression | None = None) -> dict[Kind, list[int]]:
        """Return ids of the best rows by FTS5's own BM25; none of a kind that is too large to be ranked soon.

        With `words` these must match too.
        """
        found: dict[Kind, list[int]] = {}
        weights = ", ".join(map(str, COLUMN_WEIGHTS))
        for kind, plan in self.plans.items():
            wanted = plan if words is None else plan.narrowed(words)
            order = f"bm25({TABLES[kind]}, {weights})"
            self._add_ids(
                found, kind, BEST_SECONDS, self._matching(kind, wanted, limit, (None, self._last_id(kind)), order)
            )
        return found

    def _add_ids(
        self, found: dict[Kind, list[int]], kind: Kind, seconds: float, statement: tuple[str, list[Any]]
    ) -> None:
        """Add what a statement for ids finds in a short time; a kind whose index fails is noted as failed."""
        try:
            found[kind] = [id for _, id in rows_within(seconds, *statement).rows]
        except DatabaseError as error:
            self.failed[kind] = str(error)

    def page_by_time(
        self, order: Order, limit: int, cursor: TimeCursor | None, found: Mapping[Kind, Found]
    ) -> list[tuple[Key, str | None]]:
        """Return keys and times (as stored) of the next rows in (time, kind, id) order after the cursor.

        Unknown times come last.
        """
        parts: dict[Kind, tuple[str, list[Any]]] = {}
        for kind, plan in self.plans.items():
            ids = found.get(kind)
            first = ""
            if ids is not None and (not ids.is_capped or kind in self.failed):
                params = [json.dumps(ids.ids)]
                if len(ids.ids) <= SORTED_DIRECTLY:
                    first, source = "json_each(%s) AS wanted CROSS JOIN ", "m.id = wanted.value"
                else:
                    source = "+m.id IN (SELECT value FROM json_each(%s))"
            else:
                # Many rows match: walking along the time index finds the next ones soonest.
                where, values = plan.where()
                table = TABLES[kind]
                source = f"EXISTS (SELECT 1 FROM {table} WHERE {table} MATCH %s AND {table}.rowid = m.id){where}"
                params = [to_match(plan.expression or EVERYTHING), *values]
            parts[kind] = _walk(kind, first, source, params, order, limit, cursor)
        parts = {kind: part for kind, part in parts.items() if part[0]}
        rows = [(moment, Kind(name), id) for name, moment, id in self._union(parts, STATEMENT_SECONDS).rows]
        backwards = order is Order.NEWEST
        known = sorted((row for row in rows if row[0] is not None), reverse=backwards)
        unknown = sorted(((kind, id) for moment, kind, id in rows if moment is None), reverse=backwards)
        keys = [*(((kind, id), moment) for moment, kind, id in known), *((key, None) for key in unknown)]
        return keys[:limit]

    def _last_id(self, kind: Kind) -> int | None:
        return None if self._last_ids is None else self._last_ids.get(kind, 0)

    def _among_few(self) -> dict[Kind, list[int]]:
        """Return the matching ids of those kinds of which the column conditions alone leave few rows.

        Then reading those rows is far cheaper than asking the index for a common word.
        """
        probes: dict[Kind, tuple[str, list[Any]]] = {}
        for kind, plan in self.plans.items():
            if plan.conditions:
                where, values = plan.where()
                last_id = self._last_id(kind)
                bound = "" if last_id is None else f" AND m.id <= {last_id}"
                sql = f"SELECT '{kind}', m.id FROM {CONTENT_TABLES[kind]} AS m WHERE 1{where}{bound}"
                probes[kind] = f"{sql} LIMIT {FEW_ROWS + 1}", values
        probed = self._union(probes, PROBE_SECONDS * len(probes))
        ids: dict[str, list[int]] = {str(kind): [] for kind in probes if kind not in self.failed}
        for name, id in probed.rows:
            ids[name].append(id)
        if not probed.is_complete:
            # Kinds are read in order: of the last one that answered, and of those after it, too little is known.
            last = max((place for place, name in enumerate(ids) if ids[name]), default=0)
            ids = dict(list(ids.items())[:last])
        few = {Kind(name): some for name, some in ids.items() if len(some) <= FEW_ROWS}
        found: dict[Kind, list[int]] = {kind: [] for kind in few}
        read = self._union({kind: _terms_of(kind, some) for kind, some in few.items() if some}, STATEMENT_SECONDS)
        if not read.is_complete:
            return {}
        for name, id, *terms in read.rows:
            kind = Kind(name)
            expression = self.plans[kind].expression
            if expression is None or matches(expression, RowTerms.of(*terms)):
                found[kind].append(id)
        return {kind: sorted(some, reverse=True) for kind, some in found.items()}

    def _id_bounds(self, kind: Kind, plan: Plan) -> Bounds:
        """Return the lowest and highest id that the column conditions leave, where that is quickly known.

        Memories are mostly written in the order of their times, so the bounds of a day spare the index all other days.
        """
        last_id = self._last_id(kind)
        if not plan.conditions:
            return None, last_id
        where, values = plan.where()
        sql = f"SELECT min(m.id), max(m.id) FROM {CONTENT_TABLES[kind]} AS m WHERE 1{where}"
        rows = rows_within(BOUNDS_SECONDS, sql, values).rows
        if not rows or rows[0][0] is None:
            return None, last_id
        low, high = rows[0]
        return low, high if last_id is None else min(high, last_id)

    def _matching(self, kind: Kind, plan: Plan, limit: int, bounds: Bounds, order: str = "") -> tuple[str, list[Any]]:
        """Return the statement for ids of one kind, one more than the limit; newest id first without an order."""
        table = TABLES[kind]
        match = to_match(plan.expression or EVERYTHING)
        where, values = plan.where()
        limits = [(sign, id) for sign, id in zip((">=", "<="), bounds, strict=True) if id is not None]
        bound = "".join(f" AND {table}.rowid {sign} %s" for sign, _ in limits)
        low, high = bounds
        join = ""
        if where and low is not None and high is not None and high - low < LISTED_ROWS:
            where = f" AND +{table}.rowid IN (SELECT m.id FROM {CONTENT_TABLES[kind]} AS m WHERE 1{where})"
        elif where:
            # CROSS JOIN keeps the index as the outer loop: the planner would rather ask it once per row.
            join = f" CROSS JOIN {CONTENT_TABLES[kind]} AS m ON m.id = {table}.rowid"
        sql = (
            f"SELECT '{kind}', {table}.rowid FROM {table}{join}"
            f" WHERE {table} MATCH %s{bound}{where} ORDER BY {order or f'{table}.rowid DESC'} LIMIT %s"
        )
        return sql, [match, *(id for _, id in limits), *values, limit + 1]

    def _union(self, parts: Mapping[Kind, tuple[str, list[Any]]], seconds: float) -> Rows:
        """Run the statements of several kinds as one; when one fails, each by itself so that only that kind is lost."""
        if not parts:
            return Rows()
        sql = " UNION ALL ".join(f"SELECT * FROM ({part})" for part, _ in parts.values())
        try:
            return rows_within(seconds, sql, [value for _, params in parts.values() for value in params])
        except DatabaseError:
            together = Rows()
            for kind, (part, params) in parts.items():
                try:
                    rows = rows_within(seconds, part, params)
                except DatabaseError as error:
                    self.failed[kind] = str(error)
                    continue
                together.rows += rows.rows
                together.is_complete = together.is_complete and rows.is_complete
            return together


class ScanStrategy:
    """Reads rows one by one when an index cannot be used; bounded in rows and time, newest rows first."""

    name = "scan"

    def __init__(self, plans: Mapping[Kind, Plan]) -> None:
        self.plans = {kind: plan for kind, plan in plans.items() if not plan.is_empty}

    def find(self, kind: Kind, limit: int = COUNTED, last_id: int | None = None) -> Found:
        """Return the matching ids of one kind; `is_capped` when not every row was read."""
        plan = self.plans.get(kind)
        if plan is None:
            return Found([], False)
        where, values = plan.where()
        where = where.replace(INDEXED.format(table=TABLES[kind]), _READ)
        bound = "" if last_id is None else f" AND m.id <= {int(last_id)}"
        sql = (
            "SELECT m.id, m.title_terms, m.body_terms, m.variant_terms, m.scope_terms"
            f" FROM {CONTENT_TABLES[kind]} AS m WHERE 1{bound}{where} ORDER BY m.id DESC LIMIT %s"
        )
        with _reading(plan):
            rows = rows_within(SCAN_SECONDS, sql, [*values, SCANNED + 1])
        ids = [
            id
            for id, *terms in rows.rows[:SCANNED]
            if plan.expression is None or matches(plan.expression, RowTerms.of(*terms))
        ]
        return Found(ids[:limit], len(ids) > limit or len(rows.rows) > SCANNED or not rows.is_complete)


_READ = "memweb_matches(%s, m.title_terms, m.body_terms, m.variant_terms, m.scope_terms)"


@contextmanager
def _reading(plan: Plan) -> Iterator[None]:
    """Teach SQLite to answer by reading what the conditions of a plan would ask the index."""
    expressions = dict(asked for condition in plan.conditions for asked in condition.indexed)

    def decide(text: str, *terms: str) -> bool:
        return matches(expressions[text], RowTerms.of(*terms))

    connection.ensure_connection()
    connection.connection.create_function("memweb_matches", 5, decide)
    try:
        yield
    finally:
        connection.connection.create_function("memweb_matches", 5, None)


def _terms_of(kind: Kind, ids: list[int]) -> tuple[str, list[Any]]:
    sql = (
        f"SELECT '{kind}', id, title_terms, body_terms, variant_terms, scope_terms FROM {CONTENT_TABLES[kind]}"
        " WHERE id IN (SELECT value FROM json_each(%s))"
    )
    return sql, [json.dumps(ids)]


def _walk(
    kind: Kind, first: str, source: str, params: list[Any], order: Order, limit: int, cursor: TimeCursor | None
) -> tuple[str, list[Any]]:
    """Return the statement for the next rows of one kind, with a time and without; empty when there are none.

    `source` is the condition for rows; with `first`, a table to begin with, it joins that.
    """
    direction = "DESC" if order is Order.NEWEST else "ASC"
    statements, values = [], []
    for is_known in (True, False):
        after = _after(cursor, kind, order, is_known)
        if after is not None:
            bound, bounds = after
            statements.append(
                f"SELECT * FROM (SELECT '{kind}', '' || m.created_at, m.id FROM {first}{CONTENT_TABLES[kind]} AS m"
                f" WHERE m.created_at IS {'NOT ' if is_known else ''}NULL AND {bound} AND {source}"
                f" ORDER BY m.created_at {direction}, m.id {direction} LIMIT {limit})"
            )
            values += [*params, *bounds] if first else [*bounds, *params]
    return " UNION ALL ".join(statements), values


def _after(cursor: TimeCursor | None, kind: Kind, order: Order, is_known: bool) -> tuple[str, list[Any]] | None:
    """Return the condition for rows after the cursor among those with (or without) a time; None when there are none."""
    if cursor is None:
        return "1", []
    sign = "<" if order is Order.NEWEST else ">"
    comes_later = kind < cursor.kind if order is Order.NEWEST else kind > cursor.kind
    if cursor.created_at is None:
        if is_known:
            return None
        if kind == cursor.kind:
            return f"m.id {sign} %s", [cursor.id]
        return ("1", []) if comes_later else None
    if not is_known:
        return "1", []
    moment = connection.ops.adapt_datetimefield_value(cursor.created_at)
    if kind == cursor.kind:
        return f"(m.created_at, m.id) {sign} (%s, %s)", [moment, cursor.id]
    return f"m.created_at {sign}{'=' if comes_later else ''} %s", [moment]
