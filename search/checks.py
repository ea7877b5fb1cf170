"""System checks: what keyword index, vector queue and closets need is in the database as it should be."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import connections
from django.db.utils import OperationalError

from search.closets.groups import GROUPS, group_faults
from search.keyword.schema import CONTENT_TABLES, index_faults
from search.vectors.queue import TABLE, queue_faults

_LOOKED_AT = (
    ("W001", "keyword index", index_faults, "run `memweb index rebuild`"),
    ("W002", "vector queue", queue_faults, "run `memweb migrate`"),
    ("W003", "closets", group_faults, "run `memweb migrate`"),
)


@register(Tags.database)
def check_indexes(databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:
    """Warn of every missing or different table or trigger; silent before the first migrate."""
    messages: list[CheckMessage] = []
    for alias in databases or ():
        connection = connections[alias]
        if connection.vendor != "sqlite":
            continue
        try:
            tables = connection.introspection.table_names()
        except OperationalError:
            continue
        if not {*CONTENT_TABLES.values(), TABLE, GROUPS} <= set(tables):
            continue
        messages += [
            Warning(f"{subject}: {fault}", hint=hint, id=f"search.{code}")
            for code, subject, faults, hint in _LOOKED_AT
            for fault in faults(connection)
        ]
    return messages
