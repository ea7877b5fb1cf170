"""Values that are a column of memories or of sessions: types, rooms, agents, platforms."""

from urllib.parse import unquote

from memweb.memories.indexing import platform_token, type_token
from memweb.memories.kinds import Kind
from search.completions.counts import count_tokens, frequent_tokens
from search.completions.suggestion import READ, SECONDS, Suggestion, end_of, is_writable, matching, spellings
from search.keyword.limits import rows_within
from search.keyword.schema import CONTENT_TABLES

# Who remembered the newest memories of each kind: that column has no index.
NEWEST = 5_000


def suggest_types(typed: str) -> list[Suggestion]:
    """Return types of observations, the most frequent first."""
    values = _indexed_values(CONTENT_TABLES[Kind.OBSERVATION], "type", typed)
    counts = count_tokens(map(type_token, values))
    return _most_first([Suggestion(value, count=counts.get(type_token(value))) for value in values], typed)


def suggest_rooms(typed: str) -> list[Suggestion]:
    """Return rooms of drawers, with how many there are in each."""
    table = CONTENT_TABLES[Kind.DRAWER]
    values = _indexed_values(table, "room", typed)
    marks = ", ".join(["%s"] * len(values)) or "NULL"
    sql = f"SELECT room, count(*) FROM {table} WHERE room IN ({marks}) GROUP BY room"
    counts = dict(rows_within(SECONDS, sql, values).rows)
    return _most_first([Suggestion(value, count=counts.get(value)) for value in values], typed)


def suggest_agents(typed: str) -> list[Suggestion]:
    """Return agents of the newest memories."""
    parts = [
        f"SELECT * FROM (SELECT agent FROM {CONTENT_TABLES[kind]} ORDER BY id DESC LIMIT {NEWEST})" for kind in Kind
    ]
    rows = rows_within(SECONDS * 2, f"SELECT DISTINCT agent FROM ({' UNION ALL '.join(parts)})", [])
    values = sorted(value for (value,) in rows.rows if value.strip() and is_writable(value))
    return [Suggestion(value) for value in matching(values, typed)]


def suggest_platforms(typed: str) -> list[Suggestion]:
    """Return programs that remembered something, the most frequent first."""
    prefix = platform_token("")
    counts = {unquote(token.removeprefix(prefix)): count for token, count in frequent_tokens(prefix)}
    return _most_first([Suggestion(value, count=counts[value]) for value in matching(list(counts), typed)], typed)


def _indexed_values(table: str, column: str, typed: str) -> list[str]:
    """Return distinct values of an indexed column, one look into the index for each of them."""
    found: dict[str, None] = {}
    for low in [*spellings(typed), ""] if typed else [""]:
        # The step from one value to the next is the least value that is greater.
        sql = f"""
            WITH RECURSIVE found(value) AS (
                SELECT min({column}) FROM {table} WHERE {column} >= %s AND {column} < %s
                UNION ALL
                SELECT (SELECT min({column}) FROM {table} WHERE {column} > value AND {column} < %s)
                FROM found WHERE value IS NOT NULL
            )
            SELECT value FROM found WHERE value IS NOT NULL LIMIT {READ}
        """
        high = end_of(low)
        found |= {value: None for (value,) in rows_within(SECONDS, sql, [low, high, high]).rows}
    return [value for value in matching(list(found), typed) if value.strip() and is_writable(value)]


def _most_first(found: list[Suggestion], typed: str) -> list[Suggestion]:
    """Return suggestions that begin with what is typed before all others, and in these the most frequent first."""
    wanted = typed.casefold()
    return sorted(found, key=lambda one: (not one.value.casefold().startswith(wanted), -(one.count or 0), one.value))
