"""Editing one memory and making one by hand: checked values, and no silent overwriting of somebody else's edit."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from memweb.memories.curation.names import tag_names
from memweb.memories.curation.permissions import require_curator
from memweb.memories.curation.recording import begin, change, create
from memweb.memories.curation.values import FLAGS, TEXT_FIELDS, Values, value_names, values_of
from memweb.memories.curation.verbs import memories_named
from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import ChangeSet, FileRole, Memory, Project, Session, TimeQuality, memory_model
from memweb.memories.models.base import check_year

LONGEST_TEXT = 1_000_000
LONGEST_LINE = 2_000
MOST_LABELS = 500
# What says nothing by itself.
_BESIDE_THE_TEXT = frozenset({"type", "chunk_index", "room", "speaker"})
_LINES = frozenset({"type", "title", "room", "speaker"})


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that somebody else changed meanwhile: what it is now, and what was about to be saved."""

    name: str
    theirs: Any
    yours: Any


class EditConflict(Exception):
    """The memory is no longer what the edit began with. `differences` are what differs from the values to be saved."""

    def __init__(self, memory: Memory, differences: list[Difference]) -> None:
        super().__init__(f"{memory.ref} was changed by somebody else meanwhile")
        self.version = version_of(memory)
        self.differences = differences


def version_of(memory: Memory) -> str:
    """Return what stands for all values of a memory as they are now; an edit hands it back."""
    return sha256(json.dumps(values_of(memory), sort_keys=True).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def editable_names(kind: Kind) -> tuple[str, ...]:
    """Return the values that an edit may set; for the others there are verbs."""
    return tuple(name for name in value_names(kind) if name not in FLAGS)


def edit_memory(
    user: User, ref: Ref, values: Mapping[str, Any], *, version: str = "", reason: str = ""
) -> ChangeSet | None:
    """Give a memory new values (see `curation.values`); return the change set, or None when nothing differed.

    `version` is what `version_of` gave when the edit began. Raises EditConflict when the memory has changed since,
    ValidationError with messages by value for what cannot be saved, PermissionDenied for who may not curate.
    """
    require_curator(user)
    with transaction.atomic():
        memory = memories_named([ref], labels=True)[ref]
        new = checked_values(memory.kind, values)
        if version and version != version_of(memory):
            present = values_of(memory, new)
            differences = [Difference(name, present[name], new[name]) for name in new if present[name] != new[name]]
            if differences:
                raise EditConflict(memory, differences)
        names = [name for name, value in values_of(memory, new).items() if value != new[name]]
        if not names:
            return None
        change_set = begin(user, "edit", f"Edited {ref}: {', '.join(map(value_label, names))}", reason)
        change(change_set, [(memory, new)])
    return change_set


def create_memory(user: User, kind: Kind, values: Mapping[str, Any], *, reason: str = "") -> Memory:
    """Make a memory by hand and return it. It needs a project and a text; without a time it is of now.

    Raises ValidationError with messages by value, PermissionDenied for who may not curate.
    """
    require_curator(user)
    with transaction.atomic():
        given = {"created_at": datetime.now(UTC).isoformat(), **values}
        new = checked_values(kind, given)
        if "project_id" not in new:
            raise ValidationError({"project_id": "Choose the project that this is about."})
        if not any(
            new.get(name) for name in TEXT_FIELDS[kind] if name not in {"type", "chunk_index", "room", "speaker"}
        ):
            raise ValidationError(
                {TEXT_FIELDS[kind][-1] if kind is Kind.OBSERVATION else _main_text(kind): "Write something."}
            )
        change_set = begin(user, "create", f"Wrote a new {kind.label}", reason)
        return create(change_set, memory_model(kind)(agent=user.get_username()), new)


def checked_values(kind: Kind, values: Mapping[str, Any]) -> Values:
    """Return values as they are kept; raises ValidationError with a message for each that cannot be."""
    checked: Values = {}
    errors: dict[str, str] = {}
    for name, value in values.items():
        try:
            if name not in editable_names(kind):
                raise ValidationError(f"A {kind.label} has no {name[:40]} that can be edited.")
            checked[name] = _checked(name, value)
        except ValidationError as error:
            errors[name] = " ".join(error.messages)
    if errors:
        raise ValidationError(errors)
    if "created_at" in checked and "time_quality" not in checked:
        checked["time_quality"] = str(TimeQuality.EXACT if checked["created_at"] else TimeQuality.UNKNOWN)
    return checked


def value_label(name: str) -> str:
    """Return the name of a value as people read it."""
    return {
        "project_id": "project",
        "session_id": "session",
        "created_at": "time",
        "time_quality": "trust in the time",
        "superseded_by_id": "superseded by",
        "wrong_reason": "marked as wrong",
        "chunk_index": "number of the passage",
        "next_steps": "next steps",
    }.get(name, name)


def _main_text(kind: Kind) -> str:
    return "request" if kind is Kind.SUMMARY else "text"


def _checked(name: str, value: Any) -> Any:
    match name:
        case "facts":
            return [_text("fact", one) if isinstance(one, str) else one for one in _list(name, value) if one != ""]
        case "tags":
            names = _list(name, value)
            return sorted(set(tag_names(", ".join(names)))) if names else []
        case "concepts":
            return sorted({line for one in _list(name, value) if (line := _line("concept", one))})
        case "files":
            return _checked_files(value)
        case "chunk_index":
            return _whole_number(value)
        case "project_id":
            if not Project.objects.filter(pk=_whole_number(value) or 0).exists():
                raise ValidationError("There is no such project; choose one that is there.")
            return int(value)
        case "session_id":
            if value is not None and not Session.objects.filter(pk=_whole_number(value) or 0).exists():
                raise ValidationError("There is no such session; choose one that is there, or none.")
            return None if value is None else int(value)
        case "created_at":
            return _checked_time(value)
        case "time_quality":
            if value not in TimeQuality.values:
                raise ValidationError(f"Say one of {', '.join(TimeQuality.values)}.")
            return str(value)
        case "file":
            return _line("file", value)
        case _:
            return _line(name, value) if name in _LINES else _text(name, value)


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise ValidationError(f"The {name} must be a list.")
    if len(value) > MOST_LABELS:
        raise ValidationError(f"{len(value):,} {name} are too many; at most {MOST_LABELS} can be kept.")
    return list(value)


def _checked_files(value: Any) -> list[list[str]]:
    files = []
    for one in _list("files", value):
        path, role = one
        if role not in FileRole.values:
            raise ValidationError(f"A file is {' or '.join(FileRole.values)}, not “{str(role)[:40]}”.")
        if line := _line("file", path):
            files.append((line, str(role)))
    return [list(one) for one in sorted(set(files))]


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValidationError(f"The {value_label(name)} must be a text.")
    if len(value) > LONGEST_TEXT:
        raise ValidationError(f"The {value_label(name)} is longer than {LONGEST_TEXT:,} characters; shorten it.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValidationError(f"The {value_label(name)} has halves of characters; type them anew.") from None
    return value.replace("\r\n", "\n").replace("\x00", "")


def _line(name: str, value: Any) -> str:
    line = " ".join(_text(name, value).split("\n")).strip()
    if len(line) > LONGEST_LINE:
        raise ValidationError(f"The {value_label(name)} is longer than {LONGEST_LINE:,} characters; shorten it.")
    return line


def _whole_number(value: Any) -> int | None:
    if value in (None, ""):
        return None
    try:
        number = int(str(value))
    except ValueError:
        raise ValidationError(f"“{str(value)[:40]}” is not a whole number.") from None
    if abs(number) >= 2**31:
        raise ValidationError("The number is too large.")
    return number


def _checked_time(value: Any) -> str | None:
    if value in (None, ""):
        return None
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        raise ValidationError(
            f"“{str(value)[:40]}” is not a time; write it like 2026-01-20T14:30:00+01:00, or leave it empty."
        ) from None
    if moment.tzinfo is None:
        raise ValidationError("The time needs its zone, such as Z or +01:00 at the end.")
    try:
        check_year(moment)
    except ValidationError as error:
        raise ValidationError(error.messages) from None
    return moment.astimezone(UTC).isoformat()
