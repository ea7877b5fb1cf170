"""Texts of a memory as a session shows them: the beginning, or all."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from django.utils.html import format_html
from django.utils.safestring import SafeString

from memweb.memories.models import Memory
from memweb.rendering import render_markdown
from search.analysis import clean
from search.browse.bounds import shortened
from search.browse.excerpts import EXCERPT
from search.memory_page import SECTIONS, shown_value

FACTS_SHOWN = 20
# What a part and an item take on a page besides their texts.
PART_FRAME, ITEM_FRAME = 80, 20
# So often a text is cut shorter before it is shown without its marks.
CUTS = 3


@dataclass(frozen=True, slots=True)
class Part:
    """One labelled text of a memory; facts are items of a list, of which `more` are left out."""

    label: str
    html: SafeString | str
    items: list[SafeString | str] = field(default_factory=list)
    more: int = 0


def all_parts(memory: Memory) -> list[Part]:
    """Return all texts of a memory, none of them cut."""
    return [
        Part(label, "", [_rendered(str(one)) for one in value])
        if isinstance(value, list)
        else Part(label, _rendered(value))
        for label, value in _texts(memory)
    ]


def first_parts(memory: Memory, size: int) -> tuple[list[Part], bool]:
    """Return the texts of a memory as far as `size` bytes of HTML reach, and whether anything was left out."""
    parts, left, is_cut = [], size, False
    for label, value in _texts(memory):
        left -= PART_FRAME
        texts = list(map(str, value)) if isinstance(value, list) else [value]
        items: list[SafeString | str] = []
        for text in texts[:FACTS_SHOWN]:
            left -= ITEM_FRAME
            if left <= 0:
                break
            html, was_cut = _fitted(text, left)
            left -= _size(html)
            is_cut = is_cut or was_cut
            items.append(html)
        more = len(texts) - len(items)
        is_cut = is_cut or more > 0
        if items:
            parts.append(Part(label, "", items, more) if isinstance(value, list) else Part(label, items[0]))
    return parts, is_cut


def _fitted(text: str, size: int) -> tuple[SafeString | str, bool]:
    """Return as much of a text as HTML as `size` bytes hold, and whether it was cut."""
    beginning = text[: min(size, EXCERPT)]
    for _ in range(CUTS):
        html = _rendered(beginning)
        if (length := _size(html)) <= size:
            return html, beginning != text
        beginning = beginning[: len(beginning) * size * 9 // (10 * length)]
    return shortened(clean(beginning), size), True


def _rendered(text: str) -> SafeString | str:
    """Return Markdown as HTML; as it is where the marks would blow it up."""
    html = render_markdown(text)
    is_blown_up = len(html) > 3 * len(text) + 200
    return format_html('<pre class="plain">{}</pre>', clean(text)) if is_blown_up else html


def _size(html: str) -> int:
    return len(html.encode("utf-8", "replace"))


def _texts(memory: Memory) -> Iterable[tuple[str, list[str] | str]]:
    for name, label in SECTIONS[memory.kind]:
        value = shown_value(memory, name)
        is_said = isinstance(value, str) and value.strip() and not (name == "request" and _is_heading(memory, value))
        if is_said or (isinstance(value, list) and value):
            yield label, value


def _is_heading(memory: Memory, value: str) -> bool:
    return memory.heading == value.strip()
