"""Hits of one page put together: near-identical ones folded into the first, the rest grouped by session or day."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import tzinfo

from memweb.memories.models.base import field_texts
from search.analysis import normalize
from search.places import session_url
from search.request import Group
from search.results import Hit

UNKNOWN_TIME = "Time unknown"
NO_SESSION = "No session"


@dataclass(frozen=True, slots=True)
class Folded:
    """A hit, and those of the same page that say the same."""

    hit: Hit
    same: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class HitGroup:
    """Hits under one heading, in their order; without grouping the only group has no label."""

    label: str
    url: str
    members: tuple[Folded, ...]


def fold_identical(hits: Sequence[Hit]) -> list[Folded]:
    """Fold hits of one kind and project whose texts differ in capitals, blanks and accents at most into the first."""
    folded: dict[tuple[object, ...], list[Hit]] = {}
    for hit in hits:
        folded.setdefault(_likeness(hit), []).append(hit)
    return [Folded(first, tuple(others)) for first, *others in folded.values()]


def group_hits(members: Sequence[Folded], group: Group | None, zone: tzinfo) -> list[HitGroup]:
    """Return the groups in the order of their first hits; within each the hits keep theirs."""
    if group is None:
        return [HitGroup("", "", tuple(members))] if members else []
    groups: dict[object, list[Folded]] = {}
    for one in members:
        groups.setdefault(_key(one.hit, group, zone), []).append(one)
    return [HitGroup(*_heading(some[0].hit, group, zone), tuple(some)) for some in groups.values()]


def _likeness(hit: Hit) -> tuple[object, ...]:
    memory = hit.memory
    names = dict.fromkeys([*memory.title_fields, *memory.body_fields])
    texts = [" ".join(normalize(text).split()) for name in names for text in field_texts(getattr(memory, name))]
    said = tuple(filter(None, texts))
    # What says nothing is like nothing else.
    return (memory.kind, memory.project_id, said) if said else (memory.kind, memory.pk)


def _key(hit: Hit, group: Group, zone: tzinfo) -> object:
    if group is Group.SESSION:
        return hit.memory.session_id
    return hit.memory.created_at.astimezone(zone).date() if hit.memory.created_at else None


def _heading(hit: Hit, group: Group, zone: tzinfo) -> tuple[str, str]:
    """Return label and address of the group that a hit is in."""
    memory = hit.memory
    if group is Group.SESSION:
        session = memory.session
        return (session.label[:120], session_url(session.pk)) if session else (NO_SESSION, "")
    if memory.created_at is None:
        return UNKNOWN_TIME, ""
    day = memory.created_at.astimezone(zone).date()
    return f"{day:%A} {day.day} {day:%B %Y}", ""
