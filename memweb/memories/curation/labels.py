"""Concepts, tags and file paths under other names; two that get the same name become one."""

from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from memweb.memories.curation.names import tag_names, text_line
from memweb.memories.curation.permissions import require_curator
from memweb.memories.curation.recording import begin, change
from memweb.memories.curation.values import memories_in
from memweb.memories.kinds import Ref
from memweb.memories.models import ChangeSet, Concept, FilePath, LabelAlias, Memory, Tag
from memweb.memories.refreshing import owners

LONGEST_NAME = 500
AT_ONCE = 300
_LABELS: dict[str, tuple[Any, str, str]] = {
    "concept": (Concept, "name", "concepts"),
    "tag": (Tag, "name", "tags"),
    "file": (FilePath, "path", "files"),
}


def rename_label(user: User, label: str, old: str, new: str, reason: str = "") -> ChangeSet:
    """Give a concept, a tag or a file (`label`) another name, on every memory that has it; can be undone.

    When there is one of the new name, the two become one. Later imports that bring the old name of a concept or file
    get the new one. Raises ValidationError when there is no such label or the name cannot be used.
    """
    require_curator(user)
    model, field, _ = _LABELS[label]
    row = model.objects.filter(**{field: old}).first()
    if row is None:
        raise ValidationError(f"There is no {label} “{old[:80]}”.")
    new = _checked_name(label, new)
    if new == old:
        raise ValidationError(f"The {label} has this name already.")
    with transaction.atomic():
        change_set = begin(user, "rename", f"Renamed the {label} “{old}” to “{new}”", reason)
        _rename(change_set, label, [row], {old: new})
    return change_set


def move_folder(user: User, old: str, new: str, reason: str = "") -> ChangeSet:
    """Rename every file below a folder, as when it was moved; can be undone. ValidationError when nothing is there."""
    require_curator(user)
    old, new = (_checked_name("file", text).rstrip("/") + "/" for text in (old, new))
    with transaction.atomic():
        rows = [row for row in FilePath.objects.filter(path__startswith=old) if row.path.startswith(old)]
        if not rows:
            raise ValidationError(f"Nothing is remembered about files in “{old[:80]}”.")
        change_set = begin(user, "rename", f"Moved the folder “{old}” to “{new}”", reason)
        _rename(change_set, "file", rows, {row.path: new + row.path[len(old) :] for row in rows})
    return change_set


def _rename(change_set: ChangeSet, label: str, rows: list[Any], names: dict[str, str]) -> None:
    field = _LABELS[label][2]
    refs = {Ref(model.kind, id): None for row in rows for model, ids in owners(row) for id in ids}
    wanted = list(refs)
    for start in range(0, len(wanted), AT_ONCE):
        found = memories_in(wanted[start : start + AT_ONCE], labels=True)
        change(change_set, [(memory, _renamed(memory, field, names)) for memory in found.values()])
    if label != "tag":
        for old, new in names.items():
            LabelAlias.objects.filter(label=label, name=new).delete()
            LabelAlias.objects.filter(label=label, present_name=old).update(present_name=new)
            LabelAlias.objects.update_or_create(label=label, name=old, defaults={"present_name": new})


def _renamed(memory: Memory, field: str, names: dict[str, str]) -> dict[str, Any]:
    if field == "files":
        if hasattr(memory, "file_links"):
            pairs = {(names.get(link.file.path, link.file.path), str(link.role)) for link in memory.file_links.all()}
            return {"files": [list(pair) for pair in sorted(pairs)]}
        path: str = memory.file.path  # type: ignore[attr-defined]
        return {"file": names.get(path, path)}
    return {field: sorted({names.get(one.name, one.name) for one in getattr(memory, field).all()})}


def _checked_name(label: str, name: str) -> str:
    if label != "tag":
        return text_line(name, "name", longest=LONGEST_NAME)
    names = tag_names(name)
    if len(names) != 1:
        raise ValidationError("Give one name, without commas.")
    return names[0]
