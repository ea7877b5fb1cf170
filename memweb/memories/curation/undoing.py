"""Takes a change set back: the values before it return, except where something was changed again since."""

from dataclasses import dataclass

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from memweb.memories.curation.permissions import require_curator
from memweb.memories.curation.recording import begin, change
from memweb.memories.curation.values import Values, memories_in, values_of
from memweb.memories.kinds import Ref
from memweb.memories.models import Change, ChangeSet, Memory, State, memory_model

AT_ONCE = 500
# What cannot be taken back, or is not a person's.
FINAL_VERBS = frozenset({"purge", "redact", "import"})


@dataclass(frozen=True, slots=True)
class Undone:
    """What came of an undo: memories put back, and refs that were changed again since and stay as they are."""

    change_set: ChangeSet
    restored: int
    kept: list[Ref]

    def __str__(self) -> str:
        noun = "memory" if self.restored == 1 else "memories"
        kept = ", ".join(map(str, self.kept[:5])) + ("…" if len(self.kept) > 5 else "")
        return f"Undone for {self.restored:,} {noun}" + (f"; changed again since and left: {kept}." if kept else ".")


def can_undo(change_set: ChangeSet) -> bool:
    """Return whether a change set can be taken back and has not been."""
    return change_set.verb not in FINAL_VERBS and not hasattr(change_set, "undone_by")


def undo(user: User, change_set: ChangeSet) -> Undone:
    """Take a change set back, AT_ONCE memories in a transaction; what it made goes to the trash.

    A value that was changed again since stays, and its memory is named. Called again after a stop half-way, it goes on.
    Raises ValidationError when it cannot be undone, PermissionDenied for who may not curate.
    """
    require_curator(user)
    if not can_undo(change_set):
        again = "has been undone already" if hasattr(change_set, "undone_by") else "cannot be undone"
        raise ValidationError(f"“{change_set.summary}” {again}.")
    undoing = begin(user, "undo", f"Undid: {change_set.summary}")
    restored, kept, last = 0, list[Ref](), 0
    is_done = False
    while not is_done:
        with transaction.atomic():
            changes = list(change_set.changes.filter(pk__gt=last).order_by("pk")[:AT_ONCE])
            wanted, left = _wanted(changes)
            restored += len(change(undoing, wanted))
            kept += left
            is_done = len(changes) < AT_ONCE
            if is_done and (restored or not kept):
                undoing.undoes = change_set
                undoing.save(update_fields=["undoes"])
        last = changes[-1].pk if changes else last
    if not restored and kept:
        undoing.delete()
        named = ", ".join(map(str, kept[:5]))
        raise ValidationError(f"{named} changed again since; undo that first, or edit what should be different.")
    return Undone(undoing, restored, kept)


def _wanted(changes: list[Change]) -> tuple[list[tuple[Memory, Values]], list[Ref]]:
    """Return memories with the values they get back, and refs that have other values by now."""
    found = memories_in((one.ref for one in changes), labels=True)
    wanted: list[tuple[Memory, Values]] = []
    kept: list[Ref] = []
    for one in reversed(changes):
        memory = found.get(one.ref)
        if memory is None or one.after is None:
            continue
        if one.before is None:
            wanted.append((memory, {"state": str(State.TRASHED)}))
            continue
        present = values_of(memory, one.before)
        if all(present[name] == one.after[name] for name in one.before):
            wanted.append((memory, _still_possible(memory, one.before)))
        else:
            kept.append(one.ref)
    return wanted, kept


def _still_possible(memory: Memory, values: Values) -> Values:
    """Leave out what points at rows that are gone."""
    values = dict(values)
    for name in ("project_id", "session_id", "superseded_by_id"):
        if values.get(name) is not None:
            target = memory_model(memory.kind)._meta.get_field(name[:-3]).related_model
            if not target.objects.filter(pk=values[name]).exists():
                del values[name]
    return values
