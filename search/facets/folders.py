"""The tree of files: what lies in a directory, and how many memories mention each of it."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from search.completions.files import common_beginning, directory_of
from search.facets.postings import Values
from search.facets.tally import Files
from search.keyword.files import Glob, is_glob

_FILE_TOKEN = re.compile(r"=f\d+")


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or directory (these end in `/`) as `file:` takes it, and in how many of the counted memories."""

    path: str
    count: int


class FolderTree:
    """The files of what matches; `paths` are those of their filter tokens."""

    def __init__(self, files: Files, paths: Mapping[str, str]) -> None:
        self._indexed = files.indexed
        self._paths = {token: path.replace("\\", "/") for token, path in paths.items()}
        tokens_of_rows = (_FILE_TOKEN.findall(row.scope) for row in files.rows)
        # Memories of one session often mention the same files.
        self._rows = Counter(tuple(tokens) for tokens in tokens_of_rows if tokens)

    def entries(self, under: str = "") -> list[Entry]:
        """Return what lies in a directory, that of most memories first; all of the tree without one.

        A directory with one way on is passed through.
        """
        return self.count(_next_paths(self._paths.values(), under))

    def holding(self, text: str) -> list[Entry]:
        """Return the files whose path holds a text, capitals or not, those of most memories first."""
        wanted = text.strip().replace("\\", "/").casefold()
        return self.count(path for path in self._paths.values() if wanted in path.casefold())

    def count_written(self, value: str) -> int:
        """Return how many memories a value of `file:` means, as a person may have written it."""
        wanted = value.strip().replace("\\", "/").removeprefix("./")
        if is_glob(wanted):
            matches = Glob(wanted).matches
            meant = {token for token, path in self._paths.items() if matches(path)}
            of_rows = sum(rows for tokens, rows in self._rows.items() if meant.intersection(tokens))
            return of_rows + sum(_distinct(values, meant.intersection(values)) for values in self._indexed)
        if not wanted.strip("/"):
            return 0
        [found] = self.count([wanted])
        # A name that no file has may be that of a directory.
        return found.count or (0 if "/" in wanted else self.count([f"{wanted}/"])[0].count)

    def count(self, paths: Iterable[str]) -> list[Entry]:
        """Return in how many memories each file or directory is, by the rule of `file:`; the most first."""
        by_first: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        wanted = list(dict.fromkeys(paths))
        for path in wanted:
            parts = tuple(path.strip("/").split("/"))
            by_first[parts[0]].append((parts, path))
        holders = {token: found for token, path in self._paths.items() if (found := {*_holders(path, by_first)})}
        counts: Counter[str] = Counter()
        for tokens, rows in self._rows.items():
            found = {entry for token in tokens if token in holders for entry in holders[token]}
            for entry in found:
                counts[entry] += rows
        for values in self._indexed:
            tokens_of: dict[str, list[str]] = defaultdict(list)
            for token in values:
                for entry in holders.get(token, ()):
                    tokens_of[entry].append(token)
            for entry, tokens_of_entry in tokens_of.items():
                counts[entry] += _distinct(values, tokens_of_entry)
        return sorted((Entry(path, counts[path]) for path in wanted), key=lambda one: (-one.count, one.path))


def file_tokens(files: Files) -> set[str]:
    """Return the filter tokens of all files."""
    found = {token for row in files.rows for token in _FILE_TOKEN.findall(row.scope)}
    return found.union(*files.indexed)


def _distinct(values: Values, tokens: Collection[str]) -> int:
    """Return how many memories have any of the tokens."""
    ids = [values[token] for token in tokens]
    return int(np.count_nonzero(np.bincount(np.concatenate(ids)))) if ids else 0


def _next_paths(paths: Iterable[str], under: str) -> Iterator[str]:
    """Yield the files and directories that come next below a directory."""
    groups: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        if path.startswith(under) and len(path) > len(under):
            end = path.find("/", max(len(under), 1)) + 1
            groups[path[:end] if end else path].append(path)
    for name, some in groups.items():
        if len(some) == 1:
            yield some[0]
        elif name.endswith("/"):
            yield directory_of(common_beginning(min(some), max(some)))
        else:
            yield name


def _holders(path: str, by_first: Mapping[str, list[tuple[tuple[str, ...], str]]]) -> Iterator[str]:
    """Yield those of the entries that `file:` finds a path by: from its beginning when they begin with `/`."""
    names = path.strip("/").split("/")
    for place, name in enumerate(names):
        for parts, entry in by_first.get(name, ()):
            end = place + len(parts)
            may_begin = not entry.startswith("/") or (not place and path.startswith("/"))
            is_there = may_begin and tuple(names[place:end]) == parts
            if is_there and (end < len(names) if entry.endswith("/") else "/" in entry or end == len(names)):
                yield entry
