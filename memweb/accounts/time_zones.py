"""The viewer's time zone: set once by the browser's script, chosen by hand on a page of its own."""

from zoneinfo import available_timezones

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_http_methods

from memweb.accounts.addresses import next_address
from memweb.middleware import TIME_ZONE_COOKIE, zone_named

YEAR = 365 * 24 * 3600


@require_http_methods(["GET", "HEAD", "POST"])
def time_zone(request: HttpRequest) -> HttpResponse:
    """Show the zones; POST chooses one, an empty one leaves the choice to the browser again."""
    if request.method != "POST":
        return _page(request)
    name = request.POST.get("zone", "").strip()
    if name and zone_named(name) is None:
        return _page(request, error=f"“{name[:80]}” is not a time zone; accepted are names such as Europe/Berlin")
    response = HttpResponseRedirect(next_address(request))
    if name:
        secure = bool(settings.SESSION_COOKIE_SECURE)
        response.set_cookie(TIME_ZONE_COOKIE, name, max_age=YEAR, samesite="Lax", secure=secure)
    else:
        response.delete_cookie(TIME_ZONE_COOKIE, samesite="Lax")
    return response


def _page(request: HttpRequest, error: str = "") -> HttpResponse:
    context = {
        "zones": sorted(available_timezones()),
        "next": next_address(request),
        "error": error,
        "given": request.POST.get("zone", ""),
    }
    response = render(request, "accounts/time_zone.html", context, status=400 if error else 200)
    patch_vary_headers(response, ["Cookie"])
    return response
