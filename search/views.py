"""The search page and the page of one memory."""

from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django_htmx.http import push_url, replace_url

from memweb.accounts.visitors import signed_in
from memweb.memories.curation import may_curate
from memweb.memories.kinds import Ref
from memweb.memories.models import MEMORY_MODELS, State, memory_model
from memweb.reading import read_only
from search.actions.curation_views import curation_context
from search.cursors import RankCursor, decode
from search.date_jump import jump_to
from search.folding import as_text
from search.memory_page import memory_markdown, memory_page
from search.orchestrator import SearchOrchestrator
from search.pages import search_page
from search.related import similar_to
from search.request import SearchRequest, normalize_params
from search.saved.page import save_control


@read_only
def search(request: HttpRequest) -> HttpResponse:
    """The search page; an htmx request gets only what changes."""
    zone = timezone.get_current_timezone()
    normalized = normalize_params(request.GET, zone)
    folded = as_text(normalized.request, zone)
    wanted, jump, problems = jump_to(folded, request.GET.get("date", ""), zone)
    result = SearchOrchestrator(zone).search(wanted, with_histogram=True)
    is_empty = not result.total and not any(model.objects.exists() for model in MEMORY_MODELS.values())
    page = search_page(
        wanted,
        result,
        [*normalized.problems, *problems],
        first_position=_first_position(wanted),
        is_empty=is_empty,
        jump=jump,
    )
    is_fragment = bool(request.htmx) and not request.htmx.history_restore_request  # type: ignore[attr-defined]
    template = "search/_results.html" if is_fragment else "search/page.html"
    save = save_control(signed_in(request), wanted)
    response = render(request, template, {"page": page, "save": save})
    if is_fragment and request.htmx.trigger_name == "q":  # type: ignore[attr-defined]
        replace_url(response, page.canonical_url)
    elif is_fragment and folded is not normalized.request:
        push_url(response, page.canonical_url)
    patch_vary_headers(response, ["HX-Request"])
    return response


@read_only
def memory(request: HttpRequest, ref: str) -> HttpResponse:
    """One memory in full; any accepted spelling of its ref leads to its one address."""
    try:
        parsed = Ref.parse(ref)
    except ValueError as error:
        return render(request, "404.html", {"message": str(error)}, status=404)
    row = memory_model(parsed.kind).objects.for_display().select_related("source", "import_batch").filter(pk=parsed.id)
    found = row.first()
    if found is None:
        message = f"There is no memory {parsed}. It may have been removed."
        return render(request, "404.html", {"message": message}, status=404)
    if found.state == State.TRASHED:
        return render(
            request, "memories/gone.html", {"memory": found, "may_curate": may_curate(request.user)}, status=410
        )
    if str(parsed) != ref:
        query = request.META.get("QUERY_STRING", "")
        return HttpResponsePermanentRedirect(found.get_absolute_url() + (f"?{query}" if query else ""))
    if request.GET.get("format") == "md":
        return HttpResponse(memory_markdown(found), content_type="text/markdown; charset=utf-8")
    page = memory_page(found, request.build_absolute_uri(found.get_absolute_url()))
    return render(request, "memories/page.html", {"page": page, "memory": found, **curation_context(request, found)})


@read_only
def similar(request: HttpRequest, ref: str) -> HttpResponse:
    """The memories most similar to one, as a fragment of its page or as a page of its own."""
    try:
        parsed = Ref.parse(ref)
    except ValueError as error:
        return render(request, "404.html", {"message": str(error)}, status=404)
    found = memory_model(parsed.kind).objects.for_display().exclude(state=State.TRASHED).filter(pk=parsed.id).first()
    if found is None:
        return render(request, "404.html", {"message": f"There is no memory {parsed}."}, status=404)
    context = {"similar": similar_to(found, timezone.get_current_timezone()), "memory": found}
    template = "memories/_similar.html" if request.htmx else "memories/similar.html"  # type: ignore[attr-defined]
    response = render(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _first_position(request: SearchRequest) -> int:
    """Return the number of the first hit on the page, where it is known."""
    if not request.cursor:
        return request.offset + 1
    try:
        cursor = decode(request.cursor, request.effective_order)
    except ValueError:
        return 1
    return cursor.offset + 1 if isinstance(cursor, RankCursor) else 0
