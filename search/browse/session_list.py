"""The list of sessions: newest first, filtered, in pages that neither skip nor repeat."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Max, Min, Q, QuerySet
from django.db.models.fields.tuple_lookups import Tuple, TupleLessThan
from django.db.models.functions import Length
from django.urls import reverse

from memweb.memories.kinds import Kind
from memweb.memories.models import MEMORY_MODELS, ObservationFile, Project, Session
from search.analysis import clean
from search.browse.bounds import HEADING, shortened
from search.browse.durations import duration_label
from search.browse.run import visible
from search.times import period_of

PAGE = 50
OFFERED = 200
LONGEST = 200
FILTERS = ("project", "platform", "since", "until", "q")


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """What sessions are listed; `problems` names what could not be read. `older` is the place after which to begin."""

    project: str | None = None
    platform: str = ""
    since: datetime | None = None
    until: datetime | None = None
    words: str = ""
    older: tuple[datetime | None, int] | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session of the list."""

    url: str
    label: str
    project_label: str
    platform: str
    started_at: datetime | None
    span_label: str
    counts: list[tuple[str, str]]
    files_label: str


@dataclass(frozen=True, slots=True)
class SessionListPage:
    """What `/sessions/` shows."""

    rows: list[SessionRow]
    older_url: str
    first_url: str
    given: Mapping[str, str]
    problems: list[str]
    projects: list[str]
    platforms: list[str]
    is_filtered: bool


def read_filter(given: Mapping[str, str], zone: tzinfo) -> SessionFilter:
    """Read the parameters of the page; raises ValueError for a damaged place."""
    kept = {name: given[name].strip()[:LONGEST] for name in FILTERS if given.get(name, "").strip()}
    values: dict[str, Any] = {"given": kept, "problems": ()}
    for name, end in (("since", "start"), ("until", "end")):
        if name in kept:
            try:
                values[name] = getattr(period_of(kept[name], zone), end)
            except ValueError as error:
                values["problems"] = (*values["problems"], f"{name}: {error}; it was left out.")
    if "project" in kept:
        values["project"] = given["project"]
    values |= {"platform": kept.get("platform", ""), "words": kept.get("q", "")}
    if older := given.get("older", ""):
        values["older"] = _place(older)
    return SessionFilter(**values)


def session_list_page(wanted: SessionFilter) -> SessionListPage:
    """Return the page object of a list of sessions."""
    found = list(_sessions(wanted)[: PAGE + 1])
    shown = found[:PAGE]
    facts = _Facts(shown)
    more = len(found) > PAGE
    return SessionListPage(
        rows=[facts.row(session) for session in shown],
        older_url=_url(wanted, older=_place_text(shown[-1])) if more else "",
        first_url=_url(wanted) if wanted.older else "",
        given=wanted.given,
        problems=list(wanted.problems),
        projects=_project_names(),
        platforms=_platforms(),
        is_filtered=bool(wanted.given),
    )


def _sessions(wanted: SessionFilter) -> QuerySet[Session]:
    rows = Session.objects.select_related("project")
    if wanted.project is not None:
        rows = rows.filter(Q(project__name=wanted.project) | Q(project__aliases__name=wanted.project)).distinct()
    if wanted.platform:
        rows = rows.filter(platform=wanted.platform)
    if wanted.since:
        rows = rows.filter(Q(started_at__gte=wanted.since) | Q(completed_at__gte=wanted.since))
    if wanted.until:
        rows = rows.filter(started_at__lt=wanted.until)
    for word in wanted.words.split():
        rows = rows.filter(
            Q(title__icontains=word)
            | Q(first_prompt__icontains=word)
            | Q(content_session_id=word)
            | Q(memory_session_id=word)
        )
    if wanted.older:
        moment, id = wanted.older
        unknown = Q(started_at__isnull=True)
        if moment is None:
            rows = rows.filter(unknown, pk__lt=id)
        else:
            rows = rows.filter(Q(TupleLessThan(Tuple("started_at", "pk"), (moment, id))) | unknown)
    # Nulls are the least values for SQLite, hence last here.
    return rows.order_by("-started_at", "-pk").defer("source_data")


class _Facts:
    """What the memories of some sessions say about them, in a fixed number of statements."""

    def __init__(self, sessions: list[Session]) -> None:
        ids = [session.pk for session in sessions]
        self._counts: dict[int, dict[Kind, int]] = {id: {} for id in ids}
        self._spans: dict[int, list[datetime]] = {id: [] for id in ids}
        for kind in MEMORY_MODELS:
            rows = visible(kind, *sessions).values("session")
            counted = rows.annotate(count=Count("pk"), first=Min("created_at"), last=Max("created_at"))
            for one in counted.order_by():
                self._counts[one["session"]][kind] = one["count"]
                self._spans[one["session"]] += [moment for moment in (one["first"], one["last"]) if moment]
        observations = visible(Kind.OBSERVATION, *sessions).values("pk")
        touched = ObservationFile.objects.filter(observation__in=observations).values("observation__session")
        counted_files = touched.annotate(count=Count("file", distinct=True)).order_by()
        self._files = {one["observation__session"]: one["count"] for one in counted_files}

    def row(self, session: Session) -> SessionRow:
        moments = [*self._spans[session.pk], *filter(None, (session.started_at, session.completed_at))]
        length = max(moments) - min(moments) if moments else timedelta()
        files = self._files.get(session.pk, 0)
        return SessionRow(
            url=reverse("session", args=[session.pk]),
            label=shortened(clean(session.label[:200]), HEADING),
            project_label=shortened(clean(session.project.label)),
            platform=shortened(clean(session.platform)),
            started_at=session.started_at or min(moments, default=None),
            span_label=duration_label(length) if length else "",
            counts=[
                (str(kind), f"{count:,} {kind.label if count == 1 else kind.plural}")
                for kind, count in sorted(self._counts[session.pk].items())
            ],
            files_label=f"{files:,} file{'' if files == 1 else 's'}" if files else "",
        )


def _project_names() -> list[str]:
    """Return names to choose from, at most so many and so long that the page stays small."""
    rows = Project.objects.filter(sessions__isnull=False).exclude(name="").distinct().order_by("name")
    return _offered(rows, "name")


def _platforms() -> list[str]:
    return _offered(Session.objects.exclude(platform="").order_by("platform"), "platform")


def _offered(rows: QuerySet[Any], name: str) -> list[str]:
    short = rows.annotate(length=Length(name)).filter(length__lte=LONGEST)
    return list(short.values_list(name, flat=True).distinct()[:OFFERED])


def _url(wanted: SessionFilter, older: str = "") -> str:
    parameters = {**wanted.given, **({"older": older} if older else {})}
    return reverse("sessions") + (f"?{urlencode(parameters)}" if parameters else "")


def _place_text(session: Session) -> str:
    moment = session.started_at.astimezone(UTC).isoformat() if session.started_at else ""
    return f"{moment}~{session.pk}"


def _place(text: str) -> tuple[datetime | None, int]:
    moment, _, id = text.partition("~")
    try:
        if not id.isascii() or not id.isdigit() or len(id) > 18:
            raise ValueError
        return (datetime.fromisoformat(moment).astimezone(UTC) if moment else None), int(id)
    except (ValueError, OverflowError):
        raise ValueError(f"older: “{text[:40]}” is not a place in the list; open the first page of it") from None
