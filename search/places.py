"""Addresses that many pages lead to: timeline and session of a memory, the search for a label."""

from urllib.parse import urlencode

from django.urls import reverse

from memweb.memories.kinds import Ref
from search.query import And, Field, FieldName, to_text


def timeline_url(ref: Ref) -> str:
    """Return the address of the timeline around a memory, at its row."""
    return f"{reverse('timeline')}?anchor={ref}#{ref}"


def session_url(session_id: int, ref: Ref | None = None) -> str:
    """Return the address of a session, at the row of a memory if one is given."""
    url = reverse("session", args=[session_id])
    return f"{url}?at={ref}#{ref}" if ref else url


def field_url(name: FieldName, *values: str, project: str | None = None) -> str:
    """Return the address of the search for what has one of these values in a field, in a project if one is given."""
    tree = And((*([Field(FieldName.PROJECT, (project,))] if project is not None else []), Field(name, values)))
    return f"{reverse('search')}?{urlencode({'q': to_text(tree)})}"
