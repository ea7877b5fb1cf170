"""The fragment with what may be typed next."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from memweb.accounts.visitors import signed_in
from memweb.reading import read_only
from search.completions.completion import complete
from search.request import MAX_QUERY
from search.saved.page import recently_opened


@read_only
def completions(request: HttpRequest) -> HttpResponse:
    """The list below the search box, for the text `q` with the caret behind `at` of its characters.

    For an empty box it is that of saved searches, to which the browser adds recent ones.
    """
    query = request.GET.get("q", "")[:MAX_QUERY]
    at = request.GET.get("at", "") or str(len(query))
    if not (at.isascii() and at.isdigit() and len(at) < 9):
        message = f"at: “{at[:80]}” is not a place in the text; use a whole number from 0 to its length."
        return HttpResponse(message, status=400, content_type="text/plain; charset=utf-8")
    if not query.strip():
        return render(request, "search/_starts.html", {"saved": recently_opened(signed_in(request))})
    return render(request, "search/_completions.html", {"list": complete(query, min(int(at), len(query)))})
