"""What helps to find one's way in a session: its prompts to jump to, the files it touched."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, F, Window
from django.db.models.functions import Left, RowNumber
from django.urls import reverse

from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import FilePath, Session
from memweb.memories.models.memories import first_line
from search.analysis import clean
from search.browse.bounds import shortened
from search.browse.run import visible

JUMPS = 60
JUMP_LENGTH = 90
FILES = 12


@dataclass(frozen=True, slots=True)
class Jump:
    """A prompt to jump to."""

    label: str
    url: str
    created_at: datetime | None


def jumps_of(session: Session, prompts: int) -> list[Jump]:
    """Return the prompts of a session; of very many every second, third and so on, so that JUMPS are enough."""
    step = max(1, -(-prompts // JUMPS))
    rows = visible(Kind.PROMPT, session).annotate(
        number=Window(RowNumber(), order_by=[F("created_at").asc(nulls_last=True), F("pk").asc()]),
        beginning=Left("text", 4 * JUMP_LENGTH),
    )
    found = rows.values_list("pk", "created_at", "beginning", "number").order_by("number")
    address = reverse("session", args=[session.pk])
    jumps = []
    for id, moment, text, number in found:
        if (number - 1) % step == 0:
            ref = Ref(Kind.PROMPT, id)
            label = shortened(clean(first_line(text))[:JUMP_LENGTH], 2 * JUMP_LENGTH) or "(empty prompt)"
            jumps.append(Jump(label, f"{address}?at={ref}#{ref}", moment))
    return jumps


def touched_files(session: Session) -> tuple[list[tuple[str, int]], int]:
    """Return the paths that most observations of a session mention, with their number, and how many paths there are."""
    observations = visible(Kind.OBSERVATION, session).values("pk")
    mentioned = FilePath.objects.filter(observationfiles__observation__in=observations)
    counted = mentioned.annotate(count=Count("observationfiles__observation", distinct=True)).order_by("-count", "path")
    rows = list(counted.values_list("path", "count"))
    return rows[:FILES], len(rows)
