"""What a file filter means: exact path, base name, directory, or glob, always at whole path parts."""

import re
from fnmatch import translate
from functools import lru_cache

from django.db.models import Q

from memweb.memories.kinds import Kind
from memweb.memories.models import FilePath

MAX_FILES = 5000
_GLOB_SIGNS = re.compile(r"[*?\[]")

# Conditions on a memory table (alias m) for more files than there may be filter tokens; ids are numbers of our own.
FILE_LINKS = {
    Kind.OBSERVATION: "m.id IN (SELECT observation_id FROM memories_observationfile WHERE file_id IN ({ids}))",
    Kind.SUMMARY: "m.id IN (SELECT summary_id FROM memories_summaryfile WHERE file_id IN ({ids}))",
    Kind.DRAWER: "m.file_id IN ({ids})",
}


def file_ids(value: str) -> list[int]:
    """Return ids of the file paths that a filter means, at most MAX_FILES.

    `src/auth.py` is that path, also at the end of a longer one; `auth.py` every file of that name; `src/auth/` the
    directory with all below it, `src/auth` too when it is one; `src/auth/*` only what lies directly in it; `*`, `?`
    and `[...]` stay within one part of a path, `**` spans parts.
    """
    wanted = value.strip().replace("\\", "/").removeprefix("./")
    if not wanted.strip("/"):
        return []
    if is_glob(wanted):
        return _glob_ids(wanted)
    exact = Q(path=value) | Q(path=wanted)
    part = wanted.strip("/")
    if "/" not in part and not wanted.endswith("/"):
        exact |= Q(name=part)
    ids = set(FilePath.objects.filter(exact).order_by("pk").values_list("pk", flat=True)[:MAX_FILES])
    if "/" in wanted or not ids:
        pattern = path_pattern(wanted)
        ids |= {pk for pk, path in _candidates(part) if pattern.search(_comparable(path))}
    return sorted(ids)[:MAX_FILES]


def is_glob(value: str) -> bool:
    return _GLOB_SIGNS.search(value) is not None


@lru_cache(maxsize=256)
def path_pattern(value: str) -> re.Pattern[str]:
    """Return the pattern of a path or directory: whole parts, anywhere in a longer path unless it begins with `/`."""
    body = re.escape(value.strip("/"))
    start = r"^/" if value.startswith("/") else r"(?:^|/)"
    return re.compile(start + body + (r"/" if value.endswith("/") else r"(?:/|$)"))


class Glob:
    """A pattern of paths. `*`, `?` and `[...]` stay within one part, a part `**` is any number of parts.

    Decided part by part from the end, so that no pattern takes longer than its parts times those of the path.
    """

    def __init__(self, value: str) -> None:
        parts = value.split("/")
        self._begins_anywhere = parts[0] != ""
        self._is_directory = parts[-1] in {"", "**"}
        if self._is_directory:
            del parts[-1]
        self._parts = [None if part == "**" else re.compile(translate(part)).match for part in reversed(parts)]

    def matches(self, path: str) -> bool:
        """Return whether a path (with `/` only) is meant: as a whole, or from one of its parts on."""
        names = path.split("/")
        # Places in the path at which what is left of the pattern may end.
        ends = set(range(len(names))) if self._is_directory else {len(names)}
        for matches in self._parts:
            if matches is None:
                ends = set(range(max(ends) + 1))
            else:
                ends = {end - 1 for end in ends if end and matches(names[end - 1])}
            if not ends:
                return False
        return self._begins_anywhere or 0 in ends


def _glob_ids(value: str) -> list[int]:
    pattern = Glob(value)
    literal = max(_GLOB_SIGNS.split(re.sub(r"\[[^\]]*\]?", "*", value)), key=len).strip("/")
    found = [pk for pk, path in _candidates(literal) if pattern.matches(_comparable(path))]
    return found[:MAX_FILES]


def _candidates(literal: str) -> list[tuple[int, str]]:
    """Return paths that contain a text; the pattern decides, this only saves reading all of them."""
    last = literal.rsplit("/", 1)[-1]
    paths = FilePath.objects.filter(path__contains=last) if last else FilePath.objects.all()
    return list(paths.order_by("pk").values_list("pk", "path")[: MAX_FILES * 20])


def _comparable(path: str) -> str:
    return path.replace("\\", "/")
