"""What has come since a saved search was last opened."""

from datetime import tzinfo

from django.db import connection

from memweb.memories.kinds import Kind
from search.keyword.plan import Plan, SqlCondition
from search.keyword.schema import CONTENT_TABLES
from search.keyword_search import plans_of
from search.request import SearchRequest
from search.strategies.sqlite import SQLiteSearchStrategy

# More are not counted one by one.
MOST_NEW = 99

Ids = dict[str, int]


def last_ids() -> Ids:
    """Return the last id of each kind of memories, by the letter of the kind; one statement."""
    columns = ", ".join(f"(SELECT max(id) FROM {CONTENT_TABLES[kind]})" for kind in Kind)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {columns}")
        row = cursor.fetchone()
    return {kind.letter: id or 0 for kind, id in zip(Kind, row, strict=True)}


def may_have_news(seen: Ids, present: Ids) -> bool:
    """Return whether anything at all has come since."""
    return any(id > seen.get(letter, 0) for letter, id in present.items())


def count_news(request: SearchRequest, seen: Ids, zone: tzinfo) -> int:
    """Return how many memories with all words of a request have come since, at most MOST_NEW + 1."""
    plans = {
        kind: Plan(plan.expression, (*plan.conditions, SqlCondition("m.id > %s", (seen.get(kind.letter, 0),))))
        for kind, plan in plans_of(request, request.tree, zone).items()
    }
    found = SQLiteSearchStrategy(plans).find(MOST_NEW)
    return min(sum(len(one.ids) + one.is_capped for one in found.values()), MOST_NEW + 1)
