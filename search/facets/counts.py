"""Facets of one search: what there is to choose from, counted within a limit of time."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from memweb.memories.kinds import Kind
from search.facets.bases import Find, Findings, is_filtered, own_bases
from search.facets.clock import Clock
from search.facets.folders import Entry, FolderTree, file_tokens
from search.facets.labels import Labels, read_labels
from search.facets.matches import READ_ROWS, Matches
from search.facets.names import FacetName
from search.facets.postings import Postings
from search.facets.reading import Reading, read_rows
from search.facets.tally import BaseCounts, Counts, Files
from search.query import fields
from search.request import SearchRequest
from search.results import FacetValue

FACET_SECONDS = 0.35
# Of so many values, those of most memories, the names are looked up.
NAMED_VALUES = 1_000


@dataclass(frozen=True, slots=True)
class Facets:
    """Values of each facet, most memories first; `partial`: those whose counting stopped, so that there may be more.

    `matches` and `reading` are what was counted in.
    """

    values: dict[str, tuple[FacetValue, ...]] = field(default_factory=dict)
    partial: frozenset[str] = frozenset()
    matches: Mapping[Kind, Matches] = field(default_factory=dict)
    reading: Reading = field(default_factory=Reading)

    @property
    def totals(self) -> dict[Kind, int]:
        """How many memories match, of the kinds of which that is known exactly."""
        return {kind: one.count for kind, one in self.matches.items() if not one.is_capped}


def count_facets(
    request: SearchRequest,
    findings: Findings,
    find: Find,
    *,
    names: Collection[FacetName] = tuple(FacetName),
    seconds: float = FACET_SECONDS,
    read: int = READ_ROWS,
    under: str = "",
    find_file: str = "",
) -> Facets:
    """Return the facets of a search; selected and excluded values are always among them.

    `find` finds for another request. `under`: the directory whose files are wanted instead of the top of the tree;
    `find_file`: the text that the paths of files must hold.
    """
    clock = Clock(seconds)
    whole = findings.matches(clock, read)
    # Searches of their own are begun in the first half of the time only, so that the rest suffices to count.
    bases = own_bases(names, request, find, Clock(seconds / 2), read)
    reading = read_rows([whole, *bases.values()], clock)
    postings = {kind: Postings(kind, clock) for kind in Kind}
    of_whole = BaseCounts(whole, reading, postings, clock)
    counts = {name: BaseCounts(base, reading, postings, clock) for name, base in bases.items()}
    tallies = {name: counts.get(name, of_whole).tally(name) for name in names}
    for name in names:
        if name not in bases and is_filtered(request, name):
            tallies[name] = replace(tallies[name], is_partial=True)
    tokens = {name: [token for token, _ in tally.counts.most_common(NAMED_VALUES)] for name, tally in tallies.items()}
    files = counts.get(FacetName.FILE, of_whole).files if FacetName.FILE in names else Files([], [])
    tokens[FacetName.FILE] = list(file_tokens(files))
    labels = read_labels(tokens, [value for value, _ in _written(request, FacetName.PROJECT)])
    values: dict[str, tuple[FacetValue, ...]] = {}
    for name, tally in tallies.items():
        written = _written(request, name)
        if name is FacetName.FILE:
            tree = FolderTree(files, labels.values.get(name, {}))
            entries = tree.holding(find_file) if find_file.strip() else tree.entries(under)
            values[str(name)] = _files(
                tree, entries, written, is_top=not (under or find_file), is_capped=tally.is_partial
            )
        else:
            by_value = _named(name, tally.counts, labels)
            values[str(name)] = _values(by_value, written, _meaning(name, by_value, labels), is_capped=tally.is_partial)
    partial = frozenset(str(name) for name, tally in tallies.items() if tally.is_partial)
    return Facets(values, partial, whole, reading)


def _written(request: SearchRequest, name: FacetName) -> list[tuple[str, bool]]:
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


def _values(
    counts: Counts, written: list[tuple[str, bool]], meaning: Callable[[str], str], *, is_capped: bool
) -> tuple[FacetValue, ...]:
    """Return the values in order, those of the query with them."""
    wanted: dict[str, list[str]] = {}
    excluded: dict[str, list[str]] = {}
    for value, is_excluded in written:
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
    tree: FolderTree, entries: list[Entry], written: list[tuple[str, bool]], *, is_top: bool, is_capped: bool
) -> tuple[FacetValue, ...]:
    """Return entries of the tree in their order; at its top the other values of the query stand before them."""
    counts = {entry.path: entry.count for entry in entries}
    known = _values(Counter(counts), [one for one in written if one[0] in counts], str, is_capped=is_capped)
    others = {value: tree.count_written(value) for value, _ in written if value not in counts} if is_top else {}
    return _values(Counter(others), [one for one in written if one[0] in others], str, is_capped=is_capped) + known
