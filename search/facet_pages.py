"""Page objects of facets apart from the results."""

from dataclasses import dataclass

from django.urls import reverse

from search.analysis import clean
from search.facet_views import LABELS, PLURALS, Facet, facet_view, facet_views, value_label
from search.facets import FacetName, Facets
from search.links import Links
from search.pills import Pill, pills
from search.query import Sentence, describe
from search.request import SearchRequest

VALUES_LISTED = 200


@dataclass(frozen=True, slots=True)
class FacetsPage:
    """What `/search/facets/` shows; `has_hits` and `tips` are for what it shares with the search page."""

    query: str
    sentence: Sentence
    search_url: str
    facets: list[Facet]
    pills: list[Pill]
    has_hits: bool = False
    tips: tuple[()] = ()


@dataclass(frozen=True, slots=True)
class FacetPage:
    """What `/search/facets/<name>/` shows: the values that hold `find`, of files those `under` a directory."""

    query: str
    sentence: Sentence
    search_url: str
    facet: Facet
    url: str
    find: str
    under: str
    parent_url: str
    is_searchable: bool
    hidden_fields: list[tuple[str, str]]
    message: str


def facets_page(request: SearchRequest, facets: Facets) -> FacetsPage:
    links = Links(request)
    return FacetsPage(
        query=request.query,
        sentence=_sentence(request, facets),
        search_url=links.canonical(),
        facets=facet_views(request, facets.values, facets.partial),
        pills=pills(request),
    )


def facet_page(request: SearchRequest, name: FacetName, facets: Facets, *, find: str, under: str) -> FacetPage:
    """Return the page of one facet."""
    links = Links(request)
    path = reverse("facet", args=[str(name)])
    values = facets.values[name]
    wanted = find.strip().casefold()
    # The tree of files was already searched as a whole.
    if wanted and name is not FacetName.FILE:
        values = tuple(one for one in values if wanted in value_label(name, one.value).casefold())
    facet = facet_view(name, values, links, is_partial=name in facets.partial, shown=VALUES_LISTED, under=under)
    parent = under.rstrip("/").rpartition("/")[0]
    return FacetPage(
        query=request.query,
        sentence=_sentence(request, facets),
        search_url=links.canonical(),
        facet=facet,
        url=links.at(path),
        find=find,
        under=clean(under),
        parent_url=(links.at(path, under=f"{parent}/") if parent else links.at(path)) if under else "",
        is_searchable=bool(find) or len(facet.values) > 10 or name is FacetName.FILE,
        hidden_fields=[("q", request.query), *links.hidden_fields()],
        message=_message(name, find) if not facet.values else "",
    )


def _message(name: FacetName, find: str) -> str:
    if find.strip():
        return f"No {LABELS[name].lower()} here holds “{clean(find.strip())}”."
    return f"These memories have no {PLURALS[name]}."


def _sentence(request: SearchRequest, facets: Facets) -> Sentence:
    total = sum(one.count for one in facets.matches.values())
    said = describe(request.parsed.tree, total)
    return Sentence(clean(said.count), clean(said.rest))
