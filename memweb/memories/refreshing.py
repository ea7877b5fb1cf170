"""Keeps index terms true when what memories share changes: a label or a session is renamed, put on or taken off."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db import models
from django.db.models.signals import m2m_changed, post_delete, post_save, pre_delete, pre_save

from memweb.memories.models import MEMORY_MODELS, Concept, FilePath, Memory, Session, Tag
from memweb.memories.queries import TERM_COLUMNS

BATCH = 300

# What of each is in the index terms of its memories.
INDEXED_FIELDS: dict[type[models.Model], str] = {
    Concept: "name",
    FilePath: "path",
    Session: "platform",
    Tag: "name",
}

Owners = list[tuple[type[Memory], list[int]]]


def refresh_terms(model: type[Memory], ids: Sequence[int]) -> None:
    """Compute the index terms of these memories anew, BATCH at a time; only terms that were stale are written."""
    for start in range(0, len(ids), BATCH):
        stale = []
        for row in model.objects.for_indexing().filter(pk__in=ids[start : start + BATCH]):
            before = _terms(row)
            row.compute_terms()
            if _terms(row) != before:
                stale.append(row)
        model.objects.bulk_update(stale, TERM_COLUMNS, batch_size=100)


def connect() -> None:
    """Listen to everything that can make terms stale behind the back of a memory."""
    for label in INDEXED_FIELDS:
        pre_save.connect(note_renaming, sender=label)
        post_save.connect(follow_owners, sender=label)
    # A file path that memories have cannot be deleted.
    for label in (Concept, Session, Tag):
        pre_delete.connect(note_owners, sender=label)
        post_delete.connect(follow_owners, sender=label)
    for model in MEMORY_MODELS.values():
        for field in model._meta.many_to_many:
            m2m_changed.connect(follow_links, sender=field.remote_field.through)


def note_renaming(sender: type[models.Model], instance: Any, raw: bool = False, **kwargs: Any) -> None:
    """Remember whose terms a save will make stale; nobody's when it changes nothing that is indexed."""
    name, fields = INDEXED_FIELDS[sender], kwargs.get("update_fields")
    instance._owners = []
    if raw or instance._state.adding or (fields is not None and name not in fields):
        return
    if not sender._default_manager.filter(pk=instance.pk, **{name: getattr(instance, name)}).exists():
        instance._owners = owners(instance)


def note_owners(sender: type[models.Model], instance: Any, **kwargs: Any) -> None:
    instance._owners = owners(instance)


def follow_owners(sender: type[models.Model], instance: Any, **kwargs: Any) -> None:
    """Refresh the memories that were remembered before."""
    for model, ids in instance.__dict__.pop("_owners", []):
        refresh_terms(model, ids)


def follow_links(
    sender: type[models.Model],
    instance: Any,
    action: str,
    reverse: bool,
    model: type[Any],
    pk_set: Iterable[int] | None,
    **kwargs: Any,
) -> None:
    """Refresh memories to which labels were added or from which they were taken, from either side."""
    if action == "pre_clear" and reverse:
        note_owners(sender, instance)
    if not action.startswith("post_"):
        return
    if not reverse:
        refresh_terms(type(instance), [instance.pk])
    elif pk_set is None:
        follow_owners(sender, instance)
    else:
        refresh_terms(model, list(pk_set))


def owners(label: models.Model) -> Owners:
    """Return the memories that have a label or belong to a session, as ids by model."""
    return [
        (model, list(model.objects.filter(**{name: label}).values_list("pk", flat=True).distinct()))
        for model, name in _ways_to(type(label))
    ]


def _ways_to(label: type[models.Model]) -> Iterator[tuple[type[Memory], str]]:
    for model in MEMORY_MODELS.values():
        for field in (*model._meta.fields, *model._meta.many_to_many):
            if field.related_model is label:
                yield model, field.name


def _terms(row: Memory) -> list[str]:
    return [getattr(row, name) for name in TERM_COLUMNS]
