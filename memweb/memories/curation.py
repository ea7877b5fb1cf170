"""The verbs of curation: what people do to memories. Each is one short transaction and notes who did it."""

import re
from collections.abc import Iterable, Sequence

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import ValidationError
from django.db import transaction

from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import Memory, Tag, memory_model
from memweb.memories.refreshing import refresh_terms

LONGEST_TAG = 60
MOST_TAGS = 20
MOST_AT_ONCE = 200
_BLANKS = re.compile(r"\s+")


def tag_memories(user: User, refs: Iterable[Ref], names: str) -> int:
    """Put tags, given with commas between them, on memories; return how many memories there were.

    A tag that is there already, whatever its capitals, is used as it is written. Raises ValidationError for names that
    cannot be used and for memories that are not there.
    """
    wanted = tag_names(names)
    with transaction.atomic():
        memories = _memories(refs)
        tags = [_tag(name) for name in wanted]
        for memory in memories:
            memory.tags.add(*tags)
        _note(user, memories, f"Tagged {', '.join(tag.name for tag in tags)}.")
    return len(memories)


def untag_memory(user: User, ref: Ref, name: str) -> None:
    """Take a tag off a memory; nothing happens when it has none of that name."""
    with transaction.atomic():
        [memory] = _memories([ref])
        tag = memory.tags.filter(name=name).first()
        if tag is not None:
            memory.tags.remove(tag)
            _note(user, [memory], f"Took the tag {name} off.")


def pin_memories(user: User, refs: Iterable[Ref], *, pinned: bool) -> int:
    """Pin memories, or take the pins out; return how many memories there were. ValidationError for missing ones."""
    with transaction.atomic():
        memories = [memory for memory in _memories(refs) if memory.pinned is not pinned]
        for kind in Kind:
            ids = [memory.pk for memory in memories if memory.kind is kind]
            if ids:
                memory_model(kind).objects.filter(pk__in=ids).update(pinned=pinned)
                refresh_terms(memory_model(kind), ids)
        _note(user, memories, "Pinned." if pinned else "Unpinned.")
    return len(memories)


def tag_names(text: str) -> list[str]:
    """Return the names in a text with commas between them, each once; raises ValidationError for what is no tag."""
    names = list(dict.fromkeys(name for part in text.split(",") if (name := _BLANKS.sub(" ", part).strip())))
    if not names:
        raise ValidationError("No tag was given; write one or more, with commas between them.")
    if len(names) > MOST_TAGS:
        raise ValidationError(f"{len(names)} tags are too many at once; at most {MOST_TAGS} can be given.")
    for name in names:
        if len(name) > LONGEST_TAG:
            raise ValidationError(f"The tag “{name[:LONGEST_TAG]}…” is longer than {LONGEST_TAG} characters.")
        if not name.isprintable() or not any(character.isalnum() for character in name):
            raise ValidationError(f"“{ascii(name)[1:-1]}” cannot be a tag; a tag has letters or digits.")
    return names


def _tag(name: str) -> Tag:
    return Tag.objects.filter(name=name).first() or Tag.objects.filter(name__iexact=name).first() or _new_tag(name)


def _new_tag(name: str) -> Tag:
    return Tag.objects.get_or_create(name=name)[0]


def _memories(refs: Iterable[Ref]) -> list[Memory]:
    wanted = list(dict.fromkeys(refs))
    if not wanted:
        raise ValidationError("No memory was chosen.")
    if len(wanted) > MOST_AT_ONCE:
        raise ValidationError(f"{len(wanted)} memories are too many at once; at most {MOST_AT_ONCE} can be chosen.")
    found: dict[Ref, Memory] = {}
    for kind in Kind:
        ids = [ref.id for ref in wanted if ref.kind is kind]
        if ids:
            found |= {Ref(kind, id): row for id, row in memory_model(kind).objects.for_list().in_bulk(ids).items()}
    missing = [str(ref) for ref in wanted if ref not in found]
    if missing:
        raise ValidationError(f"There is no memory {', '.join(missing)}; nothing was changed.")
    return [found[ref] for ref in wanted]


def _note(user: User, memories: Sequence[Memory], message: str) -> None:
    """Write into the history of the memories, which the admin shows too."""
    types = ContentType.objects.get_for_models(*{type(memory) for memory in memories})
    LogEntry.objects.bulk_create(
        [
            LogEntry(
                user=user,
                content_type=types[type(memory)],
                object_id=str(memory.pk),
                object_repr=str(memory)[:200],
                action_flag=CHANGE,
                change_message=message,
            )
            for memory in memories
        ]
    )
