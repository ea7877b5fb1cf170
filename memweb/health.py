"""The address that a monitor asks: says that the server answers, and nothing else."""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache

from memweb.reading import read_only


@login_not_required
@never_cache
@read_only
def report_health(request: HttpRequest) -> HttpResponse:
    """Answer `ok`; data is looked at by `memweb doctor` only."""
    return HttpResponse("ok", content_type="text/plain; charset=utf-8")
