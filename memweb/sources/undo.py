"""Takes back a whole import: what it added goes, what it changed is put back."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from memweb.memories.curation.recording import curated_names, forget_history
from memweb.memories.curation.values import values_of
from memweb.memories.kinds import Kind
from memweb.memories.models import (
    Concept,
    Drawer,
    FilePath,
    ImportBatch,
    ImportConflict,
    ImportUpdate,
    Memory,
    ObservationConcept,
    ObservationFile,
    Project,
    ProjectAlias,
    Session,
    SummaryFile,
    memory_model,
)
from memweb.sources.updates import record_import, save_row, write_links

ROWS_AT_ONCE = 300


@dataclass(slots=True)
class UndoReport:
    """How many rows an undo removed, by kind, and how many it put back."""

    removed: dict[str, int] = field(default_factory=dict)
    restored: int = 0


def undo_batch(batch: ImportBatch) -> UndoReport:
    """Take back everything that an import did; a second call does nothing.

    Removed are its memories (with what people added to them here), its sessions and projects that nothing else uses,
    and concepts and paths that no memory has any more. Rows that it changed get their former values, unless a later
    import changed them again: then the later one remembers the former values. Works in short transactions; when it is
    stopped half-way, calling it again goes on.
    """
    report = UndoReport()
    _restore_updates(batch, report)
    for kind in Kind:
        report.removed[kind] = _remove(memory_model(kind).objects.filter(import_batch=batch))
    report.removed["session"] = _remove(_unused_sessions(batch))
    report.removed["project"] = _remove(_unused_projects(batch))
    report.removed["concept"] = _remove(
        Concept.objects.exclude(Exists(ObservationConcept.objects.filter(concept=OuterRef("pk"))))
    )
    paths = FilePath.objects.all()
    for model in (ObservationFile, SummaryFile, Drawer):
        paths = paths.exclude(Exists(model.objects.filter(file=OuterRef("pk"))))
    report.removed["file"] = _remove(paths)
    batch.status = ImportBatch.Status.UNDONE
    batch.save(update_fields=["status"])
    return report


def _remove(rows: QuerySet[Any]) -> int:
    """Delete rows in batches through the models, so that all that hangs on them goes too; return how many."""
    removed = 0
    while ids := list(rows.order_by("pk").values_list("pk", flat=True)[:ROWS_AT_ONCE]):
        with transaction.atomic():
            rows.model._default_manager.filter(pk__in=ids).delete()
            if issubclass(rows.model, Memory):
                forget_history(rows.model.kind, ids)
        removed += len(ids)
    return removed


def _made_by(batch: ImportBatch) -> Q:
    # What an import that was undone earlier had to leave, because this one used it, goes now.
    return Q(import_batch=batch) | Q(import_batch__status=ImportBatch.Status.UNDONE)


def _unused_sessions(batch: ImportBatch) -> QuerySet[Session]:
    sessions = Session.objects.filter(_made_by(batch))
    for kind in Kind:
        sessions = sessions.exclude(Exists(memory_model(kind).objects.filter(session=OuterRef("pk"))))
    return sessions


def _unused_projects(batch: ImportBatch) -> QuerySet[Project]:
    projects = Project.objects.filter(_made_by(batch), merged_into=None)
    users: list[QuerySet[Any]] = [memory_model(kind).objects.filter(project=OuterRef("pk")) for kind in Kind]
    users.append(Session.objects.filter(project=OuterRef("pk")))
    users.append(ProjectAlias.objects.filter(project=OuterRef("pk")))
    users.append(Project.objects.filter(merged_into=OuterRef("pk")))
    for user in users:
        projects = projects.exclude(Exists(user))
    return projects


def _restore_updates(batch: ImportBatch, report: UndoReport) -> None:
    while updates := list(ImportUpdate.objects.filter(batch=batch).order_by("pk")[:ROWS_AT_ONCE]):
        with transaction.atomic():
            for update in updates:
                report.restored += _restore(update)
                update.delete()


def _restore(update: ImportUpdate) -> int:
    """Put one row back; return 1 when that was done."""
    later = (
        ImportUpdate.objects.filter(model=update.model, row_id=update.row_id, batch_id__gt=update.batch_id)
        .order_by("batch_id")
        .first()
    )
    if later is not None:
        later.before = update.before
        later.save(update_fields=["before"])
        return 0
    model: Any = Session if update.model == "session" else memory_model(Kind(update.model))
    row = model.objects.filter(pk=update.row_id).first()
    if row is None:
        return 0
    kept = set() if isinstance(row, Session) else curated_names(row)
    if "file" in kept:
        kept.add("file_id")  # as the values before an update name it
    before = {name: value for name, value in update.before.items() if name not in kept}
    concepts, files = before.pop("concepts", None), before.pop("files", None)
    for name, value in before.items():
        is_time = name.endswith("_at") and value is not None
        setattr(row, name, datetime.fromisoformat(value) if is_time else value)
    if not Project.objects.filter(pk=row.project_id).exists():
        row.project_id = model.objects.values_list("project_id", flat=True).get(pk=row.pk)
    if isinstance(row, Session):
        row.save()
        return 1
    if not Session.objects.filter(pk=row.session_id).exists():
        row.session_id = None
    ImportConflict.objects.filter(kind=row.kind, memory_id=row.pk).delete()
    old = values_of(memory_model(row.kind).objects.for_indexing().get(pk=row.pk))
    known_concepts = Concept.objects.filter(pk__in=concepts or []).values_list("pk", flat=True)
    known_files = set(FilePath.objects.filter(pk__in=[id for id, _ in files or []]).values_list("pk", flat=True))
    write_links(
        row,
        None if concepts is None else list(known_concepts),
        None if files is None else [(id, role) for id, role in files if id in known_files],
    )
    save_row(row)
    record_import(row, old, update.batch)
    return 1
