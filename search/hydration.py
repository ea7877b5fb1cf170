"""Keys of rows -> hits that can be shown, in a fixed number of statements whatever the number of hits."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from django.db.models import Value
from django.db.models.functions import Left

from memweb.memories.kinds import Kind
from memweb.memories.models import Concept, Drawer, FilePath, Memory, State, Tag, memory_model
from memweb.memories.models.base import field_texts
from search.analysis import clean
from search.fusion.sequences import read_sequences
from search.highlight import Highlighter, flattened
from search.keyword.expression import AnyPhrase
from search.keyword.rows import Key
from search.results import Explanation, Hit, Relevance

_NAMES: dict[str, tuple[type[Concept] | type[FilePath] | type[Tag], str]] = {
    "=c": (Concept, "name"),
    "=f": (FilePath, "path"),
    "=g": (Tag, "name"),
}
_FIELD_LABELS = {"next_steps": "next steps"}
BY_MEANING = "meaning"
BESIDE_LENGTH = 160
_UNRANKED = Relevance(None, Explanation())


def hydrate(keys: Sequence[Key], relevances: Mapping[Key, Relevance], words: Sequence[AnyPhrase]) -> list[Hit]:
    """Return the hits of these rows in the same order; rows that no longer exist are left out."""
    memories = _memories(keys)
    names = label_names(memories.values())
    beside = texts_beside([id for kind, id in memories if kind is Kind.DRAWER])
    highlighter = Highlighter(words)
    hits = []
    for key in keys:
        memory = memories.get(key)
        if memory is not None:
            hit = _hit(memory, names, highlighter, relevances.get(key, _UNRANKED))
            before, after = beside.get(key[1], ("", "")) if key[0] is Kind.DRAWER else ("", "")
            hits.append(replace(hit, before=before, after=after) if before or after else hit)
    return hits


def texts_beside(drawers: Sequence[int]) -> dict[int, tuple[str, str]]:
    """Return the beginnings of the drawers before and after each of these in its session, else in its file."""
    if not drawers:
        return {}
    sequences = read_sequences(drawers, 1)
    pairs = {id: sequences.beside(id) for id in drawers}
    wanted = {one for pair in pairs.values() for one in pair if one is not None}
    if not wanted:
        return {}
    shown = Drawer.objects.filter(pk__in=wanted, state=State.ACTIVE, is_noise=False)
    texts = {
        id: _plain_snippet(flattened(text), BESIDE_LENGTH)
        for id, text in shown.annotate(beginning=Left("text", 4 * BESIDE_LENGTH)).values_list("pk", "beginning")
    }
    return {id: (texts.get(before or 0, ""), texts.get(after or 0, "")) for id, (before, after) in pairs.items()}


def _memories(keys: Iterable[Key]) -> dict[Key, Memory]:
    ids: dict[Kind, list[int]] = {}
    for kind, id in keys:
        ids.setdefault(kind, []).append(id)
    found: dict[Key, Memory] = {}
    for kind, wanted in ids.items():
        rows = memory_model(kind).objects.for_list().in_bulk(wanted)
        found |= {(kind, id): memory for id, memory in rows.items()}
    return found


def label_names(memories: Iterable[Memory]) -> dict[str, str]:
    """Return the names of all filter tokens for concepts, files and tags; the tokens of a row say what it has."""
    ids: dict[str, set[int]] = {prefix: set() for prefix in _NAMES}
    for memory in memories:
        for token in memory.scope_terms.split():
            if token[:2] in ids and token[2:].isdigit():
                ids[token[:2]].add(int(token[2:]))
    if not any(ids.values()):
        return {}
    first, *others = (
        model.objects.filter(pk__in=ids[prefix]).annotate(prefix=Value(prefix)).values_list("prefix", "pk", field)
        for prefix, (model, field) in _NAMES.items()
        if ids[prefix]
    )
    return {f"{prefix}{id}": name for prefix, id, name in first.union(*others, all=True)}


def _hit(memory: Memory, names: Mapping[str, str], highlighter: Highlighter, relevance: Relevance) -> Hit:
    labels: dict[str, list[str]] = {prefix: [] for prefix in _NAMES}
    for token in memory.scope_terms.split():
        if token in names:
            labels[token[:2]].append(names[token])
    concepts, files, tags = (tuple(labels[prefix]) for prefix in _NAMES)
    title = clean(memory.heading)
    matched, best = _matched_fields(memory, highlighter)
    for label, values in (("concepts", concepts), ("files", files), ("tags", tags)):
        if any(highlighter.ranges(value) for value in values):
            matched.append(label)
    if relevance.explain.vector_rank is not None:
        matched.append(BY_MEANING)
    return Hit(
        memory=memory,
        title=title,
        snippet=_plain_snippet(best),
        concepts=concepts,
        files=files,
        tags=tags,
        score=relevance.score,
        explain=replace(relevance.explain, matched_via=", ".join(matched)),
        is_weak=relevance.is_weak,
        title_html=highlighter.marked(title),
        snippet_html=highlighter.snippet(best),
    )


def _matched_fields(memory: Memory, highlighter: Highlighter) -> tuple[list[str], str]:
    """Return the names of the fields that match, and the text to take the snippet from."""
    matched: list[str] = []
    best, best_marks, first = "", 0, ""
    title_fields = memory.title_fields or ("text",)
    for name in (*memory.title_fields, *memory.body_fields):
        for text in map(flattened, field_texts(getattr(memory, name))):
            marks = len(highlighter.ranges(text))
            if marks:
                matched.append(_FIELD_LABELS.get(name, name))
            if name in title_fields and memory.title_fields:
                continue
            first = first or text
            if marks > best_marks:
                best, best_marks = text, marks
    shown = best or first
    # A text of one line is already the heading; a list need not say it twice.
    is_heading = shown == flattened(memory.heading)
    return list(dict.fromkeys(matched)), "" if is_heading else shown


def _plain_snippet(text: str, length: int = 300) -> str:
    return text if len(text) <= length else text[: length - 1].rstrip() + "…"
