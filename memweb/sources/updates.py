"""Changes a memory that changed at its source, without touching what a person changed here."""

from typing import Any

from django.utils import timezone

from memweb.memories.kinds import Kind
from memweb.memories.models import ImportBatch, ImportUpdate, Memory, Project, memory_model
from memweb.sources.keys import PROJECT, TEXTS, project_digest, row_texts_digest
from memweb.sources.report import Tally
from memweb.sources.rows import CONCEPT_LINK, FILE_LINKS, PLAIN_FIELDS, TEXT_FIELDS, Draft, Place, file_roles, files

SOURCE_FIELDS = ("source_row", "source_key", "content_hash", "source_data")


def update_memory(id: int, draft: Draft, place: Place, batch: ImportBatch, tally: Tally) -> None:
    """Write what changed at the source. Texts and labels that a person edited stay, and so does a project that a
    person chose; the values before are kept for undoing the batch.
    """
    record, kind = draft.record, draft.record.kind
    row = memory_model(kind).objects.for_indexing().select_related("project").get(pk=id)
    ImportUpdate.objects.get_or_create(batch=batch, model=kind, row_id=id, defaults={"before": values_before(row)})
    if row_texts_digest(row) == row.content_hash[:TEXTS]:
        for name in TEXT_FIELDS[kind]:
            setattr(row, name, getattr(record, name))
        if kind is Kind.DRAWER:
            row.file_id = place.file_ids[0] if place.file_ids else None
        paths = dict(zip(files(record), place.file_ids, strict=True))
        write_links(row, place.concept_ids, [(paths[path], role) for path, role in file_roles(record)])
    else:
        tally.note("kept", kind, "texts were edited here and changed at the source", f"{row.ref}: {row.heading}")
    if is_where_import_put_it(row):
        row.project_id = place.project_id
    row.session_id = place.session_id
    row.created_at, row.time_quality = record.moment.at, record.moment.quality
    for name in PLAIN_FIELDS:
        setattr(row, name, getattr(record, name))
    row.source_row, row.source_data = record.row, record.extra
    row.source_key, row.content_hash = draft.print.key, draft.print.content
    save_row(row)
    tally.count(kind, "updated")


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


def write_links(row: Any, concept_ids: list[int], file_roles: list[tuple[int, str]]) -> None:
    """Make the labels of a memory exactly these."""
    if row.kind is Kind.OBSERVATION:
        row.concept_links.all().delete()
        CONCEPT_LINK.objects.bulk_create([CONCEPT_LINK(observation=row, concept_id=id) for id in concept_ids])
    if row.kind in FILE_LINKS:
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
