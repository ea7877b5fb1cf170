"""What people put on a memory, and where it can be put: pin and tags."""

from dataclasses import dataclass
from typing import Any

from django.urls import reverse

from memweb.memories.models import Memory
from search.analysis import clean
from search.places import timeline_url


@dataclass(frozen=True, slots=True)
class Marks:
    """Pin and tags of a memory, with the addresses that change them and those that lead on from it."""

    ref: str
    url: str
    timeline_url: str
    markdown_url: str
    pinned: bool
    tags: list[tuple[str, str]]
    pin_url: str
    tag_url: str


def marks_of(memory: Memory, tags: Any = None) -> Marks:
    """Return the marks of a memory; `tags` are the names of its tags where they are known already."""
    names = [tag.name for tag in memory.tags.all()] if tags is None else list(tags)
    ref = str(memory.ref)
    return Marks(
        ref=ref,
        url=memory.get_absolute_url(),
        timeline_url=timeline_url(memory.ref),
        markdown_url=f"{memory.get_absolute_url()}?format=md",
        pinned=memory.pinned,
        tags=[(name, clean(name)) for name in sorted(names)],
        pin_url=reverse("pin", args=[ref]),
        tag_url=reverse("tag", args=[ref]),
    )
