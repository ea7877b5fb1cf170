"""Answers to requests that could not be served: the database says no, or memweb itself has a fault."""

import logging
import sys
from dataclasses import dataclass

from django.db.utils import OperationalError
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.views.defaults import server_error

logger = logging.getLogger(__name__)

RETRY_AFTER_SECONDS = 10


@dataclass(frozen=True, slots=True)
class Outage:
    """Why the database cannot be used now, and what to do about it, each as a sentence for people."""

    reason: str
    remedy: str


# What SQLite's messages hold, in the order in which they are looked for.
_OUTAGES = {
    "locked": Outage(
        "The database is in use by another program",
        "memweb has waited for it and changed nothing. Try again in a moment; if this stays, end the other program.",
    ),
    "full": Outage(
        "The disk that holds the database is full",
        "Nothing was changed. Free some space on it, then try again.",
    ),
    "readonly": Outage(
        "The database cannot be written",
        "Nothing was changed. memweb doctor, in the terminal, says what to correct; then try again.",
    ),
}

DATABASE_FILE_GONE = Outage(
    "The file of the database was removed or replaced while memweb was running",
    "Stop memweb, put the file or a backup in its place, and start memweb again; without one it begins empty.",
)


def answer_failure(request: HttpRequest) -> HttpResponseBase:
    """Answer a request that raised an error: 503 with the reason when the database is out of reach, else 500."""
    error = sys.exc_info()[1]
    outage = outage_of(error)
    if outage is None:
        return server_error(request)
    # Without the address, which may be a sign-in key.
    logger.warning("%s (%s)", outage.reason, error)
    return outage_page(request, outage)


def outage_of(error: BaseException | None) -> Outage | None:
    """Return the outage that an error of the database means, None for every other error."""
    if not isinstance(error, OperationalError):
        return None
    return next((outage for sign, outage in _OUTAGES.items() if sign in str(error)), None)


def outage_page(request: HttpRequest, outage: Outage) -> HttpResponse:
    """Return a page with status 503, for htmx one line of text; needs no database."""
    if "HX-Request" in request.headers:
        text = f"{outage.reason}. {outage.remedy}"
        response = HttpResponse(text, status=503, content_type="text/plain; charset=utf-8")
    else:
        response = HttpResponse(render_to_string("503.html", {"outage": outage}), status=503)
    response["Retry-After"] = str(RETRY_AFTER_SECONDS)
    response["Cache-Control"] = "no-store"
    response._has_been_logged = True  # type: ignore[attr-defined]  # else Django logs it with a traceback
    return response
