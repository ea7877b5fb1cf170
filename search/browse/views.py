"""Pages to look around in."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers

from memweb.memories.kinds import Ref
from memweb.memories.models import Session, memory_model
from memweb.reading import read_only
from search.browse.parts import all_parts
from search.browse.places import nearest_url, place_of
from search.browse.run import Window, read_window, read_window_around, read_window_before
from search.browse.session_page import entries_of, session_page
from search.cursors import TimeCursor, decode
from search.request import Order
from search.timeline.anchors import GoneError, MissingError, moment_url

WINDOW = 100


@read_only
def session(request: HttpRequest, id: int) -> HttpResponse:
    """One session: a window of what happened in it, as a page or, for htmx, as rows to put before or after others."""
    found = Session.objects.select_related("project").filter(pk=id).first()
    if found is None:
        return render(request, "404.html", {"message": f"There is no session {id}."}, status=404)
    try:
        ref = _ref(request)
        place = place_of(ref, found) if ref else None
        if ref and "whole" in request.GET:
            return _whole(request, ref)
        window = read_window_around(found, WINDOW, place) if place else _window(request, found)
    except GoneError as error:
        return _gone(request, found, error)
    except MissingError as error:
        return render(request, "404.html", {"message": str(error)}, status=404)
    except ValueError as error:
        return render(request, "400.html", {"message": str(error)}, status=400)
    zone = timezone.get_current_timezone()
    marked = (ref.kind, ref.id) if ref else None
    is_fragment = bool(request.htmx) and not request.htmx.history_restore_request  # type: ignore[attr-defined]
    if is_fragment:
        context = {"window": entries_of(found, window, zone), "side": "before" if "before" in request.GET else "after"}
        response = render(request, "browse/_entries.html", context)
    else:
        response = render(request, "browse/session.html", {"page": session_page(found, window, zone, marked)})
    patch_vary_headers(response, ["HX-Request"])
    return response


def _gone(request: HttpRequest, session: Session, error: GoneError) -> HttpResponse:
    nearest = moment_url(error.nearest) if error.nearest else ""
    context = {"message": str(error), "nearest": nearest, "in_session": nearest_url(error, session)}
    return render(request, "browse/gone.html", context, status=410)


def _ref(request: HttpRequest) -> Ref | None:
    """Return the memory that an address names; raises ValueError when it names none that could be."""
    if "whole" in request.GET:
        return Ref.parse(request.GET["whole"])
    at = request.GET.get("at", "").strip()
    return Ref.parse(at) if at else None


def _window(request: HttpRequest, session: Session) -> Window:
    """Return the window that an address asks for; raises ValueError for a damaged place."""
    for side, read in (("before", read_window_before), ("after", read_window)):
        if text := request.GET.get(side, ""):
            cursor = _cursor(side, text)
            return read(session, WINDOW, (cursor.created_at, cursor.kind, cursor.id))
    return read_window(session, WINDOW)


def _cursor(side: str, text: str) -> TimeCursor:
    try:
        cursor = decode(text, Order.OLDEST)
    except ValueError:
        cursor = None
    if not isinstance(cursor, TimeCursor):
        raise ValueError(f"{side}: “{text[:40]}” is not a place in this session; open the session anew")
    return cursor


def _whole(request: HttpRequest, ref: Ref) -> HttpResponse:
    """Return all texts of one memory."""
    memory = memory_model(ref.kind).objects.for_display().get(pk=ref.id)
    return render(request, "browse/_parts.html", {"parts": all_parts(memory)})
