"""Writes changes of memories together with their history; everything that people change goes through here."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from memweb.memories.curation.values import (
    FLAGS,
    PLACE,
    Values,
    is_label,
    set_values,
    values_of,
    write_labels,
)
from memweb.memories.kinds import Kind
from memweb.memories.models import Change, ChangeSet, ImportConflict, Memory, Session
from memweb.memories.queries import TERM_COLUMNS

LONGEST_SUMMARY = 300
# What is not in the keyword index but as a filter token.
_ONLY_SCOPE = {*FLAGS, *PLACE}


def begin(user: User | None, verb: str, summary: str, reason: str = "") -> ChangeSet:
    """Return a new change set, to which changes are recorded."""
    if len(summary) > LONGEST_SUMMARY:
        summary = summary[: LONGEST_SUMMARY - 1] + "…"
    return ChangeSet.objects.create(
        user=user,
        actor=user.get_username() if user else "memweb",
        verb=verb,
        summary=summary,
        reason=reason,
    )


def change(change_set: ChangeSet, wanted: Iterable[tuple[Memory, Values]]) -> list[Memory]:
    """Give memories new values and record what differs; return those that changed. Call inside a transaction.

    Texts and labels need memories that were read with `for_indexing`.
    """
    changes: list[Change] = []
    changed: list[tuple[Memory, Values]] = []
    for memory, values in wanted:
        before = values_of(memory, values)
        new = {name: value for name, value in values.items() if value != before[name]}
        if new:
            set_values(memory, new)
            changed.append((memory, new))
            changes.append(_recorded(change_set, memory, {name: before[name] for name in new}, new))
    write_labels(changed)
    _compute_terms(changed)
    rows: dict[tuple[type[Memory], tuple[str, ...]], list[Memory]] = defaultdict(list)
    for memory, new in changed:
        rows[type(memory), _columns(new)].append(memory)
    for (model, columns), some in rows.items():
        _write(model, columns, some)
    Change.objects.bulk_create(changes, batch_size=100)
    return [memory for memory, _ in changed]


def create(change_set: ChangeSet, memory: Memory, values: Values) -> Memory:
    """Save a new memory with these values and record it. Call inside a transaction."""
    set_values(memory, values)
    memory.save()
    write_labels([(memory, values)])
    memory = type(memory)._default_manager.for_indexing().get(pk=memory.pk)
    memory.save()
    _recorded(change_set, memory, None, values_of(memory)).save()
    return memory


def record(change_set: ChangeSet, memory: Memory, before: Values, after: Values) -> None:
    """Record what differs of a memory that was written elsewhere."""
    earlier = Change.objects.filter(change_set=change_set, kind=memory.kind, memory_id=memory.pk).first()
    if earlier is not None and earlier.before is not None:
        before = {**before, **earlier.before}
    old = {name: value for name, value in before.items() if after[name] != value}
    new = {name: after[name] for name in old}
    if earlier is not None:
        earlier.before, earlier.after = (old, new) if earlier.before is not None else (None, after)
        earlier.save()
    elif old:
        _recorded(change_set, memory, old, new).save()


def record_save(user: User, memory: Memory, before: Values | None) -> None:
    """Record that a memory was saved by a form of the admin; `before` is None for a new one."""
    after = values_of(memory)
    if before is None:
        _recorded(begin(user, "create", f"Wrote a new {memory.kind.label}"), memory, None, after).save()
    elif before != after:
        record(begin(user, "edit", f"Edited {memory.ref} in the admin"), memory, before, after)


def curated_names(memory: Memory) -> set[str]:
    """Return the names of the values that people changed and did not take back."""
    changes = Change.objects.filter(
        kind=memory.kind, memory_id=memory.pk, change_set__import_batch=None, before__isnull=False
    )
    changes = changes.exclude(change_set__verb="undo").select_related("change_set__undone_by").order_by("pk")
    names: set[str] = set()
    for one in changes:
        if is_in_force(one.change_set):
            # Who takes the words of the source lets it have its way with them again.
            names = names - set(one.after or ()) if one.change_set.verb == "settle" else names | set(one.after or ())
    return names


def original_values(kind: Kind, id: int) -> Values:
    """Return what those values of a memory were that have been changed, before the first change of each."""
    values: Values = {}
    changes = Change.objects.filter(kind=kind, memory_id=id, before__isnull=False).order_by("-pk")
    for before in changes.values_list("before", flat=True):
        values |= before or {}
    return values


def is_in_force(change_set: ChangeSet) -> bool:
    """Return whether a change set holds: it was not undone, or the undoing was."""
    undone_by = getattr(change_set, "undone_by", None)
    return undone_by is None or not is_in_force(undone_by)


def forget_history(kind: Kind, ids: Sequence[int]) -> None:
    """Remove what is kept of memories that an undone import took away: their ids may be given to others."""
    Change.objects.filter(kind=kind, memory_id__in=ids).delete()
    ImportConflict.objects.filter(kind=kind, memory_id__in=ids).delete()


def _recorded(change_set: ChangeSet, memory: Memory, before: Values | None, after: Values | None) -> Change:
    return Change(change_set=change_set, kind=memory.kind, memory_id=memory.pk, before=before, after=after)


def _compute_terms(changed: Sequence[tuple[Any, Values]]) -> None:
    """Set the index terms that the new values touch; labels are written already, plain values are not."""
    whole: dict[type[Memory], dict[int, tuple[Any, Values]]] = defaultdict(dict)
    for memory, new in changed:
        if _is_only_scope(new):
            if "session_id" in new:
                memory.session = Session.objects.filter(pk=new["session_id"]).first()
            memory.compute_scope()
        else:
            whole[type(memory)][memory.pk] = (memory, new)
    for model, some in whole.items():
        for fresh in model._default_manager.for_indexing().filter(pk__in=list(some)):
            memory, new = some[fresh.pk]
            set_values(fresh, new)
            if "file" in new:
                fresh.file_id = memory.file_id
            fresh.compute_terms()
            for name in TERM_COLUMNS:
                setattr(memory, name, getattr(fresh, name))


def _is_only_scope(new: Values) -> bool:
    return set(new) <= _ONLY_SCOPE


def _columns(new: Values) -> tuple[str, ...]:
    """Return the columns that new values are written to."""
    names = {name for name in new if not is_label(name)} | ({"file_id"} if "file" in new else set())
    return (*sorted(names), *(TERM_COLUMNS[-1:] if _is_only_scope(new) else TERM_COLUMNS))


def _write(model: type[Memory], columns: Sequence[str], rows: Sequence[Memory]) -> None:
    """Write columns of rows: one prepared statement, run for each."""
    now = timezone.now()
    fields: list[Any] = [model._meta.get_field(name) for name in (*columns, "updated_at")]
    table, quote = model._meta.db_table, connection.ops.quote_name
    assigned = ", ".join(f"{quote(field.column)} = %s" for field in fields)
    parameters = []
    for row in rows:
        row.updated_at = now
        values = [field.get_db_prep_save(getattr(row, field.attname), connection) for field in fields]
        parameters.append([*values, row.pk])
    with connection.cursor() as cursor:
        # Names are those of the models; values are bound.
        cursor.executemany(f"UPDATE {quote(table)} SET {assigned} WHERE id = %s", parameters)  # noqa: S608
