"""Verbs of curation as actions of the admin: asked about first, then done to everything chosen, in batches."""

from functools import partial
from typing import Any, cast

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from memweb.memories.curation import MOST_AT_ONCE, VERBS, carry_out
from memweb.memories.curation.recording import begin
from memweb.memories.curation.verbs import Verb, checked_argument, summary_of
from memweb.memories.kinds import Ref

EXAMPLES = 10


def verb_actions() -> dict[str, tuple[Any, str, str]]:
    """Return the actions, as `ModelAdmin.get_actions` does."""
    return {name: (partial(_act, verb), name, verb.label) for name, verb in VERBS.items()}


def _act(verb: Verb, admin: Any, request: HttpRequest, rows: QuerySet[Any]) -> HttpResponse | None:
    """Ask, naming how many and some of them; do it when that was answered."""
    kind = admin.model.kind
    ids = list(rows.order_by("pk").values_list("pk", flat=True))
    error = ""
    if request.POST.get("confirmed"):
        try:
            argument = checked_argument(verb, request.POST.get("argument", ""))
            _carry_out(cast(User, request.user), verb, [Ref(kind, id) for id in ids], argument, request)
            return None
        except ValidationError as problem:
            error = " ".join(problem.messages)
    examples = admin.model.objects.filter(pk__in=ids[:EXAMPLES]).order_by("pk")
    context = {
        **admin.admin_site.each_context(request),
        "title": verb.label,
        "opts": admin.opts,
        "verb": verb,
        "count": len(ids),
        "more": max(0, len(ids) - EXAMPLES),
        "examples": [str(row) for row in examples],
        "error": error,
        "argument": request.POST.get("argument", ""),
        "chosen": request.POST.getlist("_selected_action"),
        "select_across": request.POST.get("select_across", "0"),
    }
    return TemplateResponse(request, "admin/curate.html", context)


def _carry_out(user: User, verb: Verb, refs: list[Ref], argument: str, request: HttpRequest) -> None:
    """Do it MOST_AT_ONCE memories at a time, each in a transaction of its own, all as one change set."""
    change_set = begin(user, verb.name, summary_of(verb, refs, argument), request.POST.get("reason", "")[:500])
    changed = 0
    for start in range(0, len(refs), MOST_AT_ONCE):
        part = refs[start : start + MOST_AT_ONCE]
        changed += carry_out(user, verb.name, part, argument, change_set=change_set).changed
    noun = "memory" if changed == 1 else "memories"
    messages.success(request, f"{changed:,} {noun} {verb.done}.")
