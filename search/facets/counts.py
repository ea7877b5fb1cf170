"""Facets of one search: what there is to choose from, counted within a limit of time."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace

from memweb.memories.kinds import Kind
from search.facets.bases import Find, Findings, own_bases
from search.facets.clock import Clock
from search.facets.folders import FolderTree, file_tokens
from search.facets.labels import Labels, read_labels
from search.facets.matches import READ_ROWS, Matches
from search.facets.names import FacetName
from search.facets.postings import Postings
from search.facets.reading import Reading, read_rows
from search.facets.tally import BaseCounts, Files, Tally
from search.facets.values import facet_values, file_values, written
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
        if name not in bases and written(request, name):
            tallies[name] = replace(tallies[name], is_partial=True)
    files = counts.get(FacetName.FILE, of_whole).files if FacetName.FILE in names else Files([], [])
    labels = _labels(request, tallies, files)
    values = {str(name): facet_values(request, name, tally, labels) for name, tally in tallies.items()}
    if FacetName.FILE in names:
        tree = FolderTree(files, labels.values.get(FacetName.FILE, {}))
        values["file"] = file_values(request, tallies[FacetName.FILE], tree, under, find_file)
    partial = frozenset(str(name) for name, tally in tallies.items() if tally.is_partial)
    return Facets(values, partial, whole, reading)


def _labels(request: SearchRequest, tallies: Mapping[FacetName, Tally], files: Files) -> Labels:
    tokens = {name: [token for token, _ in tally.counts.most_common(NAMED_VALUES)] for name, tally in tallies.items()}
    tokens[FacetName.FILE] = list(file_tokens(files))
    return read_labels(tokens, [value for value, _ in written(request, FacetName.PROJECT)])
