"""Middleware for every request: which hosts are answered, and in whose time zone times are shown."""

from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

TIME_ZONE_COOKIE = "memweb_tz"

GetResponse = Callable[[HttpRequest], HttpResponse]


class AllowedHostMiddleware:
    """Answer 400 to a foreign Host header on every path, static files included.

    A page on another site can point its own name at 127.0.0.1 (DNS rebinding) and would otherwise read everything.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request.get_host()  # raises DisallowedHost, which Django turns into 400
        return self.get_response(request)


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
