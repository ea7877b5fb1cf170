"""Page object of the histogram: bars as links that narrow the period, and the words for what they show."""

from dataclasses import dataclass
from datetime import datetime, tzinfo

from django.utils import timezone

from search.facet_views import LONG_TEXT
from search.histogram.counts import asked_span
from search.histogram.scale import Bar, Histogram, Unit
from search.links import Links
from search.query import TIME_FIELDS, with_period, without_fields
from search.request import SearchRequest
from search.times import span_texts

HEIGHT = 64
LOWEST = 3
BAR_WIDTH = 44
# Bars that would reach this far share the whole width instead.
FULL_WIDTH = 600
TICKS = 6


@dataclass(frozen=True, slots=True)
class BarView:
    """One bar: where it stands (per cent of the width), how high it is (of HEIGHT), what it says and where it leads.

    `after` and `before` are the times of the query that narrow it to this bar. Beside a very long text it has no `url`:
    every link repeats the text.
    """

    x: str
    hit_x: str
    y: int
    height: int
    period: str
    label: str
    count: int
    count_label: str
    url: str
    after: str
    before: str


@dataclass(frozen=True, slots=True)
class Tick:
    x: str
    label: str


@dataclass(frozen=True, slots=True)
class HistogramView:
    """What is shown of hits over time. Without bars, `caption` says all there is to say."""

    bars: list[BarView]
    ticks: list[Tick]
    bar_width: str
    hit_width: str
    width: str
    caption: str
    note: str
    all_url: str
    range_url: str
    first_day: str
    last_day: str
    height: int = HEIGHT


def histogram_view(request: SearchRequest, histogram: Histogram) -> HistogramView | None:
    """Return what is shown; nothing when there are no hits at all."""
    zone = timezone.get_current_timezone()
    bars = histogram.bars
    if not bars and not histogram.unknown and not histogram.is_partial:
        return None
    links = Links(request)
    timeless = without_fields(request.parsed.tree, *TIME_FIELDS)
    has_period = any(asked_span(request, zone))
    highest = max((bar.count for bar in bars), default=0)
    step = 100 / len(bars) if bars else 100
    return HistogramView(
        bars=[_bar(request, links, histogram.unit, bar, place, highest, step, zone) for place, bar in enumerate(bars)]
        if len(bars) > 1
        else [],
        ticks=_ticks(histogram, zone),
        bar_width=f"{step * 0.84:.3f}%",
        hit_width=f"{step:.3f}%",
        width=f"{len(bars) * BAR_WIDTH}" if len(bars) * BAR_WIDTH < FULL_WIDTH else "100%",
        caption=_caption(histogram, highest, zone),
        note=_note(histogram),
        all_url=links.edited(timeless) if has_period and not (request.date_start or request.date_end) else "",
        range_url=links.edited(timeless),
        first_day=f"{bars[0].start.astimezone(zone):%Y-%m-%d}" if bars else "",
        last_day=f"{(bars[-1].end - datetime.resolution).astimezone(zone):%Y-%m-%d}" if bars else "",
    )


def _bar(
    request: SearchRequest, links: Links, unit: Unit, bar: Bar, place: int, highest: int, step: float, zone: tzinfo
) -> BarView:
    start, end = asked_span(request, zone)
    low = max(bar.start, start) if start else bar.start
    high = min(bar.end, end) if end else bar.end
    after, before = span_texts(low, high, zone)
    period = bar_label(unit, bar, zone)
    height = max(LOWEST, round(HEIGHT * bar.count / highest)) if bar.count else 0
    noun = "memory" if bar.count == 1 else "memories"
    return BarView(
        x=f"{place * step + step * 0.08:.3f}%",
        hit_x=f"{place * step:.3f}%",
        y=HEIGHT - height,
        height=height,
        period=period,
        label=f"{period}: {bar.count:,} {noun}",
        count=bar.count,
        count_label=f"{bar.count:,}",
        url=links.edited(with_period(request.parsed.tree, after, before))
        if bar.count and len(request.query) <= LONG_TEXT
        else "",
        after=after,
        before=before,
    )


def bar_label(unit: Unit, bar: Bar, zone: tzinfo) -> str:
    """Return in words how long a bar reaches."""
    start = bar.start.astimezone(zone)
    last = (bar.end - datetime.resolution).astimezone(zone)
    match unit:
        case Unit.HOUR:
            return f"{start:%a} {_day(start)}, {start:%H:%M}–{bar.end.astimezone(zone):%H:%M}"
        case Unit.DAY:
            return f"{start:%a} {_day(start)}"
        case Unit.WEEK:
            beginning = f"{start.day}" if start.month == last.month else f"{start.day} {start:%b}"
            return f"{beginning if start.year == last.year else _day(start)} – {_day(last)}"
        case Unit.MONTH:
            return f"{start:%B %Y}"
        case _:
            return f"{start:%Y}"


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%b %Y}"


def _ticks(histogram: Histogram, zone: tzinfo) -> list[Tick]:
    """Return labels for the axis, evenly spaced from the first bar on."""
    bars = histogram.bars
    # Of few bars, which have a fixed width, each second one has room for a label.
    every = max(2 if len(bars) * BAR_WIDTH < FULL_WIDTH else 1, -(-len(bars) // TICKS))
    places = list(range(0, len(bars), every))
    # A label at the very end would reach beyond the chart.
    if len(places) > 1 and len(bars) - places[-1] < every * 0.6:
        places.pop()
    starts = [bars[place].start.astimezone(zone) for place in places]
    return [
        Tick(f"{place * 100 / len(bars):.3f}%", _tick_label(histogram.unit, start, is_first=not place))
        for place, start in zip(places, starts, strict=True)
    ]


def _tick_label(unit: Unit, start: datetime, *, is_first: bool) -> str:
    match unit:
        case Unit.HOUR:
            day = f"{start.day} {start:%b} " if is_first or not start.hour else ""
            return f"{day}{start:%H:%M}"
        case Unit.DAY | Unit.WEEK:
            return _day(start) if is_first else f"{start.day} {start:%b}"
        case Unit.MONTH:
            return f"{start:%b %Y}"
        case _:
            return f"{start:%Y}"


def _caption(histogram: Histogram, highest: int, zone: tzinfo) -> str:
    bars, unit = histogram.bars, histogram.unit
    match bars:
        case ():
            return "No memory here has a known time" if histogram.unknown else "Not counted over time"
        case [only]:
            return f"All in one {unit}: {bar_label(unit, only, zone)}"
        case _:
            return f"Memories per {unit}, up to {highest:,}"


def _note(histogram: Histogram) -> str:
    notes = []
    if histogram.is_partial:
        notes.append("Counting stopped, there may be more.")
    if histogram.unknown and histogram.bars:
        number = "1 more has" if histogram.unknown == 1 else f"{histogram.unknown:,} more have"
        notes.append(f"{number} no known time.")
    if histogram.leaves_out:
        notes.append("Memories without a known time are left out.")
    return " ".join(notes)
