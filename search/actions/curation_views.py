"""Pages that change one memory: its form, the verbs of curation, undoing a change, removing it for good."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from memweb.accounts.addresses import next_address
from memweb.accounts.visitors import signed_in
from memweb.memories.curation import (
    EditConflict,
    carry_out,
    create_memory,
    edit_memory,
    may_curate,
    purge,
    undo,
    values_of,
    version_of,
)
from memweb.memories.curation.permissions import require_curator
from memweb.memories.differences import Piece
from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import ChangeSet, Memory, memory_model
from search.actions.forms import as_fields, as_values, empty_values, form_rows, messages_by_field, sent_texts
from search.analysis import clean
from search.differences import shown_difference

VERBS_OF_A_MEMORY = ("archive", "trash", "restore", "wrong", "right")


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, ref: str) -> HttpResponse:
    """The form of a memory: what cannot be saved comes back with its reason, and so does what was changed meanwhile."""
    user = signed_in(request)
    require_curator(user)
    memory = _memory(ref)
    before = values_of(memory)
    texts, errors, conflict = as_fields(memory.kind, before), dict[str, str](), list[tuple[str, list[Piece]]]()
    version, reason = version_of(memory), ""
    if request.method == "POST":
        reason, version = request.POST.get("reason", "")[:500], request.POST.get("version", "")
        sent = sent_texts(memory.kind, request.POST)
        texts |= sent
        values, errors = as_values(memory.kind, sent, before)
        if not errors:
            try:
                change_set = edit_memory(user, memory.ref, values, version=version, reason=reason)
                messages.success(request, "Saved." if change_set else "Nothing was different, so nothing was saved.")
                return redirect(memory.get_absolute_url())
            except ValidationError as error:
                errors = messages_by_field(error)
            except EditConflict as found:
                version = found.version
                conflict = [shown_difference(one.name, one.theirs, one.yours) for one in found.differences]
    context = {
        "memory": memory,
        "title": clean(memory.heading),
        "rows": form_rows(memory.kind, texts, errors),
        "version": version,
        "reason": reason,
        "conflict": conflict,
        "has_errors": bool(errors),
    }
    return render(request, "memories/edit.html", context, status=409 if conflict else 422 if errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """The form of a memory that somebody writes by hand; `kind` says of which kind."""
    user = signed_in(request)
    require_curator(user)
    given = request.POST.get("kind") or request.GET.get("kind") or str(Kind.OBSERVATION)
    if given not in list(Kind):
        return render(request, "404.html", {"message": f"There is no kind of memory “{given[:40]}”."}, status=404)
    kind, errors = Kind(given), dict[str, str]()
    before = empty_values(kind)
    texts = as_fields(kind, before)
    if request.method == "POST":
        sent = sent_texts(kind, request.POST)
        texts |= sent
        values, errors = as_values(kind, sent, before)
        if not errors:
            try:
                memory = create_memory(user, kind, values, reason=request.POST.get("reason", "")[:500])
                messages.success(request, f"Saved as {memory.ref}.")
                return redirect(memory.get_absolute_url())
            except ValidationError as error:
                errors = messages_by_field(error)
    context = {
        "kind": kind,
        "kinds": [(str(one), one.label) for one in Kind],
        "rows": form_rows(kind, texts, errors),
        "reason": request.POST.get("reason", "")[:500],
        "has_errors": bool(errors),
    }
    return render(request, "memories/edit.html", context, status=422 if errors else 200)


@require_POST
def curate(request: HttpRequest, ref: str) -> HttpResponse:
    """Do one verb to one memory, and go back to it; or remove it for good, once it is in the trash."""
    memory, user, action = _memory(ref), signed_in(request), request.POST.get("action", "")
    try:
        if action == "purge":
            purge(user, [memory.ref], request.POST.get("reason", "")[:500])
            messages.success(request, f"{memory.ref} is gone for good.")
            return redirect("search")
        if action not in VERBS_OF_A_MEMORY:
            raise ValidationError(f"“{action[:40]}” is nothing that can be done to a memory.")
        outcome = carry_out(user, action, [memory.ref], request.POST.get("argument", ""))
        messages.success(request, str(outcome))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect(next_address(request) if "next" in request.POST else memory.get_absolute_url())


@require_POST
def undo_change(request: HttpRequest, id: int) -> HttpResponse:
    """Take a change back."""
    change_set = get_object_or_404(ChangeSet, pk=id)
    try:
        messages.success(request, str(undo(signed_in(request), change_set)))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    return redirect(next_address(request))


def curation_context(request: HttpRequest, memory: Memory) -> dict[str, Any]:
    """Return what the page of a memory offers to who may curate."""
    return {
        "may_curate": may_curate(request.user),
        "is_active": memory.state == "active",
        "wrong_reason": memory.wrong_reason,
    }


def _memory(ref: str) -> Memory:
    try:
        parsed = Ref.parse(ref)
    except ValueError as error:
        raise Http404(str(error)) from None
    rows = memory_model(parsed.kind).objects.for_display().filter(pk=parsed.id)
    found: Memory | None = rows.first()
    if found is None:
        raise Http404(f"There is no memory {parsed}.")
    return found
