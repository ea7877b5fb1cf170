"""Values that are rows of a table of names: projects, concepts, tags."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memweb.memories.indexing import concept_token, project_token, tag_token
from memweb.memories.models import Concept, Project, Tag
from search.completions.counts import count_tokens, frequent_tokens
from search.completions.suggestion import READ, SECONDS, SHOWN, Suggestion, end_of, is_writable, spellings
from search.keyword.limits import rows_within

# A table of more names is not searched for those that merely hold what is typed.
SCANNED = 5_000


@dataclass(frozen=True, slots=True)
class Names:
    """A table with a unique name, and the filter token of each row."""

    table: str
    token: Callable[[int], str]
    condition: str = "name <> ''"

    def suggest(self, typed: str) -> list[Suggestion]:
        """Return names that begin with what is typed or hold it, those of most memories first."""
        rows = self._like(typed) if typed else self._frequent()
        counts = count_tokens(map(self.token, rows))
        found = [
            Suggestion(name, "" if name.strip() else "(no project)", count=counts.get(self.token(id)))
            for id, name in rows.items()
            if is_writable(name)
        ]
        is_first = {name for name in rows.values() if name.casefold().startswith(typed.casefold())}
        return sorted(found, key=lambda one: (one.value not in is_first, -(one.count or 0), one.value))

    def _frequent(self) -> dict[int, str]:
        prefix = self.token(0).removesuffix("0")
        ids = [int(token.removeprefix(prefix)) for token, _ in frequent_tokens(prefix)[: SHOWN * 2]]
        marks = ", ".join(["%s"] * len(ids))
        rows = dict(self._select(f"id IN ({marks})", ids)) if ids else {}
        return rows if len(rows) >= SHOWN else rows | dict(self._select("1", []))

    def _like(self, typed: str) -> dict[int, str]:
        ranges = [(beginning, end_of(beginning)) for beginning in spellings(typed)]
        asked = " OR ".join(["(name >= %s AND name < %s)"] * len(ranges))
        rows = dict(self._select(asked, [end for one in ranges for end in one]))
        if len(rows) < SHOWN:
            few = f"(SELECT count(*) FROM (SELECT 1 FROM {self.table} LIMIT {SCANNED + 1})) <= {SCANNED}"
            rows |= dict(self._select(f"{few} AND instr(lower(name), lower(%s))", [typed]))
        return rows

    def _select(self, condition: str, params: Sequence[object]) -> list[tuple[int, str]]:
        sql = f"SELECT id, name FROM {self.table} WHERE ({condition}) AND {self.condition} ORDER BY name LIMIT {READ}"
        return [(id, name) for id, name in rows_within(SECONDS, sql, params).rows]


PROJECTS = Names(Project._meta.db_table, project_token, "merged_into_id IS NULL")
CONCEPTS = Names(Concept._meta.db_table, concept_token)
TAGS = Names(Tag._meta.db_table, tag_token)
