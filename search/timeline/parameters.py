"""What the timeline page is asked: anchor, depths and filters, read from the address."""

import re
from dataclasses import dataclass
from datetime import tzinfo

from django.http import QueryDict

from search.request import NormalizedRequest, normalize_params
from search.timeline.builder import DEFAULT_DEPTH, MAX_DEPTH

ALL_PROJECTS = "all"
# The second names are claude-mem's.
_DEPTH_NAMES = {"before": ("before", "depth_before"), "after": ("after", "depth_after")}
_OWN = ("anchor", "scope", *(name for names in _DEPTH_NAMES.values() for name in names))
_NUMBER = re.compile(r"\d+", re.ASCII)


class DepthError(ValueError):
    """A depth that is no number; the message names it and what is accepted."""


@dataclass(frozen=True, slots=True)
class Parameters:
    """Anchor and depths as given, and the filters; `notes` says what was limited."""

    anchor: str
    before: int
    after: int
    all_projects: bool
    normalized: NormalizedRequest
    notes: tuple[str, ...] = ()


def read_parameters(given: QueryDict, zone: tzinfo) -> Parameters:
    """Read the parameters of the page; raises DepthError. A depth above the largest is limited, and a note says so."""
    depths, notes = {}, []
    for side, names in _DEPTH_NAMES.items():
        text = next((text for name in names if (text := str(given.get(name, "")).strip())), str(DEFAULT_DEPTH))
        depths[side] = read_depth(side, text)
        if depths[side] == MAX_DEPTH and text.lstrip("0") != str(MAX_DEPTH):
            notes.append(f"{side}: at most {MAX_DEPTH} memories are shown on one side.")
    # Here "before" and "after" are depths; everywhere else they are names of times.
    filters = given.copy()
    for name in _OWN:
        filters.pop(name, None)
    return Parameters(
        anchor=given.get("anchor", ""),
        before=depths["before"],
        after=depths["after"],
        all_projects=given.get("scope") == ALL_PROJECTS,
        normalized=normalize_params(filters, zone),
        notes=tuple(notes),
    )


def read_depth(name: str, text: str) -> int:
    """Return a depth, limited to the largest; raises DepthError with the name for what is no number."""
    text = text.strip()
    if not _NUMBER.fullmatch(text):
        raise DepthError(f"{name}: “{text[:40]}” is not a number of memories; accepted are 0 to {MAX_DEPTH}")
    digits = text.lstrip("0") or "0"
    return min(int(digits), MAX_DEPTH) if len(digits) <= len(str(MAX_DEPTH)) else MAX_DEPTH
