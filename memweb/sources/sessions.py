"""Writes sessions: new ones, changed ones, and those that were only known by mention until now."""

from collections.abc import Iterable
from typing import Any

from django.db.models import Q

from memweb.memories.kinds import Kind
from memweb.memories.models import ImportBatch, ImportUpdate, Session, Source, memory_model
from memweb.sources.keys import TEXTS, Fingerprint, session_fingerprint, title_digest
from memweb.sources.labels import Labels
from memweb.sources.records import SessionRecord, SessionRef
from memweb.sources.report import Tally

FIELDS = (
    "project_id",
    "platform",
    "content_session_id",
    "memory_session_id",
    "title",
    "first_prompt",
    "status",
    "model",
    "started_at",
    "completed_at",
    "is_placeholder",
    "source_id",
    "source_key",
    "content_hash",
    "source_data",
)


class SessionWriter:
    """Imports session records of one source. Calls belong inside a transaction."""

    def __init__(self, format: str, source: Source, batch: ImportBatch, labels: Labels) -> None:
        self._format = format
        self._source = source
        self._batch = batch
        self._labels = labels

    def write(self, records: Iterable[SessionRecord], project: str | None, tally: Tally) -> None:
        """Insert or update sessions; an unchanged one is not touched."""
        prints = {}
        for record in records:
            print = session_fingerprint(self._format, record)
            if print.key in prints:
                tally.count("session", "duplicate")
                tally.note("duplicate", "session", "same id twice", record.row)
            prints[print.key] = (record, print)
        known = known_sessions(prints)
        placeholders = known_placeholders(record.ref for record, _ in prints.values())
        new = []
        for key, (record, print) in prints.items():
            mentioned = [placeholders[id] for id in (record.ref.content_id, record.ref.memory_id) if id in placeholders]
            session = known.get(key) or next(iter(mentioned), None)
            name = record.project if project is None else project
            values = self._values(record, print, name)
            if session is None:
                new.append(Session(**values, source=self._source, import_batch=self._batch))
                tally.count("session", "imported")
            elif session.is_placeholder or (
                session.source_id == self._source.pk and session.content_hash != print.content
            ):
                self._update(session, values, record, tally)
            else:
                # Known from another source: whoever brought it keeps it up to date.
                tally.count("session", "unchanged")
            for placeholder in mentioned:
                if session is not None and placeholder.pk not in (session.pk, None):
                    self._absorb(placeholder, session)
        Session.objects.bulk_create(new, batch_size=50)

    def _values(self, record: SessionRecord, print: Fingerprint, project: str) -> dict[str, Any]:
        return {
            "project_id": self._labels.project_id(project),
            "platform": record.ref.platform,
            "content_session_id": record.ref.content_id,
            "memory_session_id": record.ref.memory_id,
            "title": record.title,
            "first_prompt": record.first_prompt,
            "status": record.status,
            "model": record.model,
            "started_at": record.started_at,
            "completed_at": record.completed_at,
            "is_placeholder": False,
            "source_key": print.key,
            "content_hash": print.content,
            "source_data": record.extra,
        }

    def _update(self, session: Session, values: dict[str, Any], record: SessionRecord, tally: Tally) -> None:
        before = {name: _plain(getattr(session, name)) for name in FIELDS}
        ImportUpdate.objects.get_or_create(
            batch=self._batch, model="session", row_id=session.pk, defaults={"before": before}
        )
        if session.is_placeholder:
            session.source = self._source
        else:
            if title_digest(session.title) != session.content_hash[:TEXTS]:
                del values["title"]
                tally.note("kept", "session", "the title was edited here", f"{record.row}: {session.title}")
            if session.content_hash[TEXTS : TEXTS + 8] == values["content_hash"][TEXTS : TEXTS + 8]:
                # The source did not move it; where it is now, a person may have put it.
                del values["project_id"]
        for name, value in values.items():
            setattr(session, name, value)
        session.save()
        tally.count("session", "updated")

    def _absorb(self, placeholder: Session, session: Session) -> None:
        """Give a session the memories that were imported under its other id before it was known."""
        for kind in Kind:
            for memory in memory_model(kind).objects.for_indexing().filter(session=placeholder):
                memory.session = session
                memory.save(update_fields=["session"])
        placeholder.delete()
        self._labels.forget_sessions()


def known_sessions(keys: Iterable[str]) -> dict[str, Session]:
    """Return the sessions that have one of the keys."""
    return {session.source_key: session for session in Session.objects.filter(source_key__in=list(keys))}  # type: ignore[misc]


def known_placeholders(refs: Iterable[SessionRef]) -> dict[str, Session]:
    """Return the sessions known by mention only, by the ids under which they were mentioned."""
    ids = [id for ref in refs for id in (ref.content_id, ref.memory_id) if id]
    if not ids or not Session.objects.filter(is_placeholder=True).exists():
        return {}
    placeholders = Session.objects.filter(is_placeholder=True)
    found = placeholders.filter(Q(content_session_id__in=ids) | Q(memory_session_id__in=ids))
    by_id = {id: session for session in found for id in (session.content_session_id, session.memory_session_id)}
    by_id.pop("", None)
    return by_id


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value
