"""How much of what is remembered can be found by its vectors."""

from dataclasses import dataclass

from django.db import connection

from search.keyword.schema import CONTENT_TABLES
from search.vectors.texts import embedder_of

_STATE = """
    SELECT m.id, m.name, m.created_at, m.removals, (SELECT max(id) FROM search_embedding),
        (SELECT max(id) FROM search_embeddingmodel),
        (SELECT seq FROM sqlite_sequence WHERE name = 'search_embeddingtask'),
        (SELECT count(*) FROM search_embeddingtask WHERE changes > 0), (SELECT count(*) FROM search_embeddingtask)
    FROM (SELECT 1) LEFT JOIN search_embeddingmodel AS m ON m.is_searched
"""
_COUNTS = f"""
    SELECT {" + ".join(f"(SELECT count(*) FROM {table})" for table in CONTENT_TABLES.values())},
        (SELECT count(*) FROM search_embedding WHERE model_id = %s AND chunk = 0),
        next.name, (SELECT count(*) FROM search_embedding WHERE model_id = next.id AND chunk = 0)
    FROM (SELECT 1) LEFT JOIN search_embeddingmodel AS next
        ON next.id = (SELECT max(id) FROM search_embeddingmodel WHERE id > %s AND NOT is_searched)
"""


@dataclass(frozen=True, slots=True)
class Coverage:
    """How many of all memories have been looked at by `model`, the one that is searched; None: there is none yet.

    Memories without any text count as looked at. `is_complete`: no memory waits for its vectors, neither a new nor a
    changed one. `next_model` is being built to be searched instead; it has `next_embedded` memories.
    """

    embedded: int
    total: int
    model: str | None
    is_complete: bool
    next_model: str | None = None
    next_embedded: int = 0

    @property
    def note(self) -> str | None:
        """What must be said of search by meaning until all is embedded; None when nothing need be."""
        if self.next_model is not None and self.model is not None:
            made = f"{self.next_embedded:,} of {self.total:,} memories"
            return (
                f"{made} are embedded by {embedder_of(self.next_model)}; until all are, {embedder_of(self.model)}"
                " answers, and what it does not know is found by its words."
            )
        if self.is_complete:
            return None
        if self.embedded >= self.total:
            return "What was changed last is not embedded anew yet; it is found by its words."
        return f"{self.embedded:,} of {self.total:,} memories are embedded so far; the others are found by their words."


_counted: dict[tuple[object, ...], Coverage] = {}


def coverage() -> Coverage:
    """Return how many memories have vectors, and whether none waits; one small statement while nothing changes."""
    with connection.cursor() as cursor:
        cursor.execute(_STATE)
        state = cursor.fetchone()
        known = _counted.get(state)
        if known is not None:
            return known
        model_id, model, *_, waiting = state
        cursor.execute(_COUNTS, [model_id, model_id])
        total, embedded, next_model, next_embedded = cursor.fetchone()
    found = Coverage(embedded, total, model, model is not None and waiting == 0, next_model, next_embedded)
    _counted.clear()
    if model is not None:
        _counted[state] = found
    return found
