"""Lists to look around in."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memweb.reading import read_only
from search.browse.session_list import read_filter, session_list_page


@read_only
def sessions(request: HttpRequest) -> HttpResponse:
    """The sessions, newest first."""
    try:
        wanted = read_filter(request.GET, timezone.get_current_timezone())
    except ValueError as error:
        return render(request, "400.html", {"message": str(error)}, status=400)
    return render(request, "browse/sessions.html", {"page": session_list_page(wanted)})
