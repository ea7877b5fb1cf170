"""Middleware for every request: which hosts are answered, if the database is there, who must sign in, time zones."""

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import DisallowedHost
from django.db import connection
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django_htmx.http import HttpResponseClientRedirect

from memweb.failures import DATABASE_FILE_GONE, outage_page

logger = logging.getLogger(__name__)

TIME_ZONE_COOKIE = "memweb_tz"
FOREIGN_HOST = (
    "memweb is not reached by this name. If it should be, its owner adds the name to MEMWEB_ALLOWED_HOSTS"
    " and starts memweb again.\n"
)

GetResponse = Callable[[HttpRequest], HttpResponse]


class BodilessHeadMiddleware:
    """Send no body in answer to HEAD: the server would pass it on, and the client take it for the next answer."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if request.method == "HEAD" and not response.streaming:
            length = len(response.content)
            response.content = b""
            response["Content-Length"] = str(length)
        return response


class AllowedHostMiddleware:
    """Answer 400 to a foreign Host header on every path, static files included.

    A page on another site can point its own name at 127.0.0.1 (DNS rebinding) and would otherwise read everything.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        try:
            request.get_host()
        except DisallowedHost:
            logger.warning("refused a request for the host %r", request.META.get("HTTP_HOST", "")[:200])
            return HttpResponse(FOREIGN_HOST, status=400, content_type="text/plain; charset=utf-8")
        return self.get_response(request)


class DatabaseFileMiddleware:
    """Answer 503 when the file of the database was removed or replaced since the start, at the cost of one stat.

    Open connections would go on with the file that is gone and lose what they write, new ones make an empty file.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response
        self._file = database_file()

    def __call__(self, request: HttpRequest) -> HttpResponse:
        found = database_file()
        self._file = self._file or found  # it may be made after the start
        if found is None or found != self._file:
            logger.error("%s: %s", DATABASE_FILE_GONE.reason, connection.settings_dict["NAME"])
            return outage_page(request, DATABASE_FILE_GONE)
        return self.get_response(request)


def database_file() -> tuple[int, int] | None:
    """Return device and inode of the file that the database's path leads to, None where there is none."""
    try:
        status = Path(connection.settings_dict["NAME"]).stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


class PrivateCacheMiddleware:
    """Keep pages out of shared caches, and have browsers ask before they show one again.

    Going back stays quick: a browser shows the page that it left without asking, which only `no-store` forbids.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "private, no-cache")
        return response


class SignInRequiredMiddleware(LoginRequiredMiddleware):
    """Send people who are not signed in to the sign-in page, also from a fragment that htmx asked for.

    A plain redirect would make htmx put the sign-in page inside the fragment's place.
    """

    def handle_no_permission(  # type: ignore[override]  # htmx reads a header of its own instead of the redirect
        self, request: HttpRequest, view_func: Callable[..., Any]
    ) -> HttpResponseBase:
        if "HX-Request" not in request.headers:
            return super().handle_no_permission(request, view_func)
        try:
            page = urlsplit(request.headers.get("HX-Current-URL", ""))
        except ValueError:
            page = urlsplit("/")
        return HttpResponseClientRedirect(
            redirect_to_login(urlunsplit(("", "", page.path or "/", page.query, "")), settings.LOGIN_URL).url
        )


class ViewerTimeZoneMiddleware:
    """Activate the time zone that the viewer's browser told in a cookie; an unknown one is ignored."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        zone = zone_named(request.COOKIES.get(TIME_ZONE_COOKIE, ""))
        with timezone.override(zone):
            return self.get_response(request)


def zone_named(name: str) -> ZoneInfo | None:
    """Return the IANA time zone of that name, None where there is none."""
    if not 0 < len(name) <= 64:
        return None
    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):  # a path, a folder, an unknown name
        return None
