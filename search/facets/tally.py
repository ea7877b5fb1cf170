"""Counts in one set of matches: by the rows that were read, and by the indexes for kinds with too many."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from memweb.memories.kinds import Kind
from search.facets.clock import Clock
from search.facets.matches import Matches
from search.facets.names import KINDS, TOKEN_PREFIXES, FacetName
from search.facets.postings import Mask, Postings, Values
from search.facets.reading import Reading, Row, count_tokens
from search.facets.states import ANY, count_hidden

Counts = Counter[str]

# Flags of memories that are shown like all others.
_SHOWN = ("pinned", "doubtful")


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of one facet by token, or by value where it is a column. `is_partial`: there may be more of all."""

    counts: Counts
    is_partial: bool = False


@dataclass(frozen=True, slots=True)
class Files:
    """Where files are mentioned: rows with their filter tokens, and for other kinds the ids of each token."""

    rows: list[Row]
    indexed: list[Values]
    is_partial: bool = False


class BaseCounts:
    """What is counted in the matches of one search; `postings` of a kind serve several searches."""

    def __init__(
        self, matches: Mapping[Kind, Matches], reading: Reading, postings: Mapping[Kind, Postings], clock: Clock
    ) -> None:
        self._matches = matches
        self._postings = postings
        self._clock = clock
        self._is_read = reading.is_complete
        self._large = [one for one in matches.values() if not one.is_read]
        self._rows = reading.of({kind: one for kind, one in matches.items() if one.is_read})
        self._samples = {one.kind: reading.of({one.kind: one}) for one in self._large}
        self._masks = {one.kind: Mask(one) for one in self._large}

    @cached_property
    def files(self) -> Files:
        """What is known of the files of all that matches."""
        rows, indexed = [*self._rows], []
        large = self._of_kinds(FacetName.FILE)
        is_partial = not self._is_read or self._is_capped(large)
        for one in large:
            values = self._postings[one.kind].of(FacetName.FILE)
            if values is None:
                is_partial = True
                rows += self._samples[one.kind]
            else:
                mask = self._masks[one.kind]
                indexed.append({token: found for token, ids in values.items() if len(found := mask.those(ids))})
        return Files(rows, indexed, is_partial)

    def tally(self, name: FacetName) -> Tally:
        """Return the counts of a facet; those of files are left to the tree of folders."""
        is_sample = bool(self._of_kinds(name)) or not self._is_read
        match name:
            case FacetName.KIND:
                counts = Counter({str(kind): one.count for kind, one in self._matches.items()})
                return Tally(+counts, self._is_capped(self._large))
            case FacetName.AGENT:
                rows = [*self._rows, *(row for sample in self._samples.values() for row in sample)]
                agents = Counter(row.agent for row in rows if row.agent.strip())
                # Of a collection whose newest memories name nobody, the others will not either.
                return Tally(agents, is_sample and (bool(agents) or not self._is_read))
            case FacetName.FILE:
                return Tally(Counter(), self.files.is_partial)
            case FacetName.ROOM:
                return self._with_postings(name, Counter(row.room for row in self._rows if row.room.strip()))
            case FacetName.STATE:
                return self._states()
            case _:
                return self._with_postings(name, self._by_prefix[TOKEN_PREFIXES[name]])

    def _states(self) -> Tally:
        prefix = TOKEN_PREFIXES[FacetName.STATE]
        tally = self._with_postings(FacetName.STATE, self._by_prefix[prefix])
        counts = Counter({token: count for token, count in tally.counts.items() if token.endswith(_SHOWN)})
        hidden = count_hidden(self._matches, self._clock)
        for state, count in (hidden or {}).items():
            shown = sum(one.count for one in self._matches.values()) if state == ANY else 0
            counts[f"{prefix}{state}"] += count + shown
        return Tally(counts, tally.is_partial or hidden is None)

    def _with_postings(self, name: FacetName, known: Counts) -> Tally:
        total = Counter(known)
        large = self._of_kinds(name)
        is_partial = not self._is_read or self._is_capped(large)
        for one in large:
            values = self._postings[one.kind].of(name)
            if values is None:
                is_partial = True
                total.update(self._sampled(self._samples[one.kind], name))
            else:
                mask = self._masks[one.kind]
                total.update({value: mask.count(ids) for value, ids in values.items()})
        if name is FacetName.ROOM:
            total.pop("", None)
        return Tally(+total, is_partial)

    def _sampled(self, rows: list[Row], name: FacetName) -> Counts:
        if name is FacetName.ROOM:
            return Counter(row.room for row in rows)
        return _grouped(count_tokens(rows))[TOKEN_PREFIXES[name]]

    def _of_kinds(self, name: FacetName) -> list[Matches]:
        return [one for one in self._large if one.kind in KINDS.get(name, Kind)]

    def _is_capped(self, large: list[Matches]) -> bool:
        return any(one.is_capped for one in large)

    @cached_property
    def _by_prefix(self) -> dict[str, Counts]:
        return _grouped(count_tokens(self._rows))


def _grouped(tokens: Counts) -> dict[str, Counts]:
    """Return the counts by what their tokens begin with."""
    groups: dict[str, Counts] = defaultdict(Counter)
    for token, count in tokens.items():
        groups[token[:2]][token] = count
    return groups
