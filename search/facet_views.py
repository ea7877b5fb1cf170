"""Page objects of facets: the values that narrow a result, each with its count and the addresses that toggle it."""

from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import quote

from django.urls import reverse

from memweb.memories.kinds import Kind
from memweb.memories.models import Project
from search.analysis import clean
from search.facets import FacetName
from search.links import Links
from search.query import Node, add_field, exclude_field, remove_exclusion, remove_field
from search.request import SearchRequest
from search.results import FacetValue

VALUES_SHOWN = 8
# Every link repeats the text: beside a pasted stack trace there are fewer of them.
LONG_TEXT = 1_000
VALUES_BESIDE_LONG_TEXT = 2
LABELS = {
    FacetName.KIND: "Kind",
    FacetName.TYPE: "Type",
    FacetName.PROJECT: "Project",
    FacetName.CONCEPT: "Concept",
    FacetName.TAG: "Tag",
    FacetName.PLATFORM: "Platform",
    FacetName.AGENT: "Agent",
    FacetName.ROOM: "Room",
    FacetName.STATE: "State",
    FacetName.FILE: "File",
}
PLURALS = {name: f"{label.lower()}s" for name, label in LABELS.items()}
_STATES = {
    "active": "Active",
    "archived": "Archived",
    "trashed": "In the trash",
    "pinned": "Pinned",
    "superseded": "Superseded",
    "wrong": "Marked as wrong",
    "noise": "Noise",
    "doubtful": "Time doubtful",
    "any": "In any state",
}


@dataclass(frozen=True, slots=True)
class FacetLink:
    """One value. `url` ticks or unticks it, `exclude_url` leaves it out or stops to; a directory has `under_url`."""

    id: str
    value: str
    label: str
    count: int
    count_label: str
    selected: bool
    is_excluded: bool
    url: str
    exclude_url: str
    under_url: str = ""


@dataclass(frozen=True, slots=True)
class Facet:
    """`more` values are not shown; `all_url` has them. `is_pending`: the time was over before it was counted."""

    name: str
    label: str
    plural: str
    values: list[FacetLink]
    more: int
    all_url: str
    is_partial: bool = False
    is_pending: bool = False


def facet_views(
    request: SearchRequest, facets: dict[str, tuple[FacetValue, ...]], partial: Iterable[str]
) -> list[Facet]:
    """Return what a page shows of the facets; those without values are left out."""
    links = Links(request)
    stopped = set(partial)
    shown = VALUES_BESIDE_LONG_TEXT if len(request.query) > LONG_TEXT else VALUES_SHOWN
    views = [
        facet_view(FacetName(name), values, links, is_partial=name in stopped, shown=shown)
        for name, values in facets.items()
    ]
    return [view for view in views if view.values or view.is_pending]


def facet_view(
    name: FacetName,
    values: tuple[FacetValue, ...],
    links: Links,
    *,
    is_partial: bool,
    shown: int = VALUES_SHOWN,
    under: str = "",
) -> Facet:
    """Return what is shown of one facet: its first values, and all that the query has; paths as seen from `under`."""
    # A value more takes no more room than saying that there is one.
    first = values if len(values) <= shown + 1 else values[:shown]
    kept = [*first, *(one for one in values[len(first) :] if one.written)]
    return Facet(
        name=str(name),
        label=LABELS[name],
        plural=PLURALS[name],
        values=[_link(name, one, links, under) for one in kept],
        more=len(values) - len(kept),
        all_url=links.at(reverse("facet", args=[str(name)])),
        is_partial=is_partial,
        is_pending=is_partial and not values,
    )


def _link(name: FacetName, one: FacetValue, links: Links, under: str) -> FacetLink:
    is_directory = name is FacetName.FILE and one.value.endswith("/")
    return FacetLink(
        id=quote(f"{name}-{one.value}", safe=""),
        value=clean(one.value),
        label=value_label(name, one.value.removeprefix(under)),
        count=one.count,
        count_label=f"{one.count:,}{'+' if one.is_capped else ''}",
        selected=one.selected,
        is_excluded=one.is_excluded,
        url=links.edited(_toggled(name, one, links.tree)),
        exclude_url=links.edited(_excluded(name, one, links.tree)),
        under_url=links.at(reverse("facet", args=[str(name)]), under=one.value) if is_directory else "",
    )


def _toggled(name: FacetName, one: FacetValue, tree: Node) -> Node:
    """Return the tree without the value, however it is written there, or with it."""
    tree = _without(name, one, tree)
    return tree if one.selected else add_field(tree, name.field, one.value)


def _excluded(name: FacetName, one: FacetValue, tree: Node) -> Node:
    tree = _without(name, one, tree)
    return tree if one.is_excluded else exclude_field(tree, name.field, one.value)


def _without(name: FacetName, one: FacetValue, tree: Node) -> Node:
    for value in one.written:
        tree = remove_exclusion(remove_field(tree, name.field, value), name.field, value)
    return tree


def value_label(name: FacetName, value: str) -> str:
    """Return a value as people read it."""
    match name:
        case FacetName.KIND:
            plural = Kind(value).plural
            return plural[0].upper() + plural[1:]
        case FacetName.STATE:
            return _STATES.get(value, value)
        case FacetName.PROJECT:
            return clean(Project(name=value).label)
        case _:
            return clean(value) if clean(value).strip() else "(blank)" if value else "(empty)"
