"""Verbs on a selection: asked for first, with the number of memories and some of them; done after the answer."""

from collections.abc import Sequence

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from memweb.accounts.addresses import next_address
from memweb.memories.curation import VERBS, Asks, carry_out, merge, verb_named
from memweb.memories.curation.permissions import require_curator
from memweb.memories.curation.values import memories_in
from memweb.memories.kinds import Ref
from search.analysis import clean

EXAMPLES = 10
MERGE = "merge"
_QUESTIONS = {
    Asks.TAGS: "Tags, with commas between them",
    Asks.REASON: "Why they are wrong",
    Asks.PROJECT: "Name of the project",
    Asks.TYPE: "Type",
}


def ask_first(request: HttpRequest, refs: Sequence[Ref]) -> HttpResponse:
    """Return the page that names what would be done to how many memories. ValidationError for an unknown verb."""
    require_curator(request.user)
    name = request.POST.get("verb", "")
    if not name:
        raise ValidationError("Choose what to do with the memories first.")
    label, question = "Merge", ""
    if name != MERGE:
        verb = verb_named(name)
        label, question = verb.label, _QUESTIONS.get(verb.asks, "")
    found = memories_in(refs[:EXAMPLES], labels=False)
    context = {
        "verb": name,
        "label": label,
        "question": question,
        "is_merge": name == MERGE,
        "refs": [str(ref) for ref in refs],
        "first": refs[0],
        "count": len(refs),
        "examples": [(str(ref), clean(found[ref].heading)) for ref in refs[:EXAMPLES] if ref in found],
        "more": max(0, len(refs) - EXAMPLES),
        "argument": request.POST.get("tags", "")[:600],
        "next": next_address(request),
    }
    return render(request, "memories/ask.html", context)


def do_to_selection(user: User, action: str, refs: Sequence[Ref], argument: str, reason: str) -> str:
    """Do it and return what was done, in words. Raises ValidationError for what cannot be done."""
    if action == MERGE:
        return f"{merge(user, refs[0], refs[1:], reason=reason).summary}."
    if action not in VERBS:
        raise ValidationError(
            f"“{action[:40]}” is nothing that can be done; accepted are {', '.join([*VERBS, MERGE])}."
        )
    return str(carry_out(user, action, refs, argument, reason))
