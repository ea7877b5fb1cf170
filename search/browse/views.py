"""Pages to look around in."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers

from memweb.memories.kinds import Ref
from memweb.memories.models import Session, State, memory_model
from memweb.reading import read_only
from search.browse.parts import all_parts
from search.browse.run import Window, read_window, read_window_around, read_window_before
from search.browse.session_page import entries_of, place_of, session_page
from search.cursors import TimeCursor, decode
from search.keyword.rows import Key
from search.request import Order

WINDOW = 100


@read_only
def session(request: HttpRequest, id: int) -> HttpResponse:
    """One session: a window of what happened in it, as a page or, for htmx, as rows to put before or after others."""
    found = Session.objects.select_related("project").filter(pk=id).first()
    if found is None:
        return render(request, "404.html", {"message": f"There is no session {id}."}, status=404)
    if "whole" in request.GET:
        return _whole(request, found)
    zone = timezone.get_current_timezone()
    try:
        window, marked = _window(request, found)
    except LookupError as error:
        return render(request, "404.html", {"message": str(error.args[0])}, status=404)
    except ValueError as error:
        return render(request, "400.html", {"message": str(error)}, status=400)
    is_fragment = bool(request.htmx) and not request.htmx.history_restore_request  # type: ignore[attr-defined]
    if is_fragment:
        context = {"window": entries_of(found, window, zone), "side": "before" if "before" in request.GET else "after"}
        response = render(request, "browse/_entries.html", context)
    else:
        response = render(request, "browse/session.html", {"page": session_page(found, window, zone, marked)})
    patch_vary_headers(response, ["HX-Request"])
    return response


def _window(request: HttpRequest, session: Session) -> tuple[Window, Key | None]:
    """Return the window that an address asks for, and the memory to mark; raises ValueError and LookupError."""
    if at := request.GET.get("at", "").strip():
        ref = Ref.parse(at)
        key = (ref.kind, ref.id)
        place = place_of(key, session)
        if place is None:
            raise LookupError(f"There is no memory {ref} in this session.")
        return read_window_around(session, WINDOW, place), key
    for side, read in (("before", read_window_before), ("after", read_window)):
        if text := request.GET.get(side, ""):
            cursor = _cursor(side, text)
            return read(session, WINDOW, (cursor.created_at, cursor.kind, cursor.id)), None
    return read_window(session, WINDOW), None


def _cursor(side: str, text: str) -> TimeCursor:
    try:
        cursor = decode(text, Order.OLDEST)
    except ValueError:
        cursor = None
    if not isinstance(cursor, TimeCursor):
        raise ValueError(f"{side}: “{text[:40]}” is not a place in this session; open the session anew")
    return cursor


def _whole(request: HttpRequest, session: Session) -> HttpResponse:
    """Return all texts of one memory of the session."""
    try:
        ref = Ref.parse(request.GET["whole"])
    except ValueError as error:
        return render(request, "400.html", {"message": str(error)}, status=400)
    rows = memory_model(ref.kind).objects.for_display().exclude(state=State.TRASHED)
    memory = rows.filter(pk=ref.id, session=session).first()
    if memory is None:
        return render(request, "404.html", {"message": f"There is no memory {ref} in this session."}, status=404)
    return render(request, "browse/_parts.html", {"parts": all_parts(memory)})
