"""Page object of the timeline: everything that its templates show."""

from dataclasses import dataclass, field
from datetime import date, tzinfo

from django.utils import timezone
from django.utils.safestring import SafeString

from memweb.memories.kinds import Kind
from search.analysis import clean
from search.hit_views import time_note
from search.pills import Pill, query_pills
from search.places import session_url
from search.query import FieldName, has_field
from search.results import Hit
from search.timeline.anchors import Anchor
from search.timeline.builder import MAX_DEPTH, Timeline
from search.timeline.days import by_day, split_by_trust
from search.timeline.links import TimelineLinks

STEP = 10
FILES_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Row:
    """One memory of the timeline; `time` is the local time of the day."""

    ref: str
    url: str
    kind: str
    kind_label: str
    type: str
    title: SafeString | str
    snippet: SafeString | str
    time: str
    exact_time: str
    time_note: str
    project_label: str
    files: list[str]
    more_files: int
    flags: list[str]
    is_anchor: bool
    anchor_url: str


@dataclass(frozen=True, slots=True)
class RunView:
    label: str
    url: str
    is_continued: bool
    rows: list[Row]


@dataclass(frozen=True, slots=True)
class DayView:
    date: date
    label: str
    note: str
    url: str
    runs: list[RunView]


@dataclass(frozen=True, slots=True)
class Switch:
    label: str
    url: str
    selected: bool


@dataclass(frozen=True, slots=True)
class TimelinePage:
    """What `/timeline/` shows, whole or as a fragment."""

    title: str
    anchor_text: str
    filters_text: str
    before: int
    after: int
    max_depth: int
    all_projects: bool
    matched: Row | None
    query: str
    is_outside: bool
    earlier_days: list[DayView]
    later_days: list[DayView]
    moment_label: str
    doubted: list[Row]
    more_before_url: str
    more_after_url: str
    at_oldest: bool
    at_newest: bool
    permalink: str
    pills: list[Pill]
    kinds: list[Switch]
    scope: Switch | None
    without_time_url: str
    notes: list[str] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        return not (self.earlier_days or self.later_days or self.doubted)


def timeline_page(timeline: Timeline, links: TimelineLinks, zone: tzinfo, notes: list[str], host: str) -> TimelinePage:
    """Return the page object; `host` is what absolute addresses begin with."""
    anchor = timeline.anchor
    views = _Views(timeline, links)
    trusted, doubted = split_by_trust(timeline.hits)
    split = _place_of_moment(trusted, anchor)
    matched = next((hit for hit in timeline.hits if timeline.is_anchor(hit)), None)
    unknown = timeline.first_without_time
    return TimelinePage(
        title=f"Around {matched.title}" if matched else f"Around {_moment_label(anchor, zone)}",
        anchor_text=links.anchor,
        filters_text=links.text,
        before=timeline.before,
        after=timeline.after,
        max_depth=MAX_DEPTH,
        all_projects=links.all_projects,
        matched=views.row(matched) if matched else None,
        query=clean(anchor.query),
        is_outside=not timeline.in_filters,
        earlier_days=views.days(trusted[:split], zone),
        later_days=views.days(trusted[split:], zone),
        moment_label="" if matched else _moment_label(anchor, zone),
        doubted=[views.row(hit) for hit in doubted],
        more_before_url=_more(links, timeline, "before", trusted[:1]) if not timeline.found_oldest else "",
        more_after_url=_more(links, timeline, "after", trusted[-1:]) if not timeline.found_newest else "",
        at_oldest=timeline.found_oldest,
        at_newest=timeline.found_newest,
        permalink=host + links.url(anchor=anchor.text, fragment=anchor.text if matched else ""),
        pills=list(query_pills(links.tree, links)),
        kinds=[
            Switch(
                kind.plural.capitalize(),
                links.toggled(FieldName.KIND, str(kind)),
                has_field(links.tree, FieldName.KIND, str(kind)),
            )
            for kind in Kind
        ],
        scope=_scope(timeline, links),
        without_time_url=links.url(anchor=f"{unknown[0].letter}{unknown[1]}") if unknown else "",
        notes=[*notes, *timeline.notes],
    )


class _Views:
    """Makes rows and days of the hits of one timeline."""

    def __init__(self, timeline: Timeline, links: TimelineLinks) -> None:
        self._timeline = timeline
        self._links = links
        self._mixes_projects = len({hit.memory.project_id for hit in timeline.hits}) > 1

    def row(self, hit: Hit) -> Row:
        memory = hit.memory
        local = timezone.localtime(memory.created_at) if memory.created_at else None
        return Row(
            ref=str(hit.ref),
            url=memory.get_absolute_url(),
            kind=str(hit.kind),
            kind_label=hit.kind.label,
            type=clean(getattr(memory, "type", "")),
            title=hit.title_html,
            snippet=hit.snippet_html,
            time=f"{local:%H:%M}" if local else "",
            exact_time=f"{local:%Y-%m-%dT%H:%M:%S%z}" if local else "",
            time_note=time_note(memory),
            project_label=clean(memory.project.label) if self._mixes_projects else "",
            files=[clean(path) for path in hit.files[:FILES_SHOWN]],
            more_files=max(0, len(hit.files) - FILES_SHOWN),
            flags=[flag for flag in memory.flags if flag != "doubtful"],
            is_anchor=self._timeline.is_anchor(hit),
            anchor_url=self._links.url(anchor=str(hit.ref), fragment=str(hit.ref)),
        )

    def days(self, hits: list[Hit], zone: tzinfo) -> list[DayView]:
        return [
            DayView(
                date=day.date,
                label=f"{day.date:%A} {day.date.day} {day.date:%B %Y}",
                note="" if day.hours == 24 else f"{day.hours} hours: the clocks change",
                url=self._links.url(anchor=day.date.isoformat()),
                runs=[
                    RunView(
                        label=clean(run.session.label[:120]) if run.session else "No session",
                        url=session_url(run.session.pk, run.hits[0].ref) if run.session else "",
                        is_continued=run.is_continued,
                        rows=[self.row(hit) for hit in run.hits],
                    )
                    for run in day.runs
                ],
            )
            for day in by_day(hits, zone)
        ]


def _place_of_moment(hits: list[Hit], anchor: Anchor) -> int:
    """Return where among the hits a moment stands; all come first when a memory is the anchor."""
    if anchor.memory is not None or anchor.moment is None:
        return len(hits)
    earlier = [hit for hit in hits if hit.memory.created_at and hit.memory.created_at < anchor.moment]
    return len(earlier)


def _moment_label(anchor: Anchor, zone: tzinfo) -> str:
    if anchor.moment is None:
        return "an unknown time"
    local = anchor.moment.astimezone(zone)
    return f"{local:%A} {local.day} {local:%B %Y, %H:%M:%S}"


def _more(links: TimelineLinks, timeline: Timeline, side: str, outermost: list[Hit]) -> str:
    """Return the address that shows more on one side: a greater depth, at last the outermost memory as the anchor."""
    depth = timeline.before if side == "before" else timeline.after
    if depth >= MAX_DEPTH and outermost:
        ref = str(outermost[0].ref)
        return links.url(anchor=ref, before=STEP, after=STEP, fragment=ref)
    more = min(depth + STEP, MAX_DEPTH)
    return links.url(before=more) if side == "before" else links.url(after=more)


def _scope(timeline: Timeline, links: TimelineLinks) -> Switch | None:
    """Return the switch between the anchor's project and all; None where a filter names projects."""
    memory = timeline.anchor.memory
    if memory is None or not (timeline.own_project or links.all_projects):
        return None
    if timeline.own_project:
        return Switch(f"Only {clean(memory.project.label)}", links.url(all_projects=True), True)
    return Switch(f"Only {clean(memory.project.label)}", links.url(all_projects=False), False)
