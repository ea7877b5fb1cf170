"""Counts in one set of matches: by the rows that were read, and by the index for kinds with too many."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from memweb.memories.kinds import Kind
from search.facets.counting import IndexCounter
from search.facets.matches import Clock, Matches
from search.facets.names import KINDS, TOKEN_PREFIXES, FacetName
from search.facets.reading import Reading, Row, count_tokens
from search.facets.states import ANY, count_hidden

Counts = Counter[str]

# So many values of a facet are asked for one by one, those of most memories.
COUNTED_VALUES = 16
# Flags of memories that are shown like all others.
_SHOWN = ("pinned", "doubtful")


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts of one facet by token, or by value where it is a column.

    `is_partial`: there may be more values. `is_capped`: what is counted may be more, too.
    """

    counts: Counts
    is_partial: bool = False
    is_capped: bool = False


class BaseCounts:
    """What is counted in the matches of one search."""

    def __init__(self, matches: Mapping[Kind, Matches], reading: Reading, clock: Clock) -> None:
        self._matches = matches
        self._clock = clock
        self._is_read = reading.is_complete
        self._large = [one for one in matches.values() if one.is_capped]
        self._rows = reading.of({kind: one for kind, one in matches.items() if not one.is_capped})
        self._samples = {one.kind: reading.of({one.kind: one}) for one in self._large}

    @property
    def is_large(self) -> bool:
        """Whether not all rows were to be read."""
        return bool(self._large)

    @property
    def rows(self) -> list[Row]:
        """All rows that were read."""
        return [*self._rows, *(row for rows in self._samples.values() for row in rows)]

    def tally(self, name: FacetName, written: Sequence[str] = (), most: int = COUNTED_VALUES) -> Tally:
        """Return the counts of a facet; those of files are left to the tree of folders.

        Where each token is a question to the index, the `written` ones are counted and so many others.
        """
        is_sample = bool(self._large) or not self._is_read
        match name:
            case FacetName.KIND:
                counts = Counter({str(kind): one.count for kind, one in self._matches.items()})
                is_unknown = any(one.total is None for one in self._matches.values())
                return Tally(+counts, is_capped=is_unknown)
            case FacetName.AGENT:
                counts = Counter(row.agent for row in self.rows if row.agent.strip())
                return Tally(counts, is_sample, is_sample)
            case FacetName.FILE:
                return Tally(Counter(), is_sample, is_sample)
            case FacetName.ROOM:
                return self._rooms()
            case FacetName.STATE:
                return self._states()
            case _:
                return self._tokens(name, written, most)

    def _states(self) -> Tally:
        prefix = TOKEN_PREFIXES[FacetName.STATE]
        tally = self._tokens(FacetName.STATE, (), COUNTED_VALUES)
        counts = Counter({token: count for token, count in tally.counts.items() if token.endswith(_SHOWN)})
        hidden = count_hidden(self._matches, self._clock)
        for state, count in (hidden or {}).items():
            shown = sum(one.count for one in self._matches.values()) if state == ANY else 0
            counts[f"{prefix}{state}"] += count + shown
        return Tally(counts, tally.is_partial or hidden is None, tally.is_capped or hidden is None)

    def _rooms(self) -> Tally:
        counts = Counter(row.room for row in self._rows if row.room.strip())
        is_capped = not self._is_read
        for one in self._of_kinds(FacetName.ROOM):
            rooms = self._indexes[one.kind].rooms() if one.is_countable else None
            is_capped = is_capped or rooms is None
            counts.update(Counter(row.room for row in self._samples[one.kind]) if rooms is None else rooms)
        counts.pop("", None)
        return Tally(counts, is_capped, is_capped)

    def _tokens(self, name: FacetName, written: Sequence[str], most: int) -> Tally:
        known = self._by_prefix[TOKEN_PREFIXES[name]]
        large = self._of_kinds(name)
        if not large:
            return Tally(known, not self._is_read, not self._is_read)
        if all(one.is_countable for one in large) and (tally := self._indexed(large, name, known, written, most)):
            return tally
        sample = _grouped(count_tokens(row for one in large for row in self._samples[one.kind]))
        return Tally(known + sample[TOKEN_PREFIXES[name]], is_partial=True, is_capped=True)

    def _indexed(
        self, large: Sequence[Matches], name: FacetName, known: Counts, written: Sequence[str], most: int
    ) -> Tally | None:
        """Return the counts of a facet with the help of the indexes; None when they cannot give them in time."""
        indexes = [self._indexes[one.kind] for one in large]
        documents = [index.documents(name) for index in indexes]
        together = Counter(known)
        for some in documents:
            if some is None:
                return None
            together.update(some)
        if all(index.is_whole for index in indexes):
            return Tally(together, not self._is_read, not self._is_read)
        tokens = [token for token, _ in together.most_common(most)]
        tokens += [token for token in written if token not in tokens]
        total = Counter({token: known[token] for token in tokens})
        for index in indexes:
            counts = index.count(tokens)
            if counts is None:
                return None
            total.update(counts)
        return Tally(+total, len(together) > most or not self._is_read, not self._is_read)

    def _of_kinds(self, name: FacetName) -> list[Matches]:
        return [one for one in self._large if one.kind in KINDS.get(name, Kind)]

    @cached_property
    def _indexes(self) -> dict[Kind, IndexCounter]:
        return {one.kind: IndexCounter(one, self._clock) for one in self._large if one.is_countable}

    @cached_property
    def _by_prefix(self) -> dict[str, Counts]:
        return _grouped(count_tokens(self._rows))


def _grouped(tokens: Counts) -> dict[str, Counts]:
    """Return the counts by what their tokens begin with."""
    groups: dict[str, Counts] = defaultdict(Counter)
    for token, count in tokens.items():
        groups[token[:2]][token] = count
    return groups
