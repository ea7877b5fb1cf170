"""The address that a monitor asks: says that the server answers, and whether searches do without their vector index."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache

from memweb.reading import read_only
from search.vectors.upkeep import health_problem


@login_not_required
@never_cache
@read_only
def report_health(request: HttpRequest) -> HttpResponse:
    """Answer `ok`, with a second line for what the server does without; data is looked at by `memweb doctor` only."""
    problem = health_problem()
    lines = ["ok", *([f"degraded: {problem}; `memweb doctor` says more"] if problem else [])]
    return HttpResponse("\n".join(lines), content_type="text/plain; charset=utf-8")
