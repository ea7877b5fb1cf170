"""Where a visitor goes after signing in."""

from django.conf import settings
from django.http import HttpRequest
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme


def next_address(request: HttpRequest) -> str:
    """Return the path in `next` when it is one of this site, else the start page; never another host."""
    address = request.POST.get("next") or request.GET.get("next") or ""
    is_ours = (
        address.startswith("/")
        and address.isprintable()
        and url_has_allowed_host_and_scheme(address, allowed_hosts=None, require_https=request.is_secure())
    )
    return address if is_ours else resolve_url(settings.LOGIN_REDIRECT_URL)
