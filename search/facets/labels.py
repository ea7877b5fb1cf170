"""Filter tokens -> the values that people know, and what a written value means; all names in one statement."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from memweb.memories.models import Concept, FilePath, Project, ProjectAlias, Tag
from search.facets.names import TOKEN_PREFIXES, FacetName
from search.keyword.limits import rows_within

NAMES_SECONDS = 0.5
_TABLES = {
    FacetName.CONCEPT: (Concept._meta.db_table, "name"),
    FacetName.TAG: (Tag._meta.db_table, "name"),
    FacetName.FILE: (FilePath._meta.db_table, "path"),
}
_PROJECT, _ALIAS = Project._meta.db_table, ProjectAlias._meta.db_table
# A project that was merged into another counts as that one.
_ROOTS = f"""
    SELECT * FROM (
        WITH RECURSIVE up(leaf, id) AS (
            {{leaves}}
            UNION SELECT up.leaf, p.merged_into_id FROM up JOIN {_PROJECT} AS p ON p.id = up.id
            WHERE p.merged_into_id IS NOT NULL
        )
        SELECT '{{name}}', up.leaf, p.name FROM up JOIN {_PROJECT} AS p ON p.id = up.id
        WHERE p.merged_into_id IS NULL
    )
"""


@dataclass(frozen=True, slots=True)
class Labels:
    """Values by facet and token; `projects`: what the written names of projects mean."""

    values: dict[FacetName, dict[str, str]] = field(default_factory=dict)
    projects: dict[str, str] = field(default_factory=dict)

    def value(self, name: FacetName, token: str) -> str | None:
        """Return the value of a token; None for one whose row is gone."""
        if name in {FacetName.TYPE, FacetName.PLATFORM, FacetName.STATE}:
            return unquote(token.removeprefix(TOKEN_PREFIXES[name]))
        return self.values.get(name, {}).get(token)


def read_labels(tokens: Mapping[FacetName, Iterable[str]], written_projects: Iterable[str]) -> Labels:
    """Return the names of these tokens and the projects that written names mean."""
    parts: list[str] = []
    params: list[str] = []
    for name, some in tokens.items():
        ids = [int(token[2:]) for token in some if token[2:].isdigit()] if name in {*_TABLES, FacetName.PROJECT} else []
        if not ids:
            continue
        params.append(json.dumps(ids))
        if name is FacetName.PROJECT:
            parts.append(_ROOTS.format(name=name, leaves="SELECT value, value FROM json_each(%s)"))
        else:
            table, column = _TABLES[name]
            parts.append(f"SELECT '{name}', id, {column} FROM {table} WHERE id IN (SELECT value FROM json_each(%s))")
    written = list(written_projects)
    if written:
        leaves = " UNION ".join(
            f"SELECT name, {id} FROM {table} WHERE name IN (SELECT value FROM json_each(%s))"
            for table, id in ((_PROJECT, "id"), (_ALIAS, "project_id"))
        )
        parts.append(_ROOTS.format(name="written", leaves=leaves))
        params += [json.dumps(written)] * 2
    labels = Labels()
    if parts:
        for name, key, value in rows_within(NAMES_SECONDS, " UNION ALL ".join(parts), params).rows:
            if name == "written":
                labels.projects[key] = value
            else:
                facet = FacetName(name)
                labels.values.setdefault(facet, {})[f"{TOKEN_PREFIXES[facet]}{key}"] = value
    return labels
