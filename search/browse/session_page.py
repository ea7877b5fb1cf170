"""Page object of one session: its head, and windows of what happened in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo

from django.urls import reverse
from django.utils import timezone

from memweb.memories.kinds import Kind
from memweb.memories.models import FilePath, Memory, Session
from memweb.templatetags.memweb_format import exact_time
from search.analysis import clean
from search.browse.bounds import HEADING, html_size, label_url, shortened, shortened_path
from search.browse.durations import duration_label, gap_label
from search.browse.excerpts import read_excerpts
from search.browse.outline import Jump, jumps_of, touched_files
from search.browse.parts import Part, first_parts
from search.browse.run import Extent, Window, cursor_of, extent_of
from search.cursors import encode
from search.hit_views import time_note
from search.keyword.rows import Key
from search.places import field_url, timeline_url
from search.query import FieldName

FILES_SHOWN = 5
# What the values of one memory may take of the page, so that a window of a hundred stays below a megabyte.
ENTRY_BYTES = 7_000


@dataclass(frozen=True, slots=True)
class Entry:
    """One memory of a session. `day` begins a new day, `gap` says how long nothing happened before it."""

    ref: str
    url: str
    timeline_url: str
    kind: str
    kind_label: str
    type: str
    heading: str
    parts: list[Part]
    created_at: datetime | None
    time: str
    exact_time: str
    time_note: str
    files: list[str]
    more_files: int
    flags: list[str]
    is_cut: bool
    whole_url: str
    is_marked: bool
    day: str = ""
    gap: str = ""


@dataclass(frozen=True, slots=True)
class Entries:
    """A window of a session, with the addresses of what comes before and after it."""

    entries: list[Entry]
    earlier_url: str
    later_url: str


@dataclass(frozen=True, slots=True)
class SessionPage:
    """What `/sessions/<id>/` shows."""

    label: str
    project_label: str
    project_url: str
    platform: str
    ids: list[tuple[str, str]]
    started_at: datetime | None
    span_label: str
    counts: list[str]
    without_time: int
    jumps: list[Jump]
    files: list[tuple[str, str, int]]
    more_files: int
    search_url: str
    window: Entries


def session_page(session: Session, window: Window, zone: tzinfo, marked: Key | None) -> SessionPage:
    """Return the page object of a session, with one window of its memories."""
    extent = extent_of(session)
    files, file_count = touched_files(session)
    return SessionPage(
        label=shortened(clean(session.label[:200]), HEADING),
        project_label=shortened(clean(session.project.label)),
        project_url=label_url(FieldName.PROJECT, session.project.name),
        platform=shortened(clean(session.platform)),
        ids=[
            (label, shortened(clean(id)))
            for label, id in (("Session", session.content_session_id), ("Memory session", session.memory_session_id))
            if id
        ],
        started_at=session.started_at or extent.first,
        span_label=_span(session, extent),
        counts=[
            f"{count:,} {kind.plural if count != 1 else kind.label}" for kind, count in extent.counts.items() if count
        ],
        without_time=extent.without_time,
        jumps=jumps_of(session, extent.counts.get(Kind.PROMPT, 0)),
        files=[(shortened_path(clean(path)), label_url(FieldName.FILE, path), count) for path, count in files],
        more_files=file_count - len(files),
        search_url=field_url(FieldName.SESSION, str(session.pk)),
        window=entries_of(session, window, zone, marked),
    )


def entries_of(session: Session, window: Window, zone: tzinfo, marked: Key | None = None) -> Entries:
    """Return a window ready to be shown."""
    memories = read_excerpts(window.keys)
    paths = _paths(memories.values())
    address = reverse("session", args=[session.pk])
    entries: list[Entry] = []
    previous = window.before[0] if window.before else None
    previous_day = previous.astimezone(zone).date() if previous else None
    for key in window.keys:
        memory = memories.get(key)
        if memory is None:
            continue
        moment = memory.created_at
        day = moment.astimezone(zone).date() if moment else None
        entries.append(
            _entry(
                memory,
                paths,
                address,
                is_marked=key == marked,
                day=_day_label(day) if day != previous_day or not entries else "",
                gap=gap_label(moment - previous) if moment and previous else "",
            )
        )
        previous, previous_day = moment or previous, day
    return Entries(
        entries,
        f"{address}?before={encode(cursor_of(window.places[0]))}" if window.before and window.places else "",
        f"{address}?after={encode(cursor_of(window.places[-1]))}" if window.after and window.places else "",
    )


def _entry(memory: Memory, paths: Mapping[int, str], address: str, *, is_marked: bool, day: str, gap: str) -> Entry:
    mentioned = _file_ids(memory)
    files = [shortened_path(clean(paths[id])) for id in mentioned[:FILES_SHOWN] if id in paths]
    type = shortened(clean(getattr(memory, "type", "")))
    heading = shortened(clean(memory.heading), HEADING) if memory.kind in (Kind.OBSERVATION, Kind.SUMMARY) else ""
    local = timezone.localtime(memory.created_at) if memory.created_at else None
    # A path stands in its title as well, a type in its colour besides.
    taken = html_size(heading) + 3 * html_size(type) + 2 * sum(map(html_size, files))
    parts, is_shortened = first_parts(memory, ENTRY_BYTES - taken)
    is_cut = is_shortened or bool(getattr(memory, "is_cut", False))
    return Entry(
        ref=str(memory.ref),
        url=memory.get_absolute_url(),
        timeline_url=timeline_url(memory.ref),
        kind=str(memory.kind),
        kind_label=memory.kind.label,
        type=type,
        heading=heading,
        parts=parts,
        created_at=memory.created_at,
        time=f"{local:%H:%M}" if local else "",
        exact_time=exact_time(memory.created_at) if memory.created_at else "",
        time_note=time_note(memory),
        files=files,
        more_files=len(mentioned) - len(files),
        flags=[flag for flag in memory.flags if flag != "doubtful"],
        is_cut=is_cut,
        whole_url=f"{address}?whole={memory.ref}" if is_cut else "",
        is_marked=is_marked,
        day=day,
        gap=gap,
    )


def _paths(memories: Iterable[Memory]) -> dict[int, str]:
    """Return the paths that are shown of these memories, by their ids."""
    wanted = {id for memory in memories for id in _file_ids(memory)[:FILES_SHOWN]}
    return dict(FilePath.objects.filter(pk__in=wanted).values_list("pk", "path"))


def _file_ids(memory: Memory) -> list[int]:
    return [int(token[2:]) for token in memory.scope_terms.split() if token[:2] == "=f" and token[2:].isdigit()]


def _day_label(day: date | None) -> str:
    return f"{day:%A} {day.day} {day:%B %Y}" if day else "Time unknown"


def _span(session: Session, extent: Extent) -> str:
    """Return how long the session was, from its first to its last moment."""
    moments = [one for one in (session.started_at, extent.first, extent.last, session.completed_at) if one]
    length = max(moments) - min(moments) if moments else timedelta()
    return duration_label(length) if length else ""
