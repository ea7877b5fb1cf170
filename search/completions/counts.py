"""How many memories have a value: the document counts of filter tokens, which the keyword index keeps."""

import json
from collections import Counter
from collections.abc import Iterable

from django.db.utils import DatabaseError

from memweb.memories.kinds import Kind
from search.completions.suggestion import SECONDS, end_of
from search.keyword.limits import Rows, rows_within
from search.keyword.schema import TABLES

MOST_TOKENS = 2_000


def count_tokens(tokens: Iterable[str]) -> dict[str, int]:
    """Return how many memories have each filter token; nothing when that cannot be counted soon."""
    wanted = json.dumps(list(tokens))
    rows = _vocabulary("term IN (SELECT value FROM json_each(%s))", [wanted])
    return dict(_summed(rows)) if rows.is_complete else {}


def frequent_tokens(prefix: str) -> list[tuple[str, int]]:
    """Return filter tokens that begin with a prefix, those of most memories first; of very many only some."""
    rows = _vocabulary("term >= %s AND term < %s", [prefix, end_of(prefix)])
    return _summed(rows).most_common()


def _vocabulary(condition: str, params: list[str]) -> Rows:
    parts = [
        f"SELECT * FROM (SELECT term, doc FROM {TABLES[kind]}_vocab WHERE {condition} LIMIT {MOST_TOKENS})"
        for kind in Kind
    ]
    try:
        return rows_within(SECONDS, " UNION ALL ".join(parts), params * len(parts))
    except DatabaseError:  # an index that cannot be read has no counts
        return Rows(is_complete=False)


def _summed(rows: Rows) -> Counter[str]:
    counts: Counter[str] = Counter()
    for token, documents in rows.rows:
        counts[token] += documents
    return counts
