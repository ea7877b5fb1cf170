"""Page object of one memory: all fields as its kind deserves, where it came from, and its text to copy."""

import json
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString

from memweb.memories.kinds import Kind
from memweb.memories.models import Memory
from memweb.memories.models.base import field_texts
from memweb.rendering import render_markdown
from search.actions.marks import Marks, marks_of
from search.analysis import clean
from search.edit_history import Edit, edits_of
from search.hit_views import time_note
from search.hydration import texts_beside
from search.links import Links
from search.places import session_url, timeline_url
from search.query import FieldName
from search.related import Surroundings, surroundings_of
from search.request import SearchRequest

SECTIONS = {
    Kind.OBSERVATION: (("narrative", ""), ("facts", "Facts"), ("text", "Text")),
    Kind.SUMMARY: (
        ("request", "Request"),
        ("investigated", "Investigated"),
        ("learned", "Learned"),
        ("completed", "Completed"),
        ("next_steps", "Next steps"),
        ("notes", "Notes"),
    ),
    Kind.PROMPT: (("text", ""),),
    Kind.DRAWER: (("text", ""),),
}


# A longer text is folded at first.
LONG = 4_000


@dataclass(frozen=True, slots=True)
class Section:
    """One text of a memory; a `long_label` says how long it is when it is folded."""

    label: str
    html: SafeString | str
    is_list: bool = False
    items: list[SafeString] = field(default_factory=list)
    long_label: str = ""


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """What `/m/<ref>/` shows."""

    ref: str
    citation: str
    kind: str
    kind_label: str
    type: str
    title: str
    subtitle: str
    flags: list[str]
    project_label: str
    project_url: str
    session_label: str
    session_url: str
    created_at: datetime | None
    time_note: str
    sections: list[Section]
    files: list[tuple[str, str, str]]
    concepts: list[tuple[str, str]]
    facts_rows: list[tuple[str, str]]
    raw: str
    back_url: str
    permalink: str
    markdown: str
    marks: Marks
    timeline_url: str
    similar_url: str
    around: Surroundings
    beside: tuple[str, str]
    edits: list[Edit]


def memory_page(memory: Memory, permalink: str) -> MemoryPage:
    """Return the page object of a memory read with `for_display`; `permalink` is its absolute address."""
    links = Links(SearchRequest())
    title = clean(memory.heading)
    session = memory.session
    return MemoryPage(
        ref=str(memory.ref),
        citation=f"[{memory.ref}] {title}",
        kind=str(memory.kind),
        kind_label=memory.kind.label,
        type=clean(getattr(memory, "type", "")),
        title=title,
        subtitle=clean(getattr(memory, "subtitle", "")),
        flags=[flag for flag in memory.flags if flag != "pinned"],
        project_label=clean(memory.project.label),
        project_url=links.toggled(FieldName.PROJECT, memory.project.name),
        session_label=clean(session.label[:120]) if session else "",
        session_url=session_url(session.pk, memory.ref) if session else "",
        created_at=memory.created_at,
        time_note=time_note(memory),
        sections=list(_sections(memory)),
        files=[(clean(path), role, links.toggled(FieldName.FILE, path)) for path, role in _roles(memory)],
        concepts=[(clean(name), links.toggled(FieldName.CONCEPT, name)) for name in _concepts(memory)],
        facts_rows=_provenance(memory),
        raw=clean(json.dumps(memory.source_data, ensure_ascii=False, indent=2)) if memory.source_data else "",
        back_url=reverse("search"),
        permalink=permalink,
        markdown=memory_markdown(memory),
        marks=marks_of(memory),
        timeline_url=timeline_url(memory.ref),
        similar_url=f"{memory.get_absolute_url()}similar/",
        around=surroundings_of(memory),
        beside=texts_beside([memory.pk]).get(memory.pk, ("", "")) if memory.kind is Kind.DRAWER else ("", ""),
        edits=edits_of(memory),
    )


def memory_markdown(memory: Memory) -> str:
    """Return a memory as Markdown, for pasting elsewhere."""
    moment = memory.created_at.isoformat(timespec="seconds") if memory.created_at else "time unknown"
    parts = [
        f"# {clean(memory.heading)}",
        f"{memory.ref} · {memory.kind.label} · {clean(memory.project.label)} · {moment}",
    ]
    for name, label in SECTIONS[memory.kind]:
        value = shown_value(memory, name)
        text = "\n".join(f"- {one}" for one in value) if isinstance(value, list) else value
        if text:
            parts.append(f"## {label}\n\n{clean(str(text))}" if label else clean(str(text)))
    files = [f"- `{path}` ({role})" if role else f"- `{path}`" for path, role in memory_files(memory)]
    if files:
        parts.append("## Files\n\n" + "\n".join(files))
    return "\n\n".join(parts) + "\n"


def shown_value(memory: Memory, name: str) -> list[str] | str:
    """Return a text of a memory, or the texts of a list without those that are blank."""
    value = getattr(memory, name)
    if isinstance(value, str):
        return value
    return [text for text in field_texts(value) if text.strip()]


def memory_files(memory: Memory) -> list[tuple[str, str]]:
    """Return path and role (read, modified, or empty) of each file that a memory mentions."""
    if hasattr(memory, "file_links"):
        return [(clean(link.file.path), str(link.role)) for link in memory.file_links.all()]
    file: Any = getattr(memory, "file", None)
    return [(clean(file.path), "")] if file else []


def _roles(memory: Memory) -> list[tuple[str, str]]:
    """Return each file once, as its path is written, with all that was done to it: `read, modified`."""
    if not hasattr(memory, "file_links"):
        file: Any = getattr(memory, "file", None)
        return [(file.path, "")] if file else []
    roles: dict[str, list[str]] = {}
    for link in memory.file_links.all():
        roles.setdefault(link.file.path, []).append(str(link.role))
    return [(path, ", ".join(sorted(some, reverse=True))) for path, some in roles.items()]


def _sections(memory: Memory) -> Any:
    for name, label in SECTIONS[memory.kind]:
        value = shown_value(memory, name)
        if isinstance(value, list) and value:
            long_label = _long_label(sum(len(str(one)) for one in value))
            items = [render_markdown(str(one)) for one in value]
            yield Section(label, "", is_list=True, items=items, long_label=long_label)
        elif isinstance(value, str) and value.strip():
            yield Section(label, render_markdown(value), long_label=_long_label(len(value)))
    if memory.note:
        yield Section("Curator's note", render_markdown(memory.note))


def _long_label(length: int) -> str:
    return f"Show all {length:,} characters" if length > LONG else ""


def _concepts(memory: Memory) -> list[str]:
    return [concept.name for concept in memory.concepts.all()] if hasattr(memory, "concepts") else []


def _provenance(memory: Memory) -> list[tuple[str, str]]:
    batch = memory.import_batch
    session = memory.session
    rows = [
        ("Imported from", str(memory.source) if memory.source else ""),
        ("Row", memory.source_row),
        ("Import", f"{batch.pk}, {timezone.localtime(batch.started_at):%Y-%m-%d %H:%M}" if batch else ""),
        ("Session", (session.content_session_id or session.memory_session_id) if session else ""),
        ("Platform", session.platform if session else ""),
        ("Prompt number", "" if memory.prompt_number is None else str(memory.prompt_number)),
        ("Agent", memory.agent),
        ("Model", memory.model),
        ("Tokens to find out", f"{memory.discovery_tokens:,}" if memory.discovery_tokens else ""),
        ("Time", memory.get_time_quality_display() if memory.time_quality != "exact" else ""),
    ]
    return [(label, clean(value)) for label, value in rows if value]
