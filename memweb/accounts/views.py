"""Signing in by link, signing out."""

import re

from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_POST

from memweb.accounts.addresses import next_address
from memweb.accounts.links import LinkProblem, use_link
from memweb.reading import read_only

PREVIEWER = re.compile(r"bot\b|crawler|spider|preview|externalhit|whatsapp", re.IGNORECASE)
MODEL_BACKEND = "django.contrib.auth.backends.ModelBackend"


@login_not_required
@never_cache
@read_only
def sign_in(request: HttpRequest) -> HttpResponse:
    """Tell how to sign in; people who are signed in go on to `next`."""
    if request.user.is_authenticated:
        return HttpResponseRedirect(next_address(request))
    return sign_in_page(request)


@login_not_required
@never_cache
@read_only
@sensitive_variables("token")
def open_link(request: HttpRequest, token: str) -> HttpResponse:
    """Sign in the owner of the link and go on to `next`; a link that signs nobody in answers 403 and says why.

    Only a person's opening uses the link up. Who is signed in already needs it not, so a second click changes nothing.
    """
    if request.user.is_authenticated:
        return HttpResponseRedirect(next_address(request))
    if not is_opened_by_person(request):
        # No 2xx: a browser would keep a prefetched answer and show it to the person who then clicks.
        refusal = HttpResponse("Open this link in a browser to sign in.\n", status=503, content_type="text/plain")
        # The address is still a key, and Django's log of a 5xx answer would hold it.
        refusal._has_been_logged = True  # type: ignore[attr-defined]
        return refusal
    user = use_link(token)
    if isinstance(user, LinkProblem):
        return sign_in_page(request, error=user, status=403)
    login(request, user, backend=MODEL_BACKEND)
    return HttpResponseRedirect(next_address(request))


@login_not_required
@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session and show the sign-in page."""
    logout(request)
    return redirect("login")


def sign_in_page(request: HttpRequest, error: str = "", status: int = 200) -> HttpResponse:
    """Return the page that tells how to sign in, below what went wrong."""
    return render(request, "accounts/login.html", {"error": error}, status=status)


def is_opened_by_person(request: HttpRequest) -> bool:
    """Return whether this is a person who opens a page, not a HEAD, a prefetch, an embedded resource or a preview.

    Chat programs and browsers fetch links before anybody clicks; they say so in these headers.
    """
    headers = request.headers
    purpose = " ".join(headers.get(name, "") for name in ("Sec-Purpose", "Purpose", "X-Purpose", "X-Moz"))
    return (
        request.method == "GET"
        and not re.search("prefetch|prerender|preview", purpose, re.IGNORECASE)
        and headers.get("Sec-Fetch-Dest", "document") == "document"
        and not PREVIEWER.search(headers.get("User-Agent", ""))
    )
