"""What stands around a memory: its place in the session, other memories of its files, the most similar ones."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo

from django.db.models import F

from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import Memory, ObservationFile, State, SummaryFile, UserPrompt, memory_model
from memweb.memories.models.base import field_texts
from search.analysis import clean
from search.browse.run import Place, read_window, read_window_before
from search.keyword.compiler import is_stop_word
from search.keyword.rows import Key
from search.orchestrator import SearchOrchestrator
from search.query import And, Node, Or, Word, to_text
from search.request import Mode, Order, SearchRequest
from search.results import Hit

SAME_FILES = 5
SIMILAR = 5
QUERY_LENGTH = 300
# Of so many words, the longest, any are searched for where meaning cannot be.
SHARED_WORDS = 12
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Link:
    """A memory to go to."""

    ref: str
    url: str
    kind: str
    kind_label: str
    title: str
    created_at: datetime | None


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What leads on from a memory; None and empty where there is nothing."""

    prompt: Link | None
    previous: Link | None
    following: Link | None
    same_files: list[Link]
    superseded_by: Link | None
    supersedes: list[Link]


@dataclass(frozen=True, slots=True)
class Similar:
    """The most similar memories, and by what they were found."""

    links: list[Link]
    way: str


def surroundings_of(memory: Memory) -> Surroundings:
    """Return what stands around a memory, in a fixed number of statements."""
    keys: dict[str, Key | None] = {"prompt": None, "previous": None, "following": None}
    if memory.session is not None:
        place: Place = (memory.created_at, memory.kind, memory.pk)
        before = read_window_before(memory.session, 1, place).keys
        after = read_window(memory.session, 1, place).keys
        keys = {
            "prompt": _prompt_before(memory),
            "previous": before[0] if before else None,
            "following": after[0] if after else None,
        }
    same_files = list(_same_files(memory))
    newer: Memory | None = memory.superseded_by
    older = list(type(memory)._default_manager.filter(superseded_by=memory).order_by("-pk")[:SAME_FILES])
    links = _links([*filter(None, keys.values()), *same_files])
    return Surroundings(
        prompt=links.get(keys["prompt"]) if keys["prompt"] else None,
        previous=links.get(keys["previous"]) if keys["previous"] else None,
        following=links.get(keys["following"]) if keys["following"] else None,
        same_files=[links[key] for key in same_files if key in links],
        superseded_by=_link(newer) if newer is not None else None,
        supersedes=[_link(one) for one in older],
    )


def similar_to(memory: Memory, zone: tzinfo) -> Similar:
    """Return the memories nearest in meaning to a memory; where meaning cannot be searched, those that share words."""
    text = clean(" ".join([memory.heading, *_texts(memory)]))[:QUERY_LENGTH]
    words = [Word(word.lower()) for word in _WORD.findall(text) if len(word) > 1]
    if not words:
        return Similar([], "")
    hits, by_meaning = _found(And(tuple(words)), Mode.HYBRID, zone)
    if not by_meaning:
        telling = [word for word in dict.fromkeys(words) if not is_stop_word(word)]
        longest = sorted(telling, key=lambda word: len(word.text), reverse=True)[:SHARED_WORDS]
        hits = _found(Or(tuple(longest)), Mode.KEYWORD, zone)[0] if longest else ()
    links = [_link(hit.memory) for hit in hits if hit.ref != memory.ref][:SIMILAR]
    return Similar(links, "by words and meaning" if by_meaning else "by shared words")


def _found(tree: Node, mode: Mode, zone: tzinfo) -> tuple[Sequence[Hit], bool]:
    """Return hits, and whether meaning took part in finding them."""
    # The blank at the end ends the last word.
    asked = SearchRequest(query=f"{to_text(tree)} ", mode=mode, order=Order.RELEVANCE, limit=SIMILAR + 1)
    result = SearchOrchestrator(zone).search(asked, with_facets=False)
    return () if result.is_weak else result.hits, result.strategy in {"hybrid", "chroma"}


def _texts(memory: Memory) -> Iterable[str]:
    return [text for name in memory.body_fields for text in field_texts(getattr(memory, name))]


def _prompt_before(memory: Memory) -> Key | None:
    """Return the prompt that led to a memory: the one of its number, else the last one before it."""
    if memory.kind is Kind.PROMPT:
        return None
    prompts = UserPrompt.objects.filter(session=memory.session, state=State.ACTIVE, is_noise=False)
    found = None
    if memory.prompt_number is not None:
        found = prompts.filter(prompt_number=memory.prompt_number).order_by("pk").values_list("pk").first()
    if found is None and memory.created_at is not None:
        earlier = prompts.filter(created_at__lte=memory.created_at)
        found = earlier.order_by("-created_at", "-pk").values_list("pk").first()
    return (Kind.PROMPT, found[0]) if found else None


def _same_files(memory: Memory) -> Iterable[Key]:
    """Return the newest other memories that mention a file of this one, the newest first."""
    files = [link.file_id for link in memory.file_links.all()] if hasattr(memory, "file_links") else []
    if not files:
        return []
    found: dict[Key, datetime | None] = {}
    for kind, link, name in (
        (Kind.OBSERVATION, ObservationFile, "observation"),
        (Kind.SUMMARY, SummaryFile, "summary"),
    ):
        rows = link.objects.filter(
            file__in=files, **{f"{name}__state": State.ACTIVE, f"{name}__is_noise": False}
        ).order_by(F(f"{name}__created_at").desc(nulls_last=True), f"-{name}")
        for id, moment in rows.values_list(name, f"{name}__created_at").distinct()[: SAME_FILES + 1]:
            found[kind, id] = moment
    found.pop((memory.kind, memory.pk), None)
    return sorted(found, key=lambda key: (found[key] is not None, found[key], key), reverse=True)[:SAME_FILES]


def _links(keys: Iterable[Key]) -> dict[Key, Link]:
    ids: dict[Kind, list[int]] = {}
    for kind, id in dict.fromkeys(keys):
        ids.setdefault(kind, []).append(id)
    return {
        (kind, id): _link(memory)
        for kind, some in ids.items()
        for id, memory in memory_model(kind).objects.for_list().in_bulk(some).items()
    }


def _link(memory: Memory) -> Link:
    return Link(
        ref=str(Ref(memory.kind, memory.pk)),
        url=memory.get_absolute_url(),
        kind=str(memory.kind),
        kind_label=memory.kind.label,
        title=clean(memory.heading),
        created_at=memory.created_at,
    )
