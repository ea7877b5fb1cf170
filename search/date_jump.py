"""Jump to a date: the list in order of time, from the first memory of a day on, as a page after a cursor."""

from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from memweb.memories.kinds import Kind
from search.cursors import TimeCursor, encode
from search.query import time_label
from search.request import Order, Problem, SearchRequest
from search.times import Period, period_of

_LARGEST_ID = 2**63 - 1


@dataclass(frozen=True, slots=True)
class DateJump:
    """Where a list begins: `date` as it was given, and in words."""

    date: str = ""
    label: str = ""


def jump_to(request: SearchRequest, date: str, zone: tzinfo) -> tuple[SearchRequest, DateJump, list[Problem]]:
    """Return the request for the page that begins at a date, newest first unless the oldest are wanted first.

    The date is a text of `search.times`. Without one, or with one that makes no sense, the request stays as it is.
    """
    date = date.strip()[:100]
    if not date or request.cursor:
        return request, DateJump(), []
    try:
        period = period_of(date, zone)
    except ValueError as error:
        return request, DateJump(), [Problem("date", date, str(error))]
    order = Order.OLDEST if request.order is Order.OLDEST else Order.NEWEST
    cursor = encode(_before(period, order))
    return replace(request, order=order, cursor=cursor, offset=0), DateJump(date, time_label(date)), []


def _before(period: Period, order: Order) -> TimeCursor:
    """Return the cursor right before all memories of a period: nothing stands at it, whatever its kind and id."""
    if order is Order.NEWEST:
        return TimeCursor(order, period.end, min(Kind), 0)
    return TimeCursor(order, period.start - datetime.resolution, max(Kind), _LARGEST_ID)
