"""Counts of the values that narrow a result: how many of the matching memories are of each kind and project."""

import json
from collections.abc import Mapping

from memweb.memories.kinds import Kind
from search.keyword.limits import rows_within
from search.keyword.schema import CONTENT_TABLES
from search.query import FieldName, Node, fields
from search.results import FacetValue
from search.strategies.sqlite import Found

FACET_SECONDS = 0.3
# Every row that is counted is read; of more, the newest.
COUNTED_ROWS = 2_000


def count_facets(found: Mapping[Kind, Found], tree: Node) -> dict[str, tuple[FacetValue, ...]]:
    """Return kinds and projects with their counts, most first; selected values are always among them."""
    return {"kind": _kinds(found, tree), "project": _projects(found, tree)}


def _kinds(found: Mapping[Kind, Found], tree: Node) -> tuple[FacetValue, ...]:
    selected = _selected(tree, FieldName.KIND)
    values = [
        FacetValue(str(kind), len(ids.ids), str(kind) in selected, ids.is_capped)
        for kind, ids in found.items()
        if ids.ids or str(kind) in selected
    ]
    return _sorted(values, selected)


def _projects(found: Mapping[Kind, Found], tree: Node) -> tuple[FacetValue, ...]:
    selected = _selected(tree, FieldName.PROJECT)
    parts, params = [], []
    for kind, ids in found.items():
        if ids.ids:
            parts.append(
                f"SELECT project_id FROM {CONTENT_TABLES[kind]} WHERE id IN (SELECT value FROM json_each(%s))"  # noqa: S608
            )
            params.append(json.dumps(ids.ids[:COUNTED_ROWS]))
    counts: dict[str, int] = {}
    is_capped = any(ids.is_capped or len(ids.ids) > COUNTED_ROWS for ids in found.values())
    if parts:
        counted = f"SELECT project_id, count(*) AS memories FROM ({' UNION ALL '.join(parts)}) GROUP BY project_id"  # noqa: S608
        sql = f"SELECT name, memories FROM ({counted}) JOIN memories_project ON id = project_id"  # noqa: S608
        rows = rows_within(FACET_SECONDS, sql, params)
        counts = dict(rows.rows)
        is_capped = is_capped or not rows.is_complete
    values = [FacetValue(name, count, name in selected, is_capped) for name, count in counts.items()]
    return _sorted(values, selected)


def _selected(tree: Node, name: FieldName) -> tuple[str, ...]:
    return tuple(
        value for field, negated in fields(tree) if field.name is name and not negated for value in field.values
    )


def _sorted(values: list[FacetValue], selected: tuple[str, ...]) -> tuple[FacetValue, ...]:
    missing = [FacetValue(value, 0, True) for value in selected if value not in {one.value for one in values}]
    return tuple(sorted([*values, *missing], key=lambda one: (-one.count, one.value)))
