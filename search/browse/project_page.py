"""Page object of the projects: each with its numbers, its activity, what it is about."""

from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from urllib.parse import urlencode

from django.urls import reverse

from search.analysis import clean
from search.browse.bounds import PATH, bounded, label_url, shortened, shortened_path
from search.browse.paging import Place, page_after
from search.browse.projects import ProjectFacts, add_top_labels, bars, read_projects
from search.query import FieldName

PAGE = 30
OTHERS = 12
BARS = 24
BAR_WIDTH, BAR_HEIGHT = 6, 28


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of a sparkline, in units of its drawing."""

    x: int
    y: float
    height: float


@dataclass(frozen=True, slots=True)
class ProjectRow:
    label: str
    url: str
    sessions_url: str
    other_names: list[str]
    more_names: int
    total: str
    counts: list[tuple[str, str]]
    last: datetime | None
    bars: list[Bar]
    bars_label: str
    types: list[tuple[str, str]]
    concepts: list[tuple[str, str]]
    files: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ProjectsPage:
    """What `/projects/` shows."""

    rows: list[ProjectRow]
    find: str
    total_label: str
    first_url: str
    next_url: str
    span_label: str
    is_complete: bool
    drawing: str


def projects_page(find: str, after: Place | None, zone: tzinfo) -> ProjectsPage:
    """Return one page of the projects whose names hold a text, with their activity by days of a zone."""
    facts, is_complete = read_projects(zone, find)
    shown, last_shown, _ = page_after(facts, after, PAGE)
    add_top_labels(shown)
    days = [day for one in facts for day in one.days]
    first, last = min(days, default=date.min), max(days, default=date.min)
    noun = "project" if len(facts) == 1 else "projects"
    return ProjectsPage(
        rows=[_row(one, first, last) for one in shown],
        find=find,
        total_label=f"{len(facts):,} {noun}",
        first_url=_url(find) if after else "",
        next_url=_url(find, last_shown) if last_shown else "",
        span_label=f"{_month(first)} to {_month(last)}" if days else "",
        is_complete=is_complete,
        drawing=f"0 0 {BARS * BAR_WIDTH} {BAR_HEIGHT}",
    )


def _row(facts: ProjectFacts, first: date, last: date) -> ProjectRow:
    name = facts.project.name
    heights = bars(facts.days, first, last, BARS) if facts.days else []
    others = [*facts.aliases, *facts.merged]
    busiest = max(facts.days.items(), key=lambda one: one[1], default=None)
    return ProjectRow(
        label=shortened(clean(facts.project.label), PATH),
        url=label_url(FieldName.PROJECT, name),
        sessions_url=bounded(f"{reverse('sessions')}?{urlencode({'project': name})}") if name else "",
        other_names=[shortened(clean(one)) for one in others[:OTHERS]],
        more_names=max(0, len(others) - OTHERS),
        total=f"{facts.total:,}",
        counts=[
            (str(kind), f"{count:,} {kind.label if count == 1 else kind.plural}")
            for kind, count in sorted(facts.counts.items())
        ],
        last=facts.last,
        bars=_bars(heights),
        bars_label=f"Memories on {len(facts.days):,} days; most on {busiest[0]:%Y-%m-%d}: {busiest[1]:,}"
        if busiest
        else "No memory has a known time",
        types=[(shortened(clean(one)), _within(name, FieldName.TYPE, one)) for one in facts.types],
        concepts=[(shortened(clean(one)), _within(name, FieldName.CONCEPT, one)) for one in facts.concepts],
        files=[(shortened_path(clean(one)), _within(name, FieldName.FILE, one)) for one in facts.files],
    )


def _bars(counts: list[int]) -> list[Bar]:
    highest = max(counts, default=0)
    return [
        Bar(place * BAR_WIDTH, round(BAR_HEIGHT - height, 1), height)
        for place, count in enumerate(counts)
        if count and (height := round(max(2.0, BAR_HEIGHT * count / highest), 1))
    ]


def _within(project: str, name: FieldName, value: str) -> str:
    return label_url(name, value, project)


def _url(find: str, after: Place | None = None) -> str:
    given = {"find": find, "after": str(after or "")}
    parameters = {name: value for name, value in given.items() if value}
    return reverse("projects") + (f"?{urlencode(parameters)}" if parameters else "")


def _month(day: date) -> str:
    return f"{day:%b %Y}"
