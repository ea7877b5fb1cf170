"""Changes a memory that changed at its source, without touching what a person changed here."""

from collections.abc import Iterable
from typing import Any

from django.utils import timezone

from memweb.memories.curation.recording import curated_names, record
from memweb.memories.curation.values import FILE_LINKS, TEXT_FIELDS, values_of
from memweb.memories.kinds import Kind
from memweb.memories.models import (
    ChangeSet,
    ImportBatch,
    ImportConflict,
    ImportUpdate,
    Memory,
    Project,
    memory_model,
)
from memweb.sources.keys import PROJECT, TEXTS, project_digest, row_texts_digest
from memweb.sources.records import MemoryRecord
from memweb.sources.report import Tally
from memweb.sources.rows import CONCEPT_LINK, PLAIN_FIELDS, Draft, Place, concepts, file_roles, files

SOURCE_FIELDS = ("source_row", "source_key", "content_hash", "source_data")


def update_memory(id: int, draft: Draft, place: Place, batch: ImportBatch, tally: Tally) -> None:
    """Write what changed at the source. What a person edited stays, value by value, and so does a project that a
    person chose; where texts differ from both, the conflict is kept for a person to decide. The values before are kept
    for undoing the batch, and the change is told in the history of the memory.
    """
    found, kind = draft.record, draft.record.kind
    row = memory_model(kind).objects.for_indexing().select_related("project").get(pk=id)
    ImportUpdate.objects.get_or_create(batch=batch, model=kind, row_id=id, defaults={"before": values_before(row)})
    before, curated = values_of(row), curated_names(row)
    theirs = source_values(found)
    kept = _kept_names(row, theirs, curated)
    for name, value in theirs.items():
        if name in TEXT_FIELDS[kind] and name not in kept:
            setattr(row, name, value)
    if kind is Kind.DRAWER and "file" not in kept:
        row.file_id = place.file_ids[0] if place.file_ids else None
    paths = dict(zip(files(found), place.file_ids, strict=True))
    write_links(
        row,
        None if "concepts" in kept else place.concept_ids,
        None if "files" in kept else [(paths[path], role) for path, role in file_roles(found)],
    )
    if row.content_hash[:TEXTS] != draft.print.content[:TEXTS]:
        _note_conflict(row, {name: theirs[name] for name in kept if theirs[name] != before[name]}, batch, tally)
    if "project_id" not in curated and is_where_import_put_it(row):
        row.project_id = place.project_id
    if "session_id" not in curated:
        row.session_id = place.session_id
    if "created_at" not in curated:
        row.created_at, row.time_quality = found.moment.at, found.moment.quality
    for name in PLAIN_FIELDS:
        setattr(row, name, getattr(found, name))
    row.source_row, row.source_data = found.row, found.extra
    row.source_key, row.content_hash = draft.print.key, draft.print.content
    save_row(row)
    record_import(row, before, batch)
    tally.count(kind, "updated")


def source_values(found: MemoryRecord) -> dict[str, Any]:
    """Return texts and labels of a record, named and shaped as in `curation.values`."""
    theirs = {name: getattr(found, name) for name in TEXT_FIELDS[found.kind]}
    if found.kind is Kind.OBSERVATION:
        theirs["concepts"] = sorted(concepts(found))
    if found.kind in FILE_LINKS:
        theirs["files"] = sorted(map(list, file_roles(found)))
    if found.kind is Kind.DRAWER:
        theirs["file"] = "".join(files(found))
    return theirs


def _kept_names(row: Memory, names: Iterable[str], curated: set[str]) -> set[str]:
    """Return which of these texts and labels people edited; all, when only the digest tells that somebody did."""
    if row_texts_digest(row) == row.content_hash[:TEXTS]:
        return set()
    return curated.intersection(names) or set(names)


def _note_conflict(row: Memory, theirs: dict[str, Any], batch: ImportBatch, tally: Tally) -> None:
    conflicts = ImportConflict.objects.filter(kind=row.kind, memory_id=row.pk)
    if not theirs:
        conflicts.delete()
        return
    tally.note("kept", row.kind, "texts were edited here and changed at the source", f"{row.ref}: {row.heading}")
    conflicts.update_or_create(kind=row.kind, memory_id=row.pk, defaults={"batch": batch, "theirs": theirs})


def record_import(row: Memory, before: dict[str, Any], batch: ImportBatch) -> None:
    """Tell in the history of a memory what an import changed."""
    change_set, _ = ChangeSet.objects.get_or_create(
        import_batch=batch, defaults={"actor": "import", "verb": "import", "summary": f"Import {batch.pk}"}
    )
    fresh = memory_model(row.kind).objects.for_indexing().get(pk=row.pk)
    record(change_set, fresh, before, values_of(fresh))


def values_before(row: Memory) -> dict[str, Any]:
    """Return everything of a row that an update may change, as JSON values."""
    names = ["project_id", "session_id", "time_quality", *PLAIN_FIELDS, *SOURCE_FIELDS, *TEXT_FIELDS[row.kind]]
    values = {name: getattr(row, name) for name in names}
    values["created_at"] = row.created_at.isoformat() if row.created_at else None
    if row.kind is Kind.DRAWER:
        values["file_id"] = row.file_id  # type: ignore[attr-defined]
    if row.kind in FILE_LINKS:
        values["files"] = [[link.file_id, link.role] for link in row.file_links.all()]  # type: ignore[attr-defined]
    if row.kind is Kind.OBSERVATION:
        values["concepts"] = [concept.pk for concept in row.concepts.all()]  # type: ignore[attr-defined]
    return values


def write_links(row: Any, concept_ids: list[int] | None, file_roles: list[tuple[int, str]] | None) -> None:
    """Make the labels of a memory exactly these; None leaves them as they are."""
    if row.kind is Kind.OBSERVATION and concept_ids is not None:
        row.concept_links.all().delete()
        CONCEPT_LINK.objects.bulk_create([CONCEPT_LINK(observation=row, concept_id=id) for id in concept_ids])
    if row.kind in FILE_LINKS and file_roles is not None:
        model = FILE_LINKS[row.kind]
        row.file_links.all().delete()
        model.objects.bulk_create(
            [model(**{model.memory_field: row, "file_id": id, "role": role}) for id, role in file_roles]
        )


def save_row(row: Memory) -> None:
    """Save a row whose labels may have changed, with index terms to match."""
    row._prefetched_objects_cache = {}  # type: ignore[attr-defined]
    row.updated_at = timezone.now()
    row.save()


def is_where_import_put_it(row: Memory) -> bool:
    """Return whether the project is still the one of the last import, merges of projects included."""
    project: Project = row.project
    names = [project.name, *project.aliases.values_list("name", flat=True)]
    names += project.merged_projects.values_list("name", flat=True)
    return row.content_hash[TEXTS : TEXTS + PROJECT] in map(project_digest, names)
