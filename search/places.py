"""Addresses of the pages around a memory: its timeline, its session."""

from urllib.parse import quote

from django.urls import NoReverseMatch, reverse

from memweb.memories.kinds import Ref


def timeline_url(ref: Ref) -> str:
    """Return the address of the timeline around a memory, at its row."""
    return f"{reverse('timeline')}?anchor={ref}#{ref}"


def session_url(session_id: int, ref: Ref | None = None) -> str:
    """Return the address of a session, at the row of a memory if one is given."""
    try:
        url = reverse("session", args=[session_id])
    except NoReverseMatch:
        return f"{reverse('search')}?{quote('q')}=session:{session_id}&order=oldest"
    return f"{url}?at={ref}#{ref}" if ref else url
