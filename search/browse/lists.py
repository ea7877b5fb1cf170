"""Lists to look around in."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from memweb.reading import read_only
from search.browse.label_pages import concepts_page, files_page
from search.browse.paging import read_place
from search.browse.project_page import projects_page
from search.browse.session_list import read_filter, session_list_page
from search.texts import whole_characters

LONGEST = 1_000
LONGEST_FIND = 200


@read_only
def sessions(request: HttpRequest) -> HttpResponse:
    """The sessions, newest first."""
    try:
        wanted = read_filter(request.GET, timezone.get_current_timezone())
    except ValueError as error:
        return render(request, "400.html", {"message": str(error)}, status=400)
    return render(request, "browse/sessions.html", {"page": session_list_page(wanted)})


@read_only
def projects(request: HttpRequest) -> HttpResponse:
    """The projects, the last active first."""
    try:
        after = read_place(_text(request, "after"))
    except ValueError as error:
        return render(request, "400.html", {"message": str(error)}, status=400)
    page = projects_page(_find(request), after, timezone.get_current_timezone())
    return render(request, "browse/projects.html", {"page": page})


@read_only
def files(request: HttpRequest) -> HttpResponse:
    """One folder of the tree of files that memories mention, or what is found below it."""
    try:
        page = files_page(_text(request, "path"), _find(request), read_place(_text(request, "after")))
    except ValueError as error:
        return render(request, "400.html", {"message": str(error)}, status=400)
    return render(request, "browse/files.html", {"page": page})


@read_only
def concepts(request: HttpRequest) -> HttpResponse:
    """The concepts, the most frequent first."""
    try:
        page = concepts_page(_find(request), read_place(_text(request, "after")))
    except ValueError as error:
        return render(request, "400.html", {"message": str(error)}, status=400)
    return render(request, "browse/concepts.html", {"page": page})


def _find(request: HttpRequest) -> str:
    return _text(request, "find").strip()[:LONGEST_FIND]


def _text(request: HttpRequest, name: str) -> str:
    return whole_characters(request.GET.get(name, "")).replace("\0", "")[:LONGEST]
