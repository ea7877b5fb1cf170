"""Middleware for every request: which hosts are answered, who must sign in, in whose time zone times are shown."""

import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit, urlunsplit
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django_htmx.http import HttpResponseClientRedirect

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
