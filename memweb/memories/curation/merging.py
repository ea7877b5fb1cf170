"""Memories that stand for each other: one replaces another, several become one, one becomes several."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from memweb.memories.curation.editing import checked_values
from memweb.memories.curation.permissions import require_curator
from memweb.memories.curation.recording import begin, change, create
from memweb.memories.curation.values import TEXT_FIELDS, Values, values_of
from memweb.memories.curation.verbs import MOST_AT_ONCE, memories_named
from memweb.memories.kinds import Ref
from memweb.memories.models import ChangeSet, Memory, memory_model

MOST_PARTS = 50


def supersede(user: User, old: Sequence[Ref], new: Ref, reason: str = "") -> ChangeSet:
    """Say that `new` replaces others of its kind: these leave default search, and both sides are linked.

    Raises ValidationError when one would come to replace itself, kinds differ or memories are missing.
    """
    require_curator(user)
    old = _checked_group(old, new)
    with transaction.atomic():
        found = _memories_of_group(new, old, labels=False)
        change_set = begin(user, "supersede", f"{new} replaces {_named(old)}", reason)
        change(change_set, [(found[ref], {"superseded_by_id": new.id}) for ref in old])
    return change_set


def unsupersede(user: User, ref: Ref, reason: str = "") -> ChangeSet:
    """Take back that something replaces a memory, which takes a merged one out of its merge."""
    require_curator(user)
    with transaction.atomic():
        memory = memories_named([ref], labels=False)[ref]
        if memory.superseded_by_id is None:  # type: ignore[attr-defined]
            raise ValidationError(f"Nothing replaces {ref}.")
        change_set = begin(user, "unsupersede", f"{ref} stands for itself again", reason)
        change(change_set, [(memory, {"superseded_by_id": None})])
    return change_set


def merge(
    user: User, keep: Ref, others: Sequence[Ref], values: Mapping[str, Any] | None = None, reason: str = ""
) -> ChangeSet:
    """Make several memories of one kind one: `keep` gets the union of facts, concepts, files and tags, the others stay
    as what it supersedes. `values` are texts that were composed for it.

    Undoing the change set is the unmerge. Raises ValidationError for what cannot be merged.
    """
    require_curator(user)
    others = _checked_group(others, keep)
    with transaction.atomic():
        found = _memories_of_group(keep, others, labels=True)
        new = united_values([found[keep], *(found[ref] for ref in others)])
        new |= checked_values(keep.kind, values or {})
        change_set = begin(user, "merge", f"Merged {_named(others)} into {keep}", reason)
        change(
            change_set,
            [(found[keep], new), *((found[ref], {"superseded_by_id": keep.id}) for ref in others)],
        )
    return change_set


def united_values(memories: Sequence[Memory]) -> Values:
    """Return what a merge unites: facts in order without repetition, concepts, files and tags as sets, pin and notes.

    Empty texts of the first are filled with the first text that another has.
    """
    first, kind = values_of(memories[0]), memories[0].kind
    all_values = [first, *(values_of(memory) for memory in memories[1:])]
    united: Values = {"pinned": any(values["pinned"] for values in all_values)}
    notes = list(dict.fromkeys(values["note"] for values in all_values if values["note"]))
    united["note"] = "\n\n".join(notes)
    for name in ("tags", "concepts", "files"):
        if name in first:
            unique = {tuple(one) if isinstance(one, list) else one for values in all_values for one in values[name]}
            united[name] = [list(one) if isinstance(one, tuple) else one for one in sorted(unique)]
    if "facts" in first:
        facts: list[Any] = []
        for values in all_values:
            facts += [fact for fact in values["facts"] if fact not in facts]
        united["facts"] = facts
    for name in TEXT_FIELDS[kind]:
        if name != "facts" and first[name] in ("", None):
            united[name] = next((values[name] for values in all_values if values[name] not in ("", None)), first[name])
    return united


def split(user: User, ref: Ref, parts: Sequence[str], reason: str = "") -> tuple[ChangeSet, list[Memory]]:
    """Cut a memory into several: it keeps the first part, new ones beside it get the others; return these.

    The parts replace the text in the field that `split_field` names. New memories have project, session, time, type and
    labels of the first. Raises ValidationError for fewer than two parts.
    """
    require_curator(user)
    parts = [part.strip() for part in parts if part.strip()]
    if not 2 <= len(parts) <= MOST_PARTS:
        raise ValidationError(f"Two to {MOST_PARTS} parts are needed, and there are {len(parts)}.")
    with transaction.atomic():
        memory = memories_named([ref], labels=True)[ref]
        name = split_field(memory)
        texts = [checked_values(ref.kind, {name: part})[name] for part in parts]
        change_set = begin(user, "split", f"Split {ref} into {len(parts)}", reason)
        values = values_of(memory)
        change(change_set, [(memory, {name: texts[0]})])
        made = []
        for number, text in enumerate(texts[1:], 2):
            new = {**values, name: text, "superseded_by_id": None, "wrong_reason": None}
            if values.get("title"):
                new["title"] = f"{values['title']} ({number})"
            if "facts" in new:
                new["facts"] = []
            made.append(create(change_set, memory_model(ref.kind)(agent=memory.agent), new))
    return change_set, made


def split_field(memory: Memory) -> str:
    """Return the name of the field with the longest text, which a split cuts."""
    names = [name for name in TEXT_FIELDS[memory.kind] if name not in {"facts", "type", "title", "room", "chunk_index"}]
    return max(names, key=lambda name: len(getattr(memory, name) or ""))


def _checked_group(others: Sequence[Ref], one: Ref) -> list[Ref]:
    others = list(dict.fromkeys(others))
    if not others:
        raise ValidationError("Choose at least two memories.")
    if one in others:
        raise ValidationError(f"{one} cannot replace itself.")
    if any(ref.kind is not one.kind for ref in others):
        raise ValidationError(f"Only memories of one kind can stand for each other; {one} is a {one.kind.label}.")
    if len(others) > MOST_AT_ONCE:
        raise ValidationError(f"{len(others)} memories are too many at once; at most {MOST_AT_ONCE} can be chosen.")
    return others


def _memories_of_group(one: Ref, others: list[Ref], *, labels: bool) -> dict[Ref, Memory]:
    """Return a memory and those that it is to replace; raises ValidationError for missing ones and for circles."""
    found = memories_named([one, *others], labels=labels)
    _refuse_circle(found[one], {ref.id for ref in others})
    return found


def _refuse_circle(memory: Memory, replaced: set[int]) -> None:
    """Raise ValidationError when what replaces `memory` is, however far up, one that it is to replace."""
    seen: set[int] = set()
    next_id: int | None = memory.superseded_by_id  # type: ignore[attr-defined]
    while next_id is not None and next_id not in seen:
        if next_id in replaced:
            raise ValidationError(
                f"{Ref(memory.kind, next_id)} replaces {memory.ref} already, so {memory.ref} cannot replace it."
            )
        seen.add(next_id)
        rows = type(memory)._default_manager.filter(pk=next_id)
        next_id = rows.values_list("superseded_by_id", flat=True).first()


def _named(refs: Sequence[Ref]) -> str:
    return ", ".join(map(str, refs[:5])) + (f" and {len(refs) - 5:,} more" if len(refs) > 5 else "")
