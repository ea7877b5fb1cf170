"""Conflicts between what people edited and what the source says now, side by side, to be decided one by one."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from memweb.accounts.visitors import signed_in
from memweb.memories.curation import may_curate, settle, values_of
from memweb.memories.curation.values import is_value, memories_in
from memweb.memories.differences import Piece
from memweb.memories.models import ImportConflict
from search.analysis import clean
from search.differences import shown_difference

SHOWN = 20


@dataclass(frozen=True, slots=True)
class Conflict:
    """One memory whose words differ from its source; `differences` lead from here to there."""

    id: int
    ref: str
    title: str
    noticed_at: datetime
    differences: list[tuple[str, list[Piece]]]


@require_safe
def conflicts(request: HttpRequest) -> HttpResponse:
    """The oldest conflicts, and how many there are."""
    rows = list(ImportConflict.objects.order_by("pk")[:SHOWN])
    found = memories_in((row.ref for row in rows), labels=True)
    shown = []
    for row in rows:
        memory = found.get(row.ref)
        if memory is None:
            continue
        here = values_of(memory)
        differences = [
            shown_difference(name, here[name], value)
            for name, value in row.theirs.items()
            if is_value(memory.kind, name)
        ]
        shown.append(Conflict(row.pk, str(row.ref), clean(memory.heading), row.noticed_at, differences))
    context = {"conflicts": shown, "count": ImportConflict.objects.count(), "may_curate": may_curate(request.user)}
    return render(request, "memories/conflicts.html", context)


@require_POST
def settle_conflict(request: HttpRequest, id: int) -> HttpResponse:
    """Decide one conflict: `take=theirs` or `take=mine`."""
    conflict = get_object_or_404(ImportConflict, pk=id)
    user = signed_in(request)
    try:
        if request.POST.get("take") not in {"theirs", "mine"}:
            raise ValidationError("Say whose words hold: theirs or mine.")
        is_theirs = request.POST["take"] == "theirs"
        settle(user, conflict, take_theirs=is_theirs)
        messages.success(
            request, f"{conflict.ref} {'has the words of its source now' if is_theirs else 'stays as it is here'}."
        )
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect("conflicts")
