"""What was changed about a memory, by whom and why, with the words that differ; the newest first."""

from dataclasses import dataclass, field
from datetime import datetime

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType

from memweb.memories.curation import can_undo
from memweb.memories.differences import Piece
from memweb.memories.models import Change, Memory
from search.analysis import clean
from search.differences import shown_difference

SHOWN = 50


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: when, by whom, what; `differences` name a value and what differs in it.

    `change_set` is what can be undone, if it can.
    """

    made_at: datetime
    user: str
    what: str
    reason: str = ""
    differences: list[tuple[str, list[Piece]]] = field(default_factory=list)
    change_set: int | None = None


def edits_of(memory: Memory) -> list[Edit]:
    """Return the last changes of a memory; three statements."""
    changes = (
        Change.objects.filter(kind=memory.kind, memory_id=memory.pk)
        .select_related("change_set__undone_by")
        .order_by("-pk")[:SHOWN]
    )
    entries = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(type(memory)), object_id=str(memory.pk)
    ).select_related("user")
    edits = [_edit(one) for one in changes]
    edits += [
        Edit(entry.action_time, clean(entry.user.get_username()), clean(entry.get_change_message() or str(entry)))
        for entry in entries.order_by("-action_time", "-pk")[:SHOWN]
    ]
    return sorted(edits, key=lambda edit: edit.made_at, reverse=True)[:SHOWN]


def _edit(change: Change) -> Edit:
    change_set = change.change_set
    differences = [
        shown_difference(name, old, (change.after or {}).get(name)) for name, old in (change.before or {}).items()
    ]
    what = clean(change_set.summary)
    if hasattr(change_set, "undone_by"):
        what += " (undone since)"
    undoable = change_set.pk if can_undo(change_set) and change.after is not None else None
    return Edit(change_set.made_at, clean(change_set.actor), what, clean(change_set.reason), differences, undoable)
