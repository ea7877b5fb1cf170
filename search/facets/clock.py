"""A limit of time for several statements together."""

import time
from collections.abc import Sequence
from typing import Any

from django.db.utils import DatabaseError

from search.keyword.limits import Rows, rows_within


class Clock:
    """What is left of the time for counting."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def seconds(self) -> float:
        return max(0.0, self._end - time.monotonic())


def rows_in_time(parts: Sequence[str], params: Sequence[Any], clock: Clock) -> Rows:
    """Return the rows of all statements; they are not complete when the time is over or the index cannot be read."""
    if not parts:
        return Rows()
    if not clock.seconds:
        return Rows(is_complete=False)
    try:
        return rows_within(clock.seconds, " UNION ALL ".join(parts), params)
    except DatabaseError:
        return Rows(is_complete=False)
