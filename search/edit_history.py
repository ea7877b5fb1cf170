"""What people changed about a memory, out of the log that every change writes into."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType

from memweb.memories.models import Memory
from search.analysis import clean

SHOWN = 50


@dataclass(frozen=True, slots=True)
class Edit:
    """One change: when, by whom, what."""

    made_at: datetime
    user: str
    what: str


def edits_of(memory: Memory) -> list[Edit]:
    """Return the last changes of a memory, the newest first; two statements."""
    entries = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(type(memory)), object_id=str(memory.pk)
    ).select_related("user")
    return [
        Edit(entry.action_time, clean(entry.user.get_username()), clean(entry.get_change_message() or str(entry)))
        for entry in entries.order_by("-action_time", "-pk")[:SHOWN]
    ]
