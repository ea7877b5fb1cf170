"""Actions on memories: each works as a plain form, and returns a fragment to htmx."""

from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from memweb.accounts.addresses import next_address
from memweb.accounts.visitors import signed_in
from memweb.memories.curation import MOST_AT_ONCE, carry_out
from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import Memory, State, memory_model
from search.actions.asking import ask_first, do_to_selection
from search.actions.marks import marks_of
from search.memory_page import memory_markdown

MARKDOWN = "text/markdown; charset=utf-8"


@require_POST
def tag(request: HttpRequest, ref: str) -> HttpResponse:
    """Put tags on a memory, or take one off (`remove`)."""
    named = Ref.parse(ref) if _is_ref(ref) else None
    if named is None:
        return _missing(request, ref)

    def act(user: User) -> str:
        if remove := request.POST.get("remove", ""):
            carry_out(user, "untag", [named], remove)
            return f"Took a tag off {named}."
        carry_out(user, "tag", [named], request.POST.get("tags", ""))
        return f"Tagged {named}."

    return _answer(request, named, act)


@require_POST
def pin(request: HttpRequest, ref: str) -> HttpResponse:
    """Pin a memory (`pinned=1`), or take its pin out (`pinned=0`)."""
    named = Ref.parse(ref) if _is_ref(ref) else None
    if named is None:
        return _missing(request, ref)
    wanted = request.POST.get("pinned", "1") != "0"

    def act(user: User) -> str:
        carry_out(user, "pin" if wanted else "unpin", [named])
        return f"{'Pinned' if wanted else 'Unpinned'} {named}."

    return _answer(request, named, act)


@require_http_methods(["GET", "HEAD", "POST"])
def selection(request: HttpRequest) -> HttpResponse:
    """Act on the memories `ref`: GET gives them as Markdown, POST does a verb of
    curation to them (`action`, with `argument` where it asks for one)."""
    try:
        refs = _chosen(request.GET if request.method != "POST" else request.POST)
        if request.method != "POST":
            return HttpResponse(_markdown_of(refs), content_type=MARKDOWN)
        action = request.POST.get("action", "")
        if action == "ask":
            return ask_first(request, refs)
        argument = request.POST.get("argument", request.POST.get("tags", ""))
        message = do_to_selection(signed_in(request), action, refs, argument, request.POST.get("reason", "")[:500])
    except ValidationError as error:
        if request.method != "POST":
            return HttpResponse("\n".join(error.messages), status=400, content_type="text/plain; charset=utf-8")
        messages.error(request, " ".join(error.messages))
        return redirect(next_address(request))
    messages.success(request, message)
    return redirect(next_address(request))


def _answer(request: HttpRequest, ref: Ref, act: Callable[[User], str]) -> HttpResponse:
    """Do it; answer htmx with the marks of the memory as they are now, others with a redirect to where they were."""
    error, message = "", ""
    try:
        message = act(signed_in(request))
    except ValidationError as problem:
        error = " ".join(problem.messages)
    if not request.htmx:  # type: ignore[attr-defined]
        if error:
            messages.error(request, error)
        else:
            messages.success(request, message)
        return redirect(next_address(request))
    memory = memory_model(ref.kind).objects.filter(pk=ref.id).prefetch_related("tags").first()
    if memory is None:
        return _missing(request, str(ref))
    context = {"marks": marks_of(memory), "error": error, "next": next_address(request)}
    return render(request, "search/_marks.html", context)


def _chosen(given: QueryDict) -> list[Ref]:
    refs = []
    for text in given.getlist("ref"):
        if not _is_ref(text):
            raise ValidationError(f"“{text[:40]}” is not the name of a memory; names look like o12, s45, p9, d7.")
        refs.append(Ref.parse(text))
    if not refs:
        raise ValidationError("No memory was chosen.")
    if len(refs) > MOST_AT_ONCE:
        raise ValidationError(f"{len(refs)} memories are too many at once; at most {MOST_AT_ONCE} can be chosen.")
    return list(dict.fromkeys(refs))


def _markdown_of(refs: list[Ref]) -> str:
    """Return memories as Markdown, in the order of the refs; those that are not there are left out."""
    found: dict[Ref, Memory] = {}
    for kind in Kind:
        ids = [ref.id for ref in refs if ref.kind is kind]
        if ids:
            rows = memory_model(kind).objects.for_display().exclude(state=State.TRASHED).in_bulk(ids)
            found |= {Ref(kind, id): row for id, row in rows.items()}
    return "\n---\n\n".join(memory_markdown(found[ref]) for ref in refs if ref in found)


def _is_ref(text: str) -> bool:
    try:
        Ref.parse(text)
    except ValueError:
        return False
    return True


def _missing(request: HttpRequest, ref: str) -> HttpResponse:
    return render(request, "404.html", {"message": f"There is no memory {ref[:40]}."}, status=404)
