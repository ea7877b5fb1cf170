"""Counts -> values of facets: each with what the query says of it, in the order in which they are shown."""

from collections import Counter
from collections.abc import Callable

from search.facets.folders import Entry, FolderTree
from search.facets.labels import Labels
from search.facets.names import FacetName
from search.facets.tally import Counts, Tally
from search.query import fields
from search.request import SearchRequest
from search.results import FacetValue

Written = list[tuple[str, bool]]


def facet_values(request: SearchRequest, name: FacetName, tally: Tally, labels: Labels) -> tuple[FacetValue, ...]:
    """Return the values of a facet, those of the query among them, the most frequent first."""
    counts = _named(name, tally.counts, labels)
    return _values(counts, written(request, name), _meaning(name, counts, labels), is_capped=tally.is_partial)


def file_values(
    request: SearchRequest, tally: Tally, tree: FolderTree, under: str = "", find: str = ""
) -> tuple[FacetValue, ...]:
    """Return what lies in a directory, or the files that hold a text; else the top of the tree.

    There the values of the query that are not in it stand before all others.
    """
    said = written(request, FacetName.FILE)
    if find.strip():
        return _files(tree, tree.holding(find), said, is_top=False, is_capped=tally.is_partial)
    return _files(tree, tree.entries(under), said, is_top=not under, is_capped=tally.is_partial)


def written(request: SearchRequest, name: FacetName) -> Written:
    """Return the values that a request has for a facet, each with whether it is excluded."""
    return [
        (value, negated)
        for field, negated in fields(request.tree)
        if field.name is name.field
        for value in field.values
    ]


def _named(name: FacetName, counts: Counts, labels: Labels) -> Counts:
    if name in {FacetName.KIND, FacetName.AGENT, FacetName.ROOM}:
        return counts
    by_value: Counts = Counter()
    for token, count in counts.items():
        value = labels.value(name, token)
        if value is not None:
            by_value[value] += count
    return by_value


def _meaning(name: FacetName, counts: Counts, labels: Labels) -> Callable[[str], str]:
    """Return what a written value is called in the counts, by the rules of its field."""
    match name:
        case FacetName.PROJECT:
            return lambda value: labels.projects.get(value, value)
        case FacetName.TYPE | FacetName.PLATFORM:
            return str.casefold
        case FacetName.CONCEPT | FacetName.TAG:
            folded = {value.casefold(): value for value in counts}
            return lambda value: value if value in counts else folded.get(value.casefold(), value)
        case _:
            return str


def _values(counts: Counts, said: Written, meaning: Callable[[str], str], *, is_capped: bool) -> tuple[FacetValue, ...]:
    """Return the values in order, those of the query with them."""
    wanted: dict[str, list[str]] = {}
    excluded: dict[str, list[str]] = {}
    for value, is_excluded in said:
        (excluded if is_excluded else wanted).setdefault(meaning(value), []).append(value)
    values = [
        FacetValue(
            value,
            counts[value],
            value in wanted,
            is_capped,
            value in excluded,
            (*wanted.get(value, ()), *excluded.get(value, ())),
        )
        for value in {**counts, **wanted, **excluded}
    ]
    return tuple(sorted(values, key=lambda one: (-one.count, one.value)))


def _files(
    tree: FolderTree, entries: list[Entry], said: Written, *, is_top: bool, is_capped: bool
) -> tuple[FacetValue, ...]:
    """Return entries of the tree in their order; at its top the other values of the query stand before them."""
    counts = {entry.path: entry.count for entry in entries}
    known = _values(Counter(counts), [one for one in said if one[0] in counts], str, is_capped=is_capped)
    others = {value: tree.count_written(value) for value, _ in said if value not in counts} if is_top else {}
    return _values(Counter(others), [one for one in said if one[0] in others], str, is_capped=is_capped) + known
