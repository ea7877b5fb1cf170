"""Projects with what is remembered of each: how much, when, of which types, concepts and files."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta, tzinfo

from memweb.memories.kinds import Kind
from memweb.memories.models import Project
from search.browse.hidden import hidden_ids
from search.browse.paging import in_order
from search.browse.slots import Clock
from search.keyword.limits import rows_within
from search.keyword.schema import CONTENT_TABLES

COUNT_SECONDS = 0.5
# Types, concepts and files are those of so many of the newest observations of a project.
LOOKED_AT = 300
TOP = 4

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# The rank of projects without a time, after all that have one.
_LAST = 10**18 - 1


@dataclass(slots=True)
class ProjectFacts:
    """What is remembered of one project; `days` holds the number of memories of each day with any in a zone."""

    project: Project
    counts: Counter[Kind] = field(default_factory=Counter)
    days: Counter[date] = field(default_factory=Counter)
    last: datetime | None = None
    aliases: list[str] = field(default_factory=list)
    merged: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    concepts: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)

    @property
    def total(self) -> int:
        return self.counts.total()

    @property
    def rank(self) -> int:
        return -((self.last - _EPOCH) // timedelta(microseconds=1)) if self.last else _LAST

    @property
    def name(self) -> str:
        return self.project.name

    @property
    def id(self) -> int:
        return self.project.pk


def read_projects(zone: tzinfo, find: str = "") -> tuple[list[ProjectFacts], bool]:
    """Return the projects with memories whose names hold a text, the last active first, and whether counting ended.

    Days are those of a zone.
    """
    projects = Project.objects.prefetch_related("aliases", "merged_projects").in_bulk()
    facts = {id: ProjectFacts(project) for id, project in projects.items()}
    clock = Clock(zone)
    counted = [_count_kind(kind, facts, clock) for kind in Kind]
    for one in facts.values():
        one.aliases = sorted(alias.name for alias in one.project.aliases.all())
        one.merged = sorted(project.name for project in one.project.merged_projects.all())
    wanted = find.casefold()
    found = [
        one
        for one in facts.values()
        if one.total and any(wanted in name.casefold() for name in (one.project.label, *one.aliases, *one.merged))
    ]
    return in_order(found), all(counted)


def add_top_labels(facts: Sequence[ProjectFacts]) -> None:
    """Add the most frequent types, concepts and files of the newest observations, in three statements."""
    if not facts:
        return
    parts = " UNION ALL ".join(
        "SELECT * FROM (SELECT project_id, id, type FROM memories_observation"
        f" WHERE project_id = {int(one.project.pk)} ORDER BY created_at DESC, id DESC LIMIT {LOOKED_AT})"
        for one in facts
    )
    rows = rows_within(COUNT_SECONDS, parts, []).rows
    hidden = set(hidden_ids(Kind.OBSERVATION))
    owners = {id: project for project, id, _ in rows if id not in hidden}
    types = _top((owners[id], type) for _, id, type in rows if id in owners and type)
    ids = json.dumps(list(owners))
    concepts = _labels("memories_observationconcept", "concept_id", "memories_concept", "name", ids)
    files = _labels("memories_observationfile", "file_id", "memories_filepath", "path", ids)
    top_concepts = _top((owners[id], name) for id, name in concepts)
    top_files = _top((owners[id], name) for id, name in files)
    for one in facts:
        one.types, one.concepts, one.files = (found[one.project.pk] for found in (types, top_concepts, top_files))


def bars(days: Counter[date], first: date, last: date, number: int) -> list[int]:
    """Return how many memories fall into each of `number` equal stretches from the first to the last day."""
    length = max((last - first) / timedelta(days=1) + 1, 1)
    found = [0] * number
    for day, count in days.items():
        place = int((day - first) / timedelta(days=1) * number / length)
        found[min(max(place, 0), number - 1)] += count
    return found


def _count_kind(kind: Kind, facts: dict[int, ProjectFacts], clock: Clock) -> bool:
    """Count one kind out of the index of projects and times; what is hidden is taken off again."""
    table = CONTENT_TABLES[kind]
    hidden = json.dumps(hidden_ids(kind))
    grouped = f"SELECT project_id, {clock.slot} AS slot, count(*), max(created_at)"
    rows = rows_within(COUNT_SECONDS, f"{grouped} FROM {table} GROUP BY project_id, slot", [])
    sql = f"{grouped} FROM {table} WHERE id IN (SELECT value FROM json_each(%s)) GROUP BY project_id, slot"
    taken_off = {(project, slot): count for project, slot, count, _ in rows_within(COUNT_SECONDS, sql, [hidden]).rows}
    lasts = _lasts(table, sorted({project for project, _ in taken_off}), hidden)
    newest: dict[int, str] = {}
    for project, slot, count, last in rows.rows:
        one = facts.get(project)
        number = count - taken_off.get((project, slot), 0)
        if one is None or number <= 0:
            continue
        one.counts[kind] += number
        if slot:
            one.days[clock.day(slot)] += number
            newest[project] = max(newest.get(project, ""), lasts.get(project, last))
    for project, stored in newest.items():
        one, moment = facts[project], datetime.fromisoformat(stored).replace(tzinfo=UTC)
        one.last = max(one.last, moment) if one.last else moment
    return rows.is_complete


def _lasts(table: str, projects: Sequence[int], hidden: str) -> dict[int, str]:
    """Return the last time, as stored, of what is not hidden in projects that have something hidden."""
    found: dict[int, str] = {}
    for start in range(0, len(projects), LOOKED_AT):
        some = projects[start : start + LOOKED_AT]
        sql = " UNION ALL ".join(
            f"SELECT * FROM (SELECT project_id, '' || created_at FROM {table} WHERE project_id = %s"
            " AND created_at IS NOT NULL AND id NOT IN (SELECT value FROM json_each(%s))"
            " ORDER BY created_at DESC LIMIT 1)"
            for _ in some
        )
        found |= dict(rows_within(COUNT_SECONDS, sql, [value for one in some for value in (one, hidden)]).rows)
    return found


def _labels(links: str, column: str, labels: str, name: str, ids: str) -> list[tuple[int, str]]:
    sql = (
        f"SELECT DISTINCT l.observation_id, t.{name} FROM json_each(%s) AS wanted"
        f" CROSS JOIN {links} AS l ON l.observation_id = wanted.value JOIN {labels} AS t ON t.id = l.{column}"
    )
    return rows_within(COUNT_SECONDS, sql, [ids]).rows


def _top(pairs: Iterable[tuple[int, str]]) -> defaultdict[int, list[str]]:
    counted: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for project, name in pairs:
        counted[project][name] += 1
    found: defaultdict[int, list[str]] = defaultdict(list)
    for project, counter in counted.items():
        found[project] = [name for name, _ in sorted(counter.items(), key=lambda one: (-one[1], one[0]))[:TOP]]
    return found
