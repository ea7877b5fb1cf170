"""Days of a time zone out of stored times, which are texts in UTC."""

from datetime import UTC, date, datetime, timedelta, tzinfo

_HOUR = "substr(created_at, 1, 13)"
_QUARTER = "substr(created_at, 1, 14) || substr('00153045', substr(created_at, 15, 2) / 15 * 2 + 1, 2)"


class Clock:
    """Tells the day of stored times in a zone. `slot` is SQL for the stretch of a time, which lies within one day."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._days: dict[str, date] = {}
        year = datetime.now(UTC).year
        offsets = [datetime(year, month, 1, tzinfo=zone).utcoffset() or timedelta() for month in (1, 7)]
        # Some zones are half an hour or a quarter beside the others.
        self.slot = _QUARTER if any(offset % timedelta(hours=1) for offset in offsets) else _HOUR

    def day(self, slot: str) -> date:
        """Return the day of a slot in the zone."""
        if slot not in self._days:
            moment = datetime.fromisoformat(slot).replace(tzinfo=UTC)
            try:
                self._days[slot] = moment.astimezone(self._zone).date()
            except OverflowError:  # beside the first and the last year there is no other
                self._days[slot] = moment.date()
        return self._days[slot]
