"""Reads the times of sources: epochs in any unit, ISO text in any form, and says how far the result can be trusted.

The one field that decides is the epoch. The ISO text beside it is used only where there is no epoch at all, and to find
rows whose two times disagree.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import IntEnum

from memweb.memories.models import TimeQuality
from memweb.sources.passing import passed_quickly

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EARLIEST = datetime(2000, 1, 1, tzinfo=UTC)
LATEST = datetime(2100, 1, 1, tzinfo=UTC)
# A text without its offset is up to 14 hours off; more than a day is a contradiction.
TOLERANCE = timedelta(days=1)


class Unit(IntEnum):
    """Units of epochs; the value is how many of them make a second."""

    SECONDS = 1
    MILLISECONDS = 1_000
    MICROSECONDS = 1_000_000
    NANOSECONDS = 1_000_000_000


@passed_quickly
@dataclass(frozen=True, slots=True)
class Moment:
    """A time as memweb keeps it: UTC with microseconds, or None when it is unknown; `remark` says what was wrong."""

    at: datetime | None
    quality: TimeQuality
    remark: str = ""


# (smallest, first too large, unit): the four ranges of the years 2000 to 2099 do not meet.
_RANGES = [
    (int(EARLIEST.timestamp()) * unit, int(LATEST.timestamp()) * unit, unit)
    for unit in (Unit.MILLISECONDS, Unit.SECONDS, Unit.MICROSECONDS, Unit.NANOSECONDS)
]


def read_moment(epoch: object, text: object = None, unit: Unit = Unit.MILLISECONDS) -> Moment:
    """Return the time of a row from its epoch (expected in `unit`, others are recognised by magnitude) and ISO text.

    EXACT: the epoch was in the expected unit, or there was only a text. CORRECTED: it was in another unit. DOUBTFUL:
    epoch and text are more than a day apart (the epoch is kept). UNKNOWN: neither gives a time from 2000 to 2099; an
    epoch of zero, below zero or beyond all units is not replaced by the text.
    """
    number = read_number(epoch)
    written = read_iso(text)
    if number is None:
        if written is None or not EARLIEST <= written < LATEST:
            return Moment(None, TimeQuality.UNKNOWN, "no usable time")
        return Moment(written, TimeQuality.EXACT)
    found = next((unit for low, high, unit in _RANGES if low <= number < high), None)
    if found is None:
        return Moment(None, TimeQuality.UNKNOWN, "epoch is zero, negative or absurd")
    at = EPOCH + timedelta(microseconds=int(number * 1_000_000 // found))
    if written is not None and abs(written - at) > TOLERANCE:
        return Moment(at, TimeQuality.DOUBTFUL, "epoch and text are more than a day apart; the epoch decides")
    if found != unit:
        return Moment(at, TimeQuality.CORRECTED, f"epoch was in {found.name.lower()}")
    return Moment(at, TimeQuality.EXACT)


def read_number(value: object) -> int | float | None:
    """Return an epoch as a number; digits in text count, everything else is None."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int):
        return value
    try:
        number = float(str(value)) if isinstance(value, float) or "." in str(value) else int(str(value))
    except ValueError:
        return None
    return number if abs(number) < float("inf") else None


def read_iso(value: object) -> datetime | None:
    """Return an ISO time in UTC; one without offset is taken as UTC; None for anything that is not a time."""
    if not isinstance(value, str) or not value.strip():
        return None
    try:
        time = datetime.fromisoformat(value.strip())
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def iso_text(at: datetime) -> str:
    """Return a time as JavaScript writes it: UTC, milliseconds, Z."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def epoch_milliseconds(at: datetime) -> int:
    """Return whole milliseconds since 1970."""
    return (at - EPOCH) // timedelta(milliseconds=1)
