"""System check: the keyword index in the database is the one that this version makes."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register
from django.db import connections
from django.db.utils import OperationalError

from search.keyword.schema import CONTENT_TABLES, index_faults


@register(Tags.database)
def check_keyword_index(databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:
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
        if not set(CONTENT_TABLES.values()) <= set(tables):
            continue
        messages += [
            Warning(f"keyword index: {fault}", hint="run `memweb index rebuild`", id="search.W001")
            for fault in index_faults(connection)
        ]
    return messages
