"""Facets apart from the results: all of them, or one with all its values. A page each, or a part of the search page."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers

from memweb.reading import read_only
from search.facet_pages import facet_page, facets_page
from search.facets import FacetName
from search.facets.matches import READ_ROWS
from search.folding import as_text
from search.orchestrator import SearchOrchestrator
from search.request import normalize_params

# A person asked for these numbers and waits for them. Rows are read for what no index tells.
SECONDS = 2.0
ALL_ROWS = 500_000
READ_FACETS = {FacetName.AGENT, FacetName.FILE}


@read_only
def facets(request: HttpRequest) -> HttpResponse:
    """All facets of a search, counted to the end."""
    zone = timezone.get_current_timezone()
    wanted = as_text(normalize_params(request.GET, zone).request, zone)
    counted = SearchOrchestrator(zone).facets(wanted, seconds=SECONDS, read=ALL_ROWS)
    return _answer(request, "search/facets.html", "search/_facets.html", facets_page(wanted, counted))


@read_only
def facet(request: HttpRequest, name: str) -> HttpResponse:
    """One facet with all its values, those that hold `find`; of files those `under` a directory."""
    if name not in {*FacetName}:
        message = f"“{name}” is not a facet; there are {', '.join(FacetName)}."
        return render(request, "404.html", {"message": message}, status=404)
    zone = timezone.get_current_timezone()
    wanted = as_text(normalize_params(request.GET, zone).request, zone)
    find, under = (request.GET.get(key, "")[:200] for key in ("find", "under"))
    read = ALL_ROWS if name in READ_FACETS else READ_ROWS
    options: dict[str, Any] = {"seconds": SECONDS, "read": read, "under": under, "find_file": find}
    counted = SearchOrchestrator(zone).facets(wanted, [FacetName(name)], **options)
    page = facet_page(wanted, FacetName(name), counted, find=find, under=under)
    fragment = "search/_facet_below.html" if under else "search/_facet_long.html"
    return _answer(request, "search/facet.html", fragment, page)


def _answer(request: HttpRequest, template: str, fragment: str, page: object) -> HttpResponse:
    is_fragment = bool(request.htmx) and not request.htmx.history_restore_request  # type: ignore[attr-defined]
    response = render(request, fragment if is_fragment else template, {"page": page})
    patch_vary_headers(response, ["HX-Request"])
    return response
