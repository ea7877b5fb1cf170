"""What was done of late, by whom; each change can be undone from here."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from memweb.memories.curation import can_undo, may_curate
from memweb.memories.models import Change, ChangeSet, ImportConflict
from search.analysis import clean

SHOWN = 50
REFS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Act:
    """One change set as a line: when, who, what, why, which memories, and what can be undone."""

    id: int
    made_at: datetime
    actor: str
    summary: str
    reason: str
    count: int
    refs: list[str]
    is_undone: bool
    can_be_undone: bool


@require_safe
def changes(request: HttpRequest) -> HttpResponse:
    """The last change sets, the newest first; `before` is the id to go on from."""
    before = request.GET.get("before", "")
    rows = ChangeSet.objects.select_related("undone_by").order_by("-pk")
    if before.isascii() and before.isdigit() and len(before) < 19:
        rows = rows.filter(pk__lt=int(before))
    page = list(rows[: SHOWN + 1])
    acts = _acts(page[:SHOWN])
    context = {
        "acts": acts,
        "next": acts[-1].id if len(page) > SHOWN else None,
        "conflict_count": ImportConflict.objects.count(),
        "may_curate": may_curate(request.user),
    }
    return render(request, "memories/changes.html", context)


def _acts(rows: list[ChangeSet]) -> list[Act]:
    ids = [row.pk for row in rows]
    counted = Change.objects.filter(change_set__in=ids).values_list("change_set").annotate(Count("pk"))
    counts: dict[int, int] = dict(counted.order_by())
    refs: dict[int, list[str]] = {id: [] for id in ids}
    few = [id for id in ids if 0 < counts.get(id, 0) <= REFS_SHOWN]
    for change in Change.objects.filter(change_set__in=few).order_by("pk"):
        refs[change.change_set_id].append(str(change.ref))
    return [
        Act(
            row.pk,
            row.made_at,
            clean(row.actor),
            clean(row.summary),
            clean(row.reason),
            counts.get(row.pk, 0),
            refs[row.pk],
            hasattr(row, "undone_by"),
            can_undo(row) and counts.get(row.pk, 0) > 0,
        )
        for row in rows
    ]
