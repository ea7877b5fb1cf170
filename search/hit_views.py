"""Page objects of single hits: what a list shows of each of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.safestring import SafeString

from memweb.memories.models import Memory, TimeQuality
from memweb.memories.models.base import field_texts
from search.actions.marks import Marks, marks_of
from search.analysis import clean
from search.hydration import BY_MEANING
from search.links import Links
from search.places import session_url
from search.query import FieldName
from search.results import Hit
from search.why_views import WhyView, why_view


@dataclass(frozen=True, slots=True)
class HitView:
    ref: str
    url: str
    kind: str
    kind_label: str
    type: str
    title: SafeString | str
    snippet: SafeString | str
    project_label: str
    project_url: str
    session_label: str
    session_url: str
    created_at: datetime | None
    time_note: str
    matched: str
    why: WhyView | None
    files: list[str]
    more_files: int
    concepts: list[tuple[str, str]]
    marks: Marks
    flags: list[str]
    tokens_label: str
    tokens_note: str = ""
    is_weak: bool = False
    before: str = ""
    after: str = ""
    same: tuple[tuple[str, str], ...] = ()


def hit_view(hit: Hit, links: Links, same: Sequence[Hit] = ()) -> HitView:
    """Return what a list shows of one hit; `same` are others of the page that say the same."""
    memory = hit.memory
    return HitView(
        ref=str(hit.ref),
        url=memory.get_absolute_url(),
        kind=str(hit.kind),
        kind_label=hit.kind.label,
        type=clean(getattr(memory, "type", "")),
        title=hit.title_html,
        snippet=hit.snippet_html,
        project_label=clean(memory.project.label),
        project_url=links.toggled(FieldName.PROJECT, memory.project.name),
        session_label=clean(memory.session.label[:80]) if memory.session else "",
        session_url=session_url(memory.session.pk, memory.ref) if memory.session else "",
        created_at=memory.created_at,
        time_note=time_note(memory),
        matched=found_label(hit.explain.matched_via),
        why=why_view(hit),
        files=[clean(path) for path in hit.files[:3]],
        more_files=max(0, len(hit.files) - 3),
        concepts=[(clean(name), links.toggled(FieldName.CONCEPT, name)) for name in hit.concepts],
        marks=marks_of(memory, hit.tags),
        flags=[flag for flag in memory.flags if flag not in {"doubtful", "pinned"}],
        tokens_label=f"~{reading_tokens(memory):,} tokens to read",
        tokens_note=f"{memory.discovery_tokens:,} tokens to find out" if memory.discovery_tokens else "",
        is_weak=hit.is_weak,
        before=hit.before,
        after=hit.after,
        same=tuple((str(one.ref), one.memory.get_absolute_url()) for one in same),
    )


def found_label(matched_via: str) -> str:
    """Return in words where a hit was found; empty when there was nothing to find."""
    fields = [name for name in matched_via.split(", ") if name and name != BY_MEANING]
    parts = [f"in {', '.join(fields)}"] if fields else []
    if len(fields) < len(matched_via.split(", ")) and matched_via:
        parts.append("by meaning")
    return f"Found {' and '.join(parts)}" if parts else ""


def reading_tokens(memory: Memory) -> int:
    """Return about how many tokens a language model reads: a quarter of the characters, as claude-mem counts them."""
    names = dict.fromkeys([*memory.title_fields, *memory.body_fields])
    return -(-sum(len(text) for name in names for text in field_texts(getattr(memory, name))) // 4)


def time_note(memory: Memory) -> str:
    """Return what must be said of a memory's time; empty when it can be trusted."""
    match memory.time_quality:
        case TimeQuality.UNKNOWN:
            return "time unknown"
        case TimeQuality.DOUBTFUL:
            return "time doubtful"
        case _:
            return ""
