"""The timeline page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers

from memweb.reading import read_only
from search.timeline.anchors import FORMS, AnchorError, GoneError, MissingError, moment_url
from search.timeline.builder import MAX_DEPTH, TimelineBuilder
from search.timeline.links import TimelineLinks
from search.timeline.pages import timeline_page
from search.timeline.parameters import DepthError, read_parameters


@read_only
def timeline(request: HttpRequest) -> HttpResponse:
    """What happened around a memory, a moment or the best match of a query; without an anchor, the way to one."""
    zone = timezone.get_current_timezone()
    try:
        given = read_parameters(request.GET, zone)
        wanted = given.normalized.request
        if not given.anchor.strip():
            start = {"filters_text": wanted.query, "forms": FORMS, "max_depth": MAX_DEPTH, "before": given.before}
            return render(request, "timeline/start.html", {"page": {**start, "after": given.after}})
        found = TimelineBuilder(zone).timeline(
            given.anchor, given.before, given.after, wanted, all_projects=given.all_projects
        )
    except (DepthError, AnchorError) as error:
        return render(request, "400.html", {"message": str(error)}, status=400)
    except MissingError as error:
        return render(request, "404.html", {"message": str(error)}, status=404)
    except GoneError as error:
        nearest = moment_url(error.nearest) if error.nearest else ""
        return render(request, "timeline/gone.html", {"message": str(error), "nearest": nearest}, status=410)
    links = TimelineLinks(wanted, given.anchor.strip(), found.before, found.after, all_projects=given.all_projects)
    problems = [f"{one.field}: {one.message}; it was left out." for one in given.normalized.problems]
    host = request.build_absolute_uri("/").rstrip("/")
    page = timeline_page(found, links, zone, [*given.notes, *problems], host)
    is_fragment = bool(request.htmx) and not request.htmx.history_restore_request  # type: ignore[attr-defined]
    response = render(request, "timeline/_timeline.html" if is_fragment else "timeline/page.html", {"page": page})
    patch_vary_headers(response, ["HX-Request"])
    return response
