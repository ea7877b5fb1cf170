"""What a timeline is centred on: a memory, a moment, or the best match of a query."""

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo

from django.db import connection
from django.urls import reverse

from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import Memory, State, memory_model
from search.orchestrator import SearchOrchestrator
from search.query.fields import TIME_FORMS
from search.request import Order, SearchRequest
from search.times import period_of

LONGEST = 500
# Digits of an epoch in seconds since 1973; fewer are the number of an observation.
EPOCH_DIGITS = 9
_DIGITS = re.compile(r"[+-]?\d+", re.ASCII)
# What can only be meant as a time: it begins with a date or a clock time.
_LIKE_A_TIME = re.compile(r"[+-]?\d{1,6}[-/.:]\d{1,2}([-/.:T ]|$).*", re.ASCII | re.DOTALL)
FORMS = f"a memory such as o12, a moment ({TIME_FORMS}, or “now”), or words, of which the best match becomes the anchor"


class AnchorError(ValueError):
    """The anchor makes no sense; the message names it and what is accepted."""


class MissingError(LookupError):
    """There is no such memory, or nothing matches."""


class GoneError(LookupError):
    """The memory was there and is gone; `nearest` is a moment near it, None when none is known."""

    def __init__(self, message: str, ref: Ref, nearest: datetime | None) -> None:
        super().__init__(message)
        self.ref = ref
        self.nearest = nearest


@dataclass(frozen=True, slots=True)
class Anchor:
    """A place in time. `memory` stands there, or None for a moment; `query` found it; `moment` is None when unknown."""

    moment: datetime | None
    memory: Memory | None = None
    query: str = ""

    @property
    def text(self) -> str:
        """The anchor as it stays the same tomorrow: the ref, or the moment in ISO 8601."""
        if self.memory is not None:
            return str(self.memory.ref)
        return self.moment.isoformat().replace("+00:00", "Z") if self.moment else ""


def find_anchor(text: str, request: SearchRequest, zone: tzinfo, now: datetime | None = None) -> Anchor:
    """Return the anchor that a text names; a query is answered within the filters of the request.

    Raises AnchorError for what cannot be read, MissingError and GoneError for what is not there.
    """
    text = text.strip()
    if not text:
        raise AnchorError(f"a timeline needs an anchor: {FORMS}")
    if len(text) > LONGEST:
        raise AnchorError(f"the anchor is longer than {LONGEST} characters; accepted are {FORMS}")
    if _DIGITS.fullmatch(text) and (len(text) >= EPOCH_DIGITS or text[0] in "+-"):
        return Anchor(_moment(text, zone, now))
    try:
        ref = Ref.parse(text)
    except ValueError:
        pass
    else:
        return _memory_anchor(ref)
    if text.casefold() == "now":
        return Anchor((now or datetime.now(UTC)).astimezone(UTC))
    try:
        return Anchor(period_of(text, zone, now).start)
    except ValueError:
        if _LIKE_A_TIME.fullmatch(text):
            raise AnchorError(f"“{text}” is not a time that exists; accepted are {FORMS}") from None
    return _best_match(text, request, zone)


def _moment(text: str, zone: tzinfo, now: datetime | None) -> datetime:
    try:
        return period_of(text, zone, now).start
    except ValueError:
        raise AnchorError(f"“{text}” is neither a memory nor an epoch in seconds or ms; accepted are {FORMS}") from None


def _memory_anchor(ref: Ref) -> Anchor:
    memory = find_memory(ref)
    return Anchor(memory.created_at, memory)


def find_memory(ref: Ref) -> Memory:
    """Return a memory that does not lie in the trash; raises MissingError and GoneError."""
    model = memory_model(ref.kind)
    memory: Memory | None = model.objects.for_list().filter(pk=ref.id).first()
    if memory is None:
        if not was_used(ref):
            raise MissingError(f"There is no memory {ref}.")
        neighbour = (
            model.objects.filter(pk__lt=ref.id, created_at__isnull=False).order_by("-pk").values_list("created_at")
        ).first()
        raise GoneError(f"The memory {ref} was deleted.", ref, neighbour[0] if neighbour else None)
    if memory.state == State.TRASHED:
        raise GoneError(f"The memory {ref} is in the trash.", ref, memory.created_at)
    return memory


def moment_url(moment: datetime) -> str:
    """Return the address of the timeline around a moment."""
    return f"{reverse('timeline')}?anchor={moment.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def was_used(ref: Ref) -> bool:
    """Return whether a row with this id was ever stored."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [memory_model(ref.kind)._meta.db_table])
        row = cursor.fetchone()
    return 0 < ref.id <= (row[0] if row else 0)


def _best_match(text: str, request: SearchRequest, zone: tzinfo) -> Anchor:
    query = " ".join(filter(None, [text, request.query]))
    wanted = replace(request, query=query, order=Order.RELEVANCE, limit=1, offset=0, cursor="")
    result = SearchOrchestrator(zone).search(wanted, with_facets=False)
    if not result.hits or result.is_weak:
        raise MissingError(f"No memory matches “{text}”.")
    memory = result.hits[0].memory
    return Anchor(memory.created_at, memory, text)


def key_of(anchor: Anchor) -> tuple[Kind, int]:
    """Return kind and id of the anchor; those of a moment sort before every memory of that moment."""
    return (anchor.memory.kind, anchor.memory.pk) if anchor.memory is not None else (min(Kind), 0)
