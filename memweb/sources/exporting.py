"""Writes memories as the JSON that claude-mem exports and imports."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from io import TextIOBase
from typing import IO, Any

from django.db import connection
from django.db.models import QuerySet

from memweb.memories.models import (
    FileRole,
    Memory,
    Observation,
    Session,
    SessionSummary,
    State,
    UserPrompt,
)
from memweb.sources.claude_mem_rows import KEY_CELL
from memweb.sources.times import epoch_milliseconds, iso_text

ROWS_AT_ONCE = 500


def export_claude_mem(file: IO[str] | TextIOBase) -> dict[str, int]:
    """Write all memories that are not in the trash, streaming; return how many of each list.

    Times, prompt numbers and tokens are those of the source, doubtful ones included, so that export, import and export
    give the same again. The key of each row goes along, so that its own export is no news to memweb even when texts
    were edited. Passages (drawers) have no place in this format.
    """
    now = datetime.now(UTC)
    with one_view():
        lists: dict[str, tuple[QuerySet[Any], Any]] = {
            "observations": (_memories(Observation).prefetch_related("concepts", "file_links__file"), _observation),
            "sessions": (_sessions(), _session),
            "summaries": (_memories(SessionSummary).prefetch_related("file_links__file"), _summary),
            "prompts": (_memories(UserPrompt), _prompt),
        }
        totals = {name: rows.count() for name, (rows, _) in lists.items()}
        head = {
            "exportedAt": iso_text(now),
            "exportedAtEpoch": epoch_milliseconds(now),
            "query": "",
            **{f"total{name.capitalize()}": total for name, total in totals.items()},
        }
        file.write(json.dumps(head, indent=1)[:-2])
        for name, (rows, write) in lists.items():
            file.write(f',\n "{name}": [')
            _write_rows(file, (write(row) for row in rows.iterator(chunk_size=ROWS_AT_ONCE)))
            file.write("]")
        file.write("\n}\n")
    return totals


@contextmanager
def one_view() -> Iterator[None]:
    """See the database as it is now for the whole block, without keeping anyone from writing."""
    if connection.in_atomic_block:
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("BEGIN DEFERRED")
        try:
            yield
        finally:
            cursor.execute("COMMIT")


def _memories(model: type[Memory]) -> QuerySet[Any]:
    rows = model.objects.exclude(state=State.TRASHED).select_related("project", "session")
    return rows.defer("title_terms", "body_terms", "variant_terms", "scope_terms").order_by("pk")


def _sessions() -> QuerySet[Session]:
    # Placeholders are made again wherever the memories that mention them are imported.
    return Session.objects.filter(is_placeholder=False).select_related("project").order_by("pk")


def _write_rows(file: IO[str] | TextIOBase, rows: Iterable[dict[str, Any]]) -> None:
    for number, row in enumerate(rows):
        file.write((",\n  " if number else "\n  ") + json.dumps(row, ensure_ascii=False))


def _observation(row: Observation) -> dict[str, Any]:
    return {
        **_common(row),
        "memory_session_id": _memory_session_id(row),
        "text": row.text or None,
        "type": row.type,
        "title": row.title or None,
        "subtitle": row.subtitle or None,
        "facts": _list(row.facts),
        "narrative": row.narrative or None,
        "concepts": _list([concept.name for concept in row.concepts.all()]),
        "files_read": _list(_paths(row, FileRole.READ)),
        "files_modified": _list(_paths(row, FileRole.MODIFIED)),
        "generated_by_model": row.model or None,
        "agent_type": row.agent or None,
        "agent_id": row.agent_id or None,
    }


def _summary(row: SessionSummary) -> dict[str, Any]:
    texts = ("request", "investigated", "learned", "completed", "next_steps", "notes")
    return {
        **_common(row),
        "memory_session_id": _memory_session_id(row),
        **{name: getattr(row, name) or None for name in texts},
        "files_read": _list(_paths(row, FileRole.READ)),
        "files_edited": _list(_paths(row, FileRole.MODIFIED)),
    }


def _prompt(row: UserPrompt) -> dict[str, Any]:
    session = row.session
    content_id = (session.content_session_id or session.memory_session_id) if session else ""
    return {**_common(row), "content_session_id": content_id, "prompt_text": row.text}


def _session(row: Session) -> dict[str, Any]:
    return {
        **_left_over(row.source_data),
        "id": row.pk,
        "content_session_id": row.content_session_id or row.memory_session_id,
        "memory_session_id": row.memory_session_id or None,
        "project": row.project.name,
        "platform_source": row.platform,
        "user_prompt": row.first_prompt or None,
        **_times("started_at", row.started_at, row.source_data),
        **_times("completed_at", row.completed_at, row.source_data),
        "status": row.status or "active",
        "custom_title": row.title or None,
        "observed_model": row.model or None,
    }


def _common(row: Memory) -> dict[str, Any]:
    return {
        **_left_over(row.source_data),
        "id": row.pk,
        KEY_CELL: row.source_key,
        "project": row.project.name,
        "prompt_number": row.prompt_number,
        "discovery_tokens": row.source_data.get("discovery_tokens", row.discovery_tokens),
        **_times("created_at", row.created_at, row.source_data),
    }


def _left_over(source_data: dict[str, Any]) -> dict[str, Any]:
    """Return what fitted no field; the cells that were read into fields are written from there."""
    return {name: value for name, value in source_data.items() if name not in _READ}


def _times(name: str, at: datetime | None, source_data: dict[str, Any]) -> dict[str, Any]:
    """Return ISO text and epoch in milliseconds; where the source's own said more, they are given as they were."""
    epoch = epoch_milliseconds(at) if at else source_data.get(f"{name}_epoch")
    return {name: source_data.get(name, iso_text(at) if at else None), f"{name}_epoch": epoch}


def _memory_session_id(row: Memory) -> str:
    return (row.session.memory_session_id or row.session.content_session_id) if row.session else ""


def _paths(row: Any, role: FileRole) -> list[str]:
    return [link.file.path for link in row.file_links.all() if link.role == role]


def _list(values: list[Any]) -> str:
    return json.dumps(values, ensure_ascii=False)


_READ = frozenset({"facts", "concepts", "files_read", "files_modified", "files_edited", "project"})
