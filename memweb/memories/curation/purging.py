"""Removes memories for good: rows, index entries, vectors, and what history keeps of their texts."""

from collections.abc import Iterable

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db import connection, transaction

from memweb.memories.curation.permissions import require_purger
from memweb.memories.curation.recording import begin, change
from memweb.memories.curation.verbs import MOST_AT_ONCE, require_found
from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import (
    Change,
    ChangeSet,
    ImportConflict,
    ImportUpdate,
    Memory,
    PurgedRow,
    State,
    memory_model,
)


def purge(user: User, refs: Iterable[Ref], reason: str = "", *, change_set: ChangeSet | None = None) -> ChangeSet:
    """Remove memories that are in the trash, for good; an import of their source leaves them out from then on.

    What is kept of each is its ref, and hashes that recognise its row. Freed pages of the database file are
    overwritten; `memweb index optimize` does the same to what the keyword index held. Raises ValidationError for
    memories that are not in the trash (nothing is removed then), PermissionDenied for who may not purge.
    """
    require_purger(user)
    wanted = list(dict.fromkeys(refs))
    if len(wanted) > MOST_AT_ONCE:
        raise ValidationError(f"{len(wanted)} memories are too many at once; at most {MOST_AT_ONCE} can be chosen.")
    overwrite_freed_pages()
    with transaction.atomic():
        found: dict[Ref, Memory] = {}
        for kind in Kind:
            rows = memory_model(kind).objects.filter(pk__in=[ref.id for ref in wanted if ref.kind is kind])
            found |= {row.ref: row for row in rows}
        if change_set is None:
            if not wanted:
                raise ValidationError("No memory was chosen.")
            require_found(wanted, found)
            noun = "memory" if len(wanted) == 1 else f"{len(wanted):,} memories"
            change_set = begin(user, "purge", f"Removed {noun} for good", reason)
        untrashed = [str(ref) for ref, row in found.items() if row.state != State.TRASHED]
        if untrashed:
            raise ValidationError(f"{', '.join(untrashed[:10])} must be moved to the trash first; nothing was removed.")
        for kind in Kind:
            some = [row for ref, row in found.items() if ref.kind is kind]
            if some:
                _purge_kind(kind, some, change_set)
    return change_set


def overwrite_freed_pages() -> None:
    """Make SQLite overwrite what is deleted through this connection with zeros."""
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA secure_delete = ON")


def _purge_kind(kind: Kind, rows: list[Memory], change_set: ChangeSet) -> None:
    ids = [row.pk for row in rows]
    PurgedRow.objects.bulk_create(
        [
            PurgedRow(kind=kind, source_id=row.source_id, source_row=row.source_row, source_key=row.source_key)
            for row in rows
            if row.source_key
        ],
        ignore_conflicts=True,
    )
    Change.objects.filter(kind=kind, memory_id__in=ids).update(before=None, after=None)
    ImportUpdate.objects.filter(model=kind, row_id__in=ids).delete()
    ImportConflict.objects.filter(kind=kind, memory_id__in=ids).delete()
    content_type = ContentType.objects.get_for_model(memory_model(kind))
    LogEntry.objects.filter(content_type=content_type, object_id__in=list(map(str, ids))).delete()
    replaced = memory_model(kind).objects.select_related("session").filter(superseded_by__in=ids).exclude(pk__in=ids)
    change(change_set, [(row, {"superseded_by_id": None}) for row in replaced])
    memory_model(kind).objects.filter(pk__in=ids).delete()
    Change.objects.bulk_create(
        [Change(change_set=change_set, kind=kind, memory_id=id, before=None, after=None) for id in ids], batch_size=200
    )
