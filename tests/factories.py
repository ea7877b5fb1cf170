"""Memories for tests: every default is fixed, so that only what a test names matters to it."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from memweb.memories.models import (
    Concept,
    Drawer,
    FilePath,
    FileRole,
    Memory,
    Observation,
    ObservationConcept,
    ObservationFile,
    Project,
    Session,
    SessionSummary,
    SummaryFile,
    Tag,
    TimeQuality,
    UserPrompt,
)

START = datetime(2026, 1, 20, 9, 0, tzinfo=UTC)


def moment(minutes: float = 0) -> datetime:
    """Return START and so many minutes."""
    return START + timedelta(minutes=minutes)


def make_project(name: str = "demo", **values: Any) -> Project:
    """Return the project of that name, made when there is none."""
    return Project.objects.get_or_create(name=name, defaults=values)[0]


def make_session(id: str = "content-1", *, project: str = "demo", **values: Any) -> Session:
    """Return the session with that content id, made when there is none."""
    defaults = {"project": make_project(project), "platform": "claude", **values}
    return Session.objects.get_or_create(content_session_id=id, defaults=defaults)[0]


def make_observation(
    title: str = "",
    narrative: str = "",
    *,
    concepts: Iterable[str] = (),
    files: Iterable[str] = (),
    modified: Iterable[str] = (),
    tags: Iterable[str] = (),
    **values: Any,
) -> Observation:
    """Return a saved observation; `files` were read, `modified` ones were changed."""
    observation = Observation.objects.create(title=title, narrative=narrative, **_shared(values))
    for name in concepts:
        ObservationConcept.objects.create(observation=observation, concept=make_concept(name))
    for role, paths in ((FileRole.READ, files), (FileRole.MODIFIED, modified)):
        for path in paths:
            ObservationFile.objects.create(observation=observation, file=make_file(path), role=role)
    return _with_tags(observation, tags)


def make_summary(
    request: str = "", *, files: Iterable[str] = (), tags: Iterable[str] = (), **values: Any
) -> SessionSummary:
    """Return a saved session summary."""
    summary = SessionSummary.objects.create(request=request, **_shared(values))
    for path in files:
        SummaryFile.objects.create(summary=summary, file=make_file(path), role=FileRole.READ)
    return _with_tags(summary, tags)


def make_prompt(text: str = "", *, tags: Iterable[str] = (), **values: Any) -> UserPrompt:
    """Return a saved user prompt."""
    return _with_tags(UserPrompt.objects.create(text=text, **_shared(values)), tags)


def make_drawer(text: str = "", *, file: str = "", tags: Iterable[str] = (), **values: Any) -> Drawer:
    """Return a saved passage."""
    path = make_file(file) if file else None
    return _with_tags(Drawer.objects.create(text=text, file=path, **_shared(values)), tags)


def make_concept(name: str) -> Concept:
    return Concept.objects.get_or_create(name=name)[0]


def make_tag(name: str) -> Tag:
    return Tag.objects.get_or_create(name=name)[0]


def make_file(path: str) -> FilePath:
    found = FilePath.objects.filter(path=path).first()
    return found or FilePath.objects.create(path=path)


def refs(memories: Iterable[Memory]) -> list[str]:
    """Return the names of memories, in order."""
    return [str(memory.ref) for memory in memories]


def make_one_of_each(word: str, **values: Any) -> Sequence[Memory]:
    """Return a drawer, an observation, a prompt and a summary that hold a word, in the order of their kinds."""
    return [
        make_drawer(word, **values),
        make_observation(word, **values),
        make_prompt(word, **values),
        make_summary(word, **values),
    ]


def _shared(values: dict[str, Any]) -> dict[str, Any]:
    """Return the values of a memory: `project` may be a name, `created_at` None makes the time unknown."""
    project = values.pop("project", "demo")
    values["project"] = make_project(project) if isinstance(project, str) else project
    values.setdefault("created_at", START)
    if values["created_at"] is None:
        values.setdefault("time_quality", TimeQuality.UNKNOWN)
    return values


def _with_tags(memory: Any, tags: Iterable[str]) -> Any:
    for name in tags:
        memory.tags.add(make_tag(name))
    memory.save()  # what is attached is indexed with the memory
    return memory
