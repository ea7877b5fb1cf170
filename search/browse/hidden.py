"""Memories that lists neither show nor count: archived, trashed, superseded, noise."""

from django.db.utils import DatabaseError

from memweb.memories.indexing import flag_token
from memweb.memories.kinds import Kind
from memweb.memories.models import State, memory_model
from search.keyword.expression import AnyToken, to_match
from search.keyword.filters import HIDDEN_FLAGS
from search.keyword.limits import rows_within
from search.keyword.schema import TABLES

HIDDEN_SECONDS = 0.5


def hidden_ids(kind: Kind) -> list[int]:
    """Return the ids of hidden memories, out of the keyword index; out of the rows when it cannot be read."""
    table = TABLES[kind]
    match = to_match(AnyToken(tuple(map(flag_token, HIDDEN_FLAGS))))
    try:
        found = rows_within(HIDDEN_SECONDS, f"SELECT rowid FROM {table} WHERE {table} MATCH %s", [match])
        if found.is_complete:
            return [id for (id,) in found.rows]
    except DatabaseError:
        pass  # the rows say it too, only slower
    rows = memory_model(kind).objects.exclude(state=State.ACTIVE, is_noise=False, superseded_by=None, wrong_reason=None)
    return list(rows.values_list("pk", flat=True))
