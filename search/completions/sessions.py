"""Values of `session:`: ids, each with the title of its session."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Q, QuerySet
from django.db.models.functions import Substr
from django.db.utils import OperationalError
from django.utils import timezone

from memweb.memories.indexing import session_token
from memweb.memories.models import Session
from search.completions.counts import count_tokens
from search.completions.suggestion import SECONDS, SHOWN, Suggestion, end_of, is_writable, spellings
from search.keyword.limits import time_limit

# The titles of so many newest sessions are looked through.
NEWEST = 500
Row = tuple[int, str, str, str, str, datetime | None]


def suggest_sessions(typed: str) -> list[Suggestion]:
    """Return the sessions whose id begins with what is typed or whose title holds it, the newest first."""
    rows = [*_read(_with_id(typed)[: SHOWN * 2])] if typed else []
    if len(rows) < SHOWN:
        wanted = typed.casefold()
        newest = _read(Session.objects.order_by("-started_at", "-pk")[:NEWEST])
        rows += [row for row in newest if wanted in _title(row).casefold() or wanted in row[1].casefold()]
    unique = list({row[0]: row for row in rows}.values())[:SHOWN]
    counts = count_tokens(session_token(row[0]) for row in unique)
    found = [Suggestion(_value(row), note=_note(row), count=counts.get(session_token(row[0]))) for row in unique]
    return [one for one in found if is_writable(one.value)]


def _with_id(typed: str) -> QuerySet[Session]:
    asked = Q()
    for beginning in spellings(typed):
        for name in ("content_session_id", "memory_session_id"):
            asked |= Q(**{f"{name}__gte": beginning, f"{name}__lt": end_of(beginning)})
    return Session.objects.filter(asked).order_by("pk")


def _read(sessions: QuerySet[Session]) -> Iterable[Row]:
    columns = ("pk", "content_session_id", "memory_session_id", "title", "beginning", "started_at")
    try:
        with time_limit(SECONDS):
            return list(sessions.annotate(beginning=Substr("first_prompt", 1, 200)).values_list(*columns))
    except OperationalError:  # out of time
        return []


def _value(row: Row) -> str:
    return row[1] or row[2] or str(row[0])


def _title(row: Row) -> str:
    return row[3].strip() or row[4].strip().split("\n", 1)[0]


def _note(row: Row) -> str:
    day = f"{timezone.localtime(row[5]):%Y-%m-%d}" if row[5] else ""
    return " · ".join(filter(None, (_title(row), day)))
