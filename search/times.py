"""Time texts: what a person or a program writes for a moment or a stretch of time."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from search.query import is_time_text
from search.query.fields import TIME_FORMS

_YEAR_OR_MONTH = re.compile(r"(\d{4})(?:-(\d\d))?")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_SECONDS = re.compile(r"\d{4}-\d\d-\d\d.\d\d:\d\d:\d\d")
_AGO = re.compile(r"(\d+)([dwmy])")
_EPOCH_DIGITS_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time: `start` is in it, `end` is not; both aware, UTC."""

    start: datetime
    end: datetime


def period_of(text: str, zone: tzinfo, now: datetime | None = None) -> Period:
    """Return the period that a text names: a year, month, day, minute or second is whole, in the given zone.

    Accepts what the query fields before: and after: accept; a time without zone is in `zone`. `7d`, `3w`, `6m` and `1y`
    are the moment that long ago, an epoch is a moment too: one microsecond long. Raises ValueError that names the text
    and the accepted forms.
    """
    text = text.strip()
    if not is_time_text(text):
        raise ValueError(f"“{text}” is not a time; accepted are {TIME_FORMS}")
    try:
        return _period(text, zone, now or datetime.now(UTC))
    except (ValueError, OverflowError) as error:
        raise ValueError(f"“{text}” is not a time that exists; accepted are {TIME_FORMS}") from error


def _period(text: str, zone: tzinfo, now: datetime) -> Period:
    lowered = text.casefold()
    if lowered in {"today", "yesterday"}:
        midnight = now.astimezone(zone).replace(hour=0, minute=0, second=0, microsecond=0)
        return _day(midnight - timedelta(days=1) if lowered == "yesterday" else midnight, zone)
    if ago := _AGO.fullmatch(lowered):
        return _moment(_moment_ago(int(ago[1]), ago[2], now))
    if text.isdigit() and len(text) > 4:
        seconds = int(text) / (1 if len(text) <= _EPOCH_DIGITS_SECONDS else 1000)
        return _moment(datetime.fromtimestamp(seconds, UTC))
    if _DAY.fullmatch(text):
        return _day(datetime.fromisoformat(text), zone)
    if part := _YEAR_OR_MONTH.fullmatch(text):
        year, month = int(part[1]), int(part[2] or 0)
        start = datetime(year, month or 1, 1, tzinfo=zone)
        end = datetime(year + (month in {0, 12}), month % 12 + 1 if month else 1, 1, tzinfo=zone)
        return Period(start.astimezone(UTC), end.astimezone(UTC))
    moment = datetime.fromisoformat(text.upper().replace(",", "."))
    return _moment(moment if moment.tzinfo else moment.replace(tzinfo=zone), _precision(text))


def _day(day: datetime, zone: tzinfo) -> Period:
    # Midnight to midnight by the calendar: a day is 23 or 25 hours long when the clocks change.
    start = datetime(day.year, day.month, day.day, tzinfo=zone)
    following = start.replace(tzinfo=None) + timedelta(days=1)
    end = datetime(following.year, following.month, following.day, tzinfo=zone)
    return Period(start.astimezone(UTC), end.astimezone(UTC))


def _precision(text: str) -> timedelta:
    """Return how long a written clock time lasts: as long as its last part."""
    if not _SECONDS.match(text):
        return timedelta(minutes=1)
    return timedelta(microseconds=1) if re.search("[.,]", text) else timedelta(seconds=1)


def _moment(moment: datetime, length: timedelta = timedelta(microseconds=1)) -> Period:
    moment = moment.astimezone(UTC)
    return Period(moment, moment + length)


def _moment_ago(count: int, unit: str, now: datetime) -> datetime:
    if unit in "dw":
        return now - timedelta(days=count * (7 if unit == "w" else 1))
    months = now.year * 12 + now.month - 1 - count * (12 if unit == "y" else 1)
    year, month = divmod(months, 12)
    # The same day of a shorter month is its last.
    for day in range(now.day, 27, -1):
        try:
            return now.replace(year=year, month=month + 1, day=day)
        except ValueError:
            continue
    return now.replace(year=year, month=month + 1, day=min(now.day, 27))


def start_text(moment: datetime, zone: tzinfo, least: int = 0) -> str:
    """Return the shortest text of at least so many characters whose period in `zone` starts at a moment."""
    local = moment.astimezone(zone)
    if local.time() == datetime.min.time():
        day = local.date().isoformat()
        text = day[: max(_calendar_length(day), least)]
        if period_of(text, zone).start == moment:
            return text
    return _clock_text(moment, zone, is_whole=_is_whole(local))


def end_text(moment: datetime, zone: tzinfo, least: int = 0) -> str:
    """Return the shortest text of at least so many characters whose period in `zone` ends at a moment.

    The moment itself is not in that period.
    """
    local = moment.astimezone(zone)
    if local.time() == datetime.min.time():
        last_day = (local.replace(tzinfo=None) - timedelta(days=1)).date().isoformat()
        # What ends with the day before a year or a month begins is the whole of one.
        text = last_day[: max(_calendar_length(local.date().isoformat()), least)]
        if is_time_text(text) and period_of(text, zone).end == moment:
            return text
    is_whole = _is_whole(local)
    return _clock_text(moment - timedelta(minutes=is_whole, microseconds=not is_whole), zone, is_whole=is_whole)


def span_texts(start: datetime, end: datetime, zone: tzinfo) -> tuple[str, str]:
    """Return texts for the beginning and the end of a span, neither coarser than the other: days with days."""
    least = min(10, max(len(start_text(start, zone)), len(end_text(end, zone))))
    return start_text(start, zone, least), end_text(end, zone, least)


def _calendar_length(day: str) -> int:
    """Return how much of a day must be written when it stands for all that begins with it: a year, a month, itself."""
    return 4 if day.endswith("-01-01") else 7 if day.endswith("-01") else 10


def _is_whole(moment: datetime) -> bool:
    return not (moment.second or moment.microsecond)


def _clock_text(moment: datetime, zone: tzinfo, *, is_whole: bool) -> str:
    """Return a moment to the minute where that is all of it, else, or where a clock shows it twice, in UTC."""
    local = moment.astimezone(zone).replace(tzinfo=None, fold=0)
    is_plain = is_whole and local.replace(tzinfo=zone).astimezone(UTC) == moment
    written = local if is_plain else moment.astimezone(UTC)
    return written.isoformat(timespec="minutes" if is_whole else "microseconds").replace("+00:00", "Z")
