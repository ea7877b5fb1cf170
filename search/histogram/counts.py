"""The histogram of one search: of rows that were read for its facets, and of kinds that were not."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta, tzinfo

from memweb.memories.kinds import Kind
from search.facets.clock import Clock, rows_in_time
from search.facets.matches import Matches, concatenated
from search.facets.postings import Mask
from search.facets.reading import Reading
from search.histogram.scale import Bar, Histogram, count_times, scale, stored
from search.keyword.schema import CONTENT_TABLES
from search.query import Field, FieldName, top_members
from search.request import SearchRequest
from search.times import period_of

HISTOGRAM_SECONDS = 0.15
# A longer period is shown only as far as there are hits.
LONGEST_PERIOD = timedelta(days=60 * 366)

Span = tuple[datetime | None, datetime | None]


def count_over_time(
    request: SearchRequest,
    matches: Mapping[Kind, Matches],
    reading: Reading,
    zone: tzinfo,
    *,
    seconds: float = HISTOGRAM_SECONDS,
) -> Histogram:
    """Return the histogram of what matches; `reading` holds the rows of the kinds that were read."""
    clock = Clock(seconds)
    start, end = asked_span(request, zone)
    # What was not read to its end is left to the indexes as a whole.
    read = {kind: one for kind, one in matches.items() if one.is_read and reading.is_complete}
    large = [one for kind, one in matches.items() if kind not in read]
    rows = reading.of(read)
    times = [row.created_at for row in rows if row.created_at is not None]
    unknown = len(rows) - len(times)
    known = [moment for moment in (*_outermost(times), *_ends(large, clock)) if moment]
    if not known:
        return Histogram(unknown=unknown, is_partial=bool(large))
    first, last = (datetime.fromisoformat(one).replace(tzinfo=UTC) for one in (min(known), max(known)))
    is_whole_period = start is not None and end is not None and start < end <= start + LONGEST_PERIOD
    first = start if start and is_whole_period else max(first, start or first)
    last = end - datetime.resolution if end and (is_whole_period or end <= last) else last
    if last < first:
        return Histogram(unknown=unknown)
    unit, edges = scale(first, last, zone)
    counts = count_times(times, edges)
    is_partial = False
    for one in large:
        more = _count_large(one, edges, clock)
        is_partial = is_partial or more is None or one.is_capped
        if more is not None:
            counts = [some + others for some, others in zip(counts, more, strict=True)]
            unknown += 0 if start or end else one.count - sum(more)
    bars = [Bar(low, high, count) for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)]
    shown = tuple(bars if is_whole_period else _trimmed(bars))
    return Histogram(unit, shown, unknown, is_partial, leaves_out=bool(start or end) and _some_are_timeless(clock))


def asked_span(request: SearchRequest, zone: tzinfo) -> Span:
    """Return the first moment that a request asks for and the first that it no longer asks for, where it does."""
    starts = [request.date_start] if request.date_start else []
    ends = [request.date_end] if request.date_end else []
    for node in top_members(request.parsed.tree):
        match node:
            case Field(FieldName.AFTER, (text,)):
                starts.append(period_of(text, zone).start)
            case Field(FieldName.BEFORE, (text,)):
                ends.append(period_of(text, zone).end)
    return max(starts, default=None), min(ends, default=None)


def _outermost(times: Sequence[str]) -> tuple[str, str] | tuple[()]:
    return (min(times), max(times)) if times else ()


def _trimmed(bars: list[Bar]) -> list[Bar]:
    """Return the bars from the first to the last that is not empty."""
    places = [place for place, bar in enumerate(bars) if bar.count]
    return bars[places[0] : places[-1] + 1] if places else []


def _count_large(one: Matches, edges: Sequence[datetime], clock: Clock) -> list[int] | None:
    """Return how many matches of a kind lie between the edges, by its index of times; None when not in time."""
    spans = list(zip(map(stored, edges[:-1]), map(stored, edges[1:]), strict=True))
    rows = rows_in_time(
        [
            "SELECT (SELECT group_concat(id) FROM (SELECT id FROM"
            f" {CONTENT_TABLES[one.kind]} WHERE created_at >= json_extract(j.value, '$[0]')"
            " AND created_at < json_extract(j.value, '$[1]'))) FROM json_each(%s) AS j ORDER BY j.key"
        ],
        [json.dumps(spans)],
        clock,
    )
    mask = Mask(one)
    return [mask.count(concatenated(ids)) for (ids,) in rows.rows] if rows.is_complete else None


def _some_are_timeless(clock: Clock) -> bool:
    parts = [f"SELECT EXISTS (SELECT 1 FROM {table} WHERE created_at IS NULL)" for table in CONTENT_TABLES.values()]
    return any(found for (found,) in rows_in_time(parts, [], clock).rows)


def _ends(large: Sequence[Matches], clock: Clock) -> list[str | None]:
    """Return the first and last times of these kinds, whatever matches of them."""
    parts = [
        f"SELECT (SELECT '' || {end}(created_at) FROM {CONTENT_TABLES[one.kind]})"
        for one in large
        for end in ("min", "max")
    ]
    return [moment for (moment,) in rows_in_time(parts, [], clock).rows]
