"""The one importer behind every reader: finds out what is new, changed and known, and writes it in batches.

Each batch of rows is one short transaction that leaves the database consistent, so an import may be killed at any
moment and simply be started again: what is there is recognised by its key. Rows are written with their index terms; the
keyword index follows by trigger.
"""

import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from django.db import IntegrityError, OperationalError, transaction

from memweb.memories.curation.recording import original_values
from memweb.memories.curation.values import FILE_LINKS
from memweb.memories.indexing import build_terms
from memweb.memories.kinds import Kind
from memweb.memories.models import ImportBatch, PurgedRow, Source, memory_model
from memweb.sources.bulk import RowWriter, data_version, first_free_id
from memweb.sources.labels import Labels
from memweb.sources.preparing import Batch
from memweb.sources.records import MemoryRecord, SessionRecord, SessionRef
from memweb.sources.renaming import follow_renaming
from memweb.sources.report import Tally
from memweb.sources.rows import (
    CONCEPT_LINK,
    LINK_COLUMNS,
    Draft,
    Place,
    column_values,
    columns,
    concepts,
    file_roles,
    files,
    indexed_text,
)
from memweb.sources.sessions import SessionWriter
from memweb.sources.updates import update_memory

ATTEMPTS = 5

# Called with the number of rows read so far.
Progress = Callable[[int], None]
# Id, content hash, source and row of a memory.
Known = tuple[int, str, int | None, str]


class Importer:
    """Imports batches of records of one source; `tally` counts what happened to the rows."""

    def __init__(self, format: str, source: Source, batch: ImportBatch, project: str | None = None) -> None:
        self.tally = Tally()
        self._source = source
        self._batch = batch
        self._project = project
        self._labels = Labels(format, source, batch)
        self._sessions = SessionWriter(format, source, batch, self._labels)
        self._writers = {kind: RowWriter(memory_model(kind), columns(kind)) for kind in Kind}
        self._link_writers = {model: RowWriter(model, names) for model, names in LINK_COLUMNS.items()}
        self._had_rows = {kind: memory_model(kind).objects.filter(source=source).exists() for kind in Kind}

    @property
    def is_first(self) -> bool:
        """Whether nothing was imported from the source before, so that most rows will be new."""
        return not any(self._had_rows.values())

    def run(self, batches: Iterable[Batch], progress: Progress) -> None:
        """Import everything; on an error what was written before stays."""
        done = 0
        for batch in batches:
            self._import(batch.sessions, batch.drafts)
            done += len(batch)
            progress(done)

    def _import(self, sessions: list[SessionRecord], drafts: list[Draft]) -> None:
        version = data_version()
        follow_renaming(drafts)
        known = self._known(drafts)
        for draft in drafts:
            if draft.terms is None and draft.print.key not in known:
                draft.terms = build_terms(indexed_text(draft.record))
        for attempt in range(1, ATTEMPTS + 1):
            tally = Tally()
            try:
                with transaction.atomic():
                    # Nobody else writes from here on; what was known before is looked up again only if somebody did.
                    if data_version() != version:
                        known = self._known(drafts)
                    self._write(sessions, drafts, dict(known), tally)
                break
            except (IntegrityError, OperationalError):
                # Someone removed a row that was remembered, or held the database for too long.
                if attempt == ATTEMPTS:
                    raise
                self._labels.forget()
                time.sleep(0.2 * attempt)
            except BaseException:
                self._labels.forget()
                raise
        self.tally.add(tally)

    def _write(self, sessions: list[SessionRecord], drafts: list[Draft], known: dict[str, Known], tally: Tally) -> None:
        self._labels.forget_projects()
        self._has_purged = PurgedRow.objects.exists()
        self._sessions.write(sessions, self._project, tally)
        for kind in Kind:
            mine = [draft for draft in drafts if draft.record.kind is kind]
            if mine:
                self._write_kind(kind, mine, known, tally)

    def _write_kind(self, kind: Kind, drafts: list[Draft], known: dict[str, Known], tally: Tally) -> None:
        """Sort the drafts of one kind into new, changed and known, and write them. Nobody else writes meanwhile."""
        rows_of_source = self._rows_of_source(kind, [draft for draft in drafts if draft.print.key not in known])
        purged, purged_rows = self._purged(kind, drafts)
        new: dict[str, Draft] = {}
        for draft in drafts:
            key, record = draft.print.key, draft.record
            if key in new:
                self._count_duplicate(draft, new[key].record.row, tally)
            elif key in known:
                id, content, source_id, row = known[key]
                if source_id == self._source.pk and row != record.row:
                    self._count_duplicate(draft, row, tally)
                elif source_id != self._source.pk or content == draft.print.content:
                    tally.count(kind, "unchanged")
                else:
                    self._update(id, draft, tally)
            elif key in purged or record.row in purged_rows:
                tally.skip(kind, "removed here for good", record.row)
            else:
                changed = rows_of_source.get(record.row)
                if changed is not None and self._is_same(changed, record):
                    known.pop(changed[1], None)
                    self._update(changed[0], draft, tally)
                else:
                    new[key] = draft
        if new:
            self._insert(kind, list(new.values()))
            tally.count(kind, "imported", len(new))

    def _known(self, drafts: list[Draft]) -> dict[str, Known]:
        """Return id, content hash, source and row of the memories whose keys are known."""
        known: dict[str, Known] = {}
        for kind in Kind:
            keys = [draft.print.key for draft in drafts if draft.record.kind is kind]
            if keys:
                found = memory_model(kind).objects.filter(source_key__in=keys)
                for key, *values in found.values_list("source_key", "pk", "content_hash", "source_id", "source_row"):
                    known[key] = tuple(values)
        return known

    def _purged(self, kind: Kind, drafts: list[Draft]) -> tuple[set[str], set[str]]:
        """Return keys and rows of this source whose memories were removed here for good."""
        if not self._has_purged:
            return set(), set()
        rows = PurgedRow.objects.filter(kind=kind)
        keys = rows.filter(source_key__in=[draft.print.key for draft in drafts])
        mine = rows.filter(source=self._source, source_row__in=[draft.record.row for draft in drafts])
        return set(keys.values_list("source_key", flat=True)), set(mine.values_list("source_row", flat=True)) - {""}

    def _rows_of_source(self, kind: Kind, drafts: list[Draft]) -> dict[str, tuple[int, str, datetime | None, int]]:
        """Return id, key, time and session of the memories that were imported from the same rows earlier."""
        if not drafts or not self._had_rows[kind]:
            return {}
        found = memory_model(kind).objects.filter(
            source=self._source, source_row__in=[draft.record.row for draft in drafts]
        )
        return {
            row: tuple(values)
            for row, *values in found.values_list("source_row", "pk", "source_key", "created_at", "session_id")
        }

    def _is_same(self, row: tuple[int, str, datetime | None, int], record: MemoryRecord) -> bool:
        """Return whether a row of the source is still the same memory with other words: same session, same time.

        Where people changed these, what they were before counts.
        """
        session_id = self._session_ids([record])[record.session][0] if record.session else None
        if row[2] == record.moment.at and row[3] == session_id:
            return True
        place = original_values(record.kind, row[0])
        if not place.keys() & {"created_at", "session_id"}:
            return False
        at = datetime.fromisoformat(place["created_at"]) if place.get("created_at") else row[2]
        return at == record.moment.at and place.get("session_id", row[3]) == session_id

    def _insert(self, kind: Kind, drafts: list[Draft]) -> None:
        model = memory_model(kind)
        places = self._places([draft.record for draft in drafts])
        first = first_free_id(model)
        shared = (self._source.pk, self._batch.pk, datetime.now(UTC))
        for draft in drafts:
            if draft.terms is None:  # known a moment ago, but undone since
                draft.terms = build_terms(indexed_text(draft.record))
        self._writers[kind].insert(
            [
                column_values(draft, id, place, shared)
                for id, (draft, place) in enumerate(zip(drafts, places, strict=True), first)
            ]
        )
        if kind in FILE_LINKS:
            file_ids = self._labels.file_ids([])
            self._link_writers[FILE_LINKS[kind]].insert(
                [id, file_ids[path], role]
                for id, draft in enumerate(drafts, first)
                for path, role in file_roles(draft.record)
            )
        if kind is Kind.OBSERVATION:
            self._link_writers[CONCEPT_LINK].insert(
                [id, concept_id] for id, place in enumerate(places, first) for concept_id in place.concept_ids
            )

    def _update(self, id: int, draft: Draft, tally: Tally) -> None:
        [place] = self._places([draft.record])
        update_memory(id, draft, place, self._batch, tally)

    def _places(self, records: list[MemoryRecord]) -> list[Place]:
        """Return where memories go; labels that are not known yet are made."""
        sessions = self._session_ids(records)
        concept_ids = self._labels.concept_ids(name for record in records for name in concepts(record))
        file_ids = self._labels.file_ids(path for record in records for path in files(record))
        return [
            Place(
                self._labels.project_id(self._project_of(record)),
                sessions[record.session][0] if record.session else None,
                sessions[record.session][1] if record.session else "",
                [concept_ids[name] for name in concepts(record)],
                [file_ids[path] for path in files(record)],
            )
            for record in records
        ]

    def _session_ids(self, records: list[MemoryRecord]) -> dict[SessionRef, tuple[int, str]]:
        return self._labels.sessions({record.session: self._project_of(record) for record in records if record.session})

    def _project_of(self, record: MemoryRecord) -> str:
        return record.project if self._project is None else self._project

    def _count_duplicate(self, draft: Draft, row: str, tally: Tally) -> None:
        kind = draft.record.kind
        tally.count(kind, "duplicate")
        tally.note("duplicate", kind, "equal in session, time and all texts", f"{draft.record.row} equals {row}")
