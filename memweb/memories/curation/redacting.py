"""Replaces a secret everywhere memweb keeps it: in memories, sessions, what sources gave, and history."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Model, Q, TextField
from django.db.models.functions import Cast

from memweb.memories.curation.permissions import require_purger
from memweb.memories.curation.purging import overwrite_freed_pages
from memweb.memories.curation.recording import begin
from memweb.memories.curation.values import TEXT_FIELDS
from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import (
    Change,
    ChangeSet,
    Concept,
    FilePath,
    ImportBatch,
    ImportConflict,
    ImportUpdate,
    Session,
    Tag,
    memory_model,
)

SHORTEST = 4
MASK = "[redacted]"
AT_ONCE = 200
_MEMORY_TEXTS = ("note", "wrong_reason", "agent", "agent_id", "model", "source_row", "source_data")
_SHARED: tuple[tuple[type[Model], tuple[str, ...]], ...] = (
    (Session, ("title", "first_prompt", "source_data")),
    (Change, ("before", "after")),
    (ChangeSet, ("summary", "reason")),
    (ImportUpdate, ("before",)),
    (ImportConflict, ("theirs",)),
    (ImportBatch, ("report", "error")),
    (LogEntry, ("object_repr", "change_message")),
)
_LABELS: tuple[tuple[type[Model], str], ...] = ((Concept, "name"), (Tag, "name"), (FilePath, "path"))


@dataclass(slots=True)
class Redacted:
    """What held a secret: refs of memories, and how many other rows."""

    refs: list[Ref] = field(default_factory=list)
    others: int = 0

    def __str__(self) -> str:
        noun = "memory" if len(self.refs) == 1 else "memories"
        return f"{len(self.refs):,} {noun} and {self.others:,} other entries"


def find_secret(secret: str) -> Redacted:
    """Return what holds a text, literally. Raises ValidationError for one that is too short to be a secret."""
    found = Redacted()
    for model, names in _places(_checked(secret)):
        for row in _rows(model, names, secret):
            _note(found, model, row)
    return found


def redact(user: User, secret: str, reason: str = "", *, mask: str = MASK) -> tuple[ChangeSet, Redacted]:
    """Replace every occurrence of a text, for good, history included; there is no undo.

    Index terms and vectors follow; freed pages of the database file are overwritten, and `memweb index optimize` does
    the same to what the keyword index held. Raises ValidationError for a text that is too short or occurs nowhere,
    PermissionDenied for who may not purge.
    """
    require_purger(user)
    secret = _checked(secret)
    if secret in mask:
        raise ValidationError("The text that is put in its place must not contain it.")
    overwrite_freed_pages()
    redacted = Redacted()
    with transaction.atomic():
        change_set = begin(user, "redact", "Redacted a text everywhere", reason.replace(secret, mask))
        for model, names in _places(secret):
            for row in list(_rows(model, names, secret)):
                _replace(row, names, secret, mask)
                _note(redacted, model, row)
                if hasattr(row, "ref") and model in _memory_models():
                    Change.objects.create(
                        change_set=change_set, kind=row.ref.kind, memory_id=row.pk, before={}, after={}
                    )
        redacted.others += _redact_labels(secret, mask)
        if not redacted.refs and not redacted.others:
            raise ValidationError("This text occurs nowhere; nothing was changed.")
        change_set.summary = f"Redacted a text in {redacted}"
        change_set.save(update_fields=["summary"])
    return change_set, redacted


def _checked(secret: str) -> str:
    if len(secret.strip()) < SHORTEST:
        raise ValidationError(f"A text to redact has at least {SHORTEST} characters; this one would hit too much.")
    return secret


def _memory_models() -> dict[Any, Kind]:
    return {memory_model(kind): kind for kind in Kind}


def _places(secret: str) -> Iterator[tuple[Any, tuple[str, ...]]]:
    for model, kind in _memory_models().items():
        yield model, (*(name for name in TEXT_FIELDS[kind] if name != "chunk_index"), *_MEMORY_TEXTS)
    yield from _SHARED


def _rows(model: Any, names: tuple[str, ...], secret: str) -> Iterator[Any]:
    """Yield rows with the secret in one of these columns; JSON holds it escaped."""
    wanted = Q()
    escaped = {json.dumps(secret, ensure_ascii=flag)[1:-1] for flag in (True, False)}
    casts = {}
    for name in names:
        if model._meta.get_field(name).get_internal_type() == "JSONField":
            casts[f"{name}_text"] = Cast(name, TextField())
            for text in escaped:
                wanted |= Q(**{f"{name}_text__contains": text})
        else:
            wanted |= Q(**{f"{name}__contains": secret})
    rows = model._default_manager.all()
    if model in _memory_models():
        rows = rows.for_indexing()
    ids = list(rows.alias(**casts).filter(wanted).order_by("pk").values_list("pk", flat=True))
    for start in range(0, len(ids), AT_ONCE):
        # `contains` knows no capitals in SQLite; what is replaced is exactly what was given.
        for row in rows.filter(pk__in=ids[start : start + AT_ONCE]):
            if any(_occurs(getattr(row, name), secret) for name in names):
                yield row


def _occurs(value: Any, secret: str) -> bool:
    found = False

    def look(text: str) -> str:
        nonlocal found
        found = found or secret in text
        return text

    _mapped(value, look)
    return found


def _replace(row: Any, names: tuple[str, ...], secret: str, mask: str) -> None:
    for name in names:
        setattr(row, name, _mapped(getattr(row, name), lambda text: text.replace(secret, mask)))
    row.save()


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    match value:
        case str():
            return change(value)
        case list():
            return [_mapped(one, change) for one in value]
        case dict():
            return {change(str(key)): _mapped(one, change) for key, one in value.items()}
        case _:
            return value


def _note(found: Redacted, model: Any, row: Any) -> None:
    if model in _memory_models():
        found.refs.append(row.ref)
    else:
        found.others += 1


def _redact_labels(secret: str, mask: str) -> int:
    """Rename labels with the secret in their name; one that would be there twice gets a number."""
    count = 0
    for model, field_name in _LABELS:
        for row in model._default_manager.filter(**{f"{field_name}__contains": secret}):
            name: str = getattr(row, field_name)
            if secret not in name:
                continue
            name, number = name.replace(secret, mask), 1
            free = name
            while model._default_manager.filter(**{field_name: free}).exclude(pk=row.pk).exists():
                number += 1
                free = f"{name} ({number})"
            setattr(row, field_name, free)
            row.save()
            count += 1
    return count
