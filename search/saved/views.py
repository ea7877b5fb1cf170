"""Saved searches: their list, opening, saving, renaming, deleting, and the number of what is new in each."""

from contextlib import suppress

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.utils import OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from memweb.accounts.visitors import signed_in
from memweb.reading import read_only
from search.request import Mode
from search.saved.forms import NameForm, SaveForm, sent_values
from search.saved.models import SavedSearch
from search.saved.news import MOST_NEW, count_news
from search.saved.page import RefusedSave, Renaming, refused_save, results_url, saved_page
from search.saved.saving import note_opening, rename_search, renew_feed, request_of, save_search


@require_http_methods(["GET", "HEAD", "POST"])
def saved_searches(request: HttpRequest) -> HttpResponse:
    """The list of one's own saved searches; a POST adds the search `query` under `name`."""
    if request.method != "POST":
        return _list(request)
    zone = timezone.get_current_timezone()
    entered = {name: request.POST.get(name, "") for name in ("name", "query")}
    try:
        saved = save_search(signed_in(request), **sent_values(SaveForm(request.POST)), zone=zone)
    except ValidationError as error:
        return _list(request, refused=refused_save(**entered, zone=zone, error=error))
    messages.success(request, f"Saved as “{saved.name}”.")
    return redirect(results_url(saved))


@read_only
def open_saved(request: HttpRequest, id: int) -> HttpResponse:
    """Lead to the results of a saved search, and remember that they were seen."""
    saved = _mine(request, id)
    if request.method == "GET" and "prefetch" not in request.headers.get("Sec-Purpose", ""):
        with suppress(OperationalError):  # a database that is written to just now keeps nobody from reading
            note_opening(saved)
    return redirect(results_url(saved))


@read_only
def count_new(request: HttpRequest, id: int) -> HttpResponse:
    """How many memories have come since the search was last opened, as a fragment; nothing when there are none."""
    saved = _mine(request, id)
    zone = timezone.get_current_timezone()
    wanted = request_of(saved, zone)
    count = 0 if wanted.mode is Mode.SEMANTIC else count_news(wanted, saved.seen, zone)
    label = f"more than {MOST_NEW}" if count > MOST_NEW else str(count)
    return render(request, "saved/_new.html", {"label": f"{label} new" if count else ""})


@require_POST
def rename_saved(request: HttpRequest, id: int) -> HttpResponse:
    """Give a saved search the name that was sent."""
    saved = _mine(request, id)
    try:
        rename_search(saved, **sent_values(NameForm(request.POST)))
    except ValidationError as error:
        return _list(request, renaming=Renaming(id, request.POST.get("name", ""), error.messages))
    messages.success(request, f"Renamed to “{saved.name}”.")
    return redirect("saved-searches")


@require_POST
def renew_saved_feed(request: HttpRequest, id: int) -> HttpResponse:
    """Give the feed of a saved search another address."""
    saved = _mine(request, id)
    renew_feed(saved)
    messages.success(request, f"The feed of “{saved.name}” has a new address; the one before no longer works.")
    return redirect("saved-searches")


@require_POST
def delete_saved(request: HttpRequest, id: int) -> HttpResponse:
    """Delete a saved search and its feed; the memories stay."""
    saved = _mine(request, id)
    saved.delete()
    messages.success(request, f"Deleted “{saved.name}”.")
    return redirect("saved-searches")


def _mine(request: HttpRequest, id: int) -> SavedSearch:
    return get_object_or_404(SavedSearch, pk=id, user=signed_in(request))


def _list(request: HttpRequest, refused: RefusedSave | None = None, renaming: Renaming | None = None) -> HttpResponse:
    zone, site = timezone.get_current_timezone(), f"{request.scheme}://{request.get_host()}"
    page = saved_page(signed_in(request), zone, site, refused=refused, renaming=renaming)
    return render(request, "saved/page.html", {"page": page}, status=400 if refused or renaming else 200)
