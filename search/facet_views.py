"""Page objects of facets: the values that narrow a result, each with its count and the address that toggles it."""

from dataclasses import dataclass

from memweb.memories.kinds import Kind
from memweb.memories.models import Project
from search.analysis import clean
from search.links import Links
from search.query import FieldName
from search.results import FacetValue

FACET_VALUES_SHOWN = 12
FACET_LABELS = {"kind": "Kind", "project": "Project"}


@dataclass(frozen=True, slots=True)
class FacetLink:
    value: str
    label: str
    count: int | None
    count_label: str
    selected: bool
    url: str


@dataclass(frozen=True, slots=True)
class Facet:
    name: str
    label: str
    values: list[FacetLink]
    more: int
    note: str


def facet_view(name: str, values: tuple[FacetValue, ...], links: Links) -> Facet:
    shown = values[:FACET_VALUES_SHOWN] + tuple(one for one in values[FACET_VALUES_SHOWN:] if one.selected)
    is_capped = any(one.is_capped for one in values)
    return Facet(
        name=name,
        label=FACET_LABELS[name],
        values=[
            FacetLink(
                value=one.value,
                label=_facet_label(name, one.value),
                count=one.count,
                count_label=f"{one.count:,}{'+' if one.is_capped else ''}",
                selected=one.selected,
                url=links.toggled(FieldName(name), one.value),
            )
            for one in shown
        ],
        more=len(values) - len(shown),
        note="Counting stopped; there are more." if is_capped else "",
    )


def _facet_label(name: str, value: str) -> str:
    if name == "kind":
        plural = Kind(value).plural
        return plural[0].upper() + plural[1:]
    return clean(Project(name=value).label)
