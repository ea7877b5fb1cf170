"""Memories read for long lists: of every text only its beginning, so that a page of long ones stays small."""

from collections.abc import Iterable, Mapping

from django.db.models import TextField
from django.db.models.functions import Left, Length

from memweb.memories.kinds import Kind
from memweb.memories.models import Memory, memory_model
from search.keyword.rows import Key

EXCERPT = 1_200


def read_excerpts(keys: Iterable[Key], length: int = EXCERPT) -> dict[Key, Memory]:
    """Return the memories of these keys with at most `length` characters of each text.

    `is_cut` of a memory says whether there is more of it. Such a memory must not be saved.
    """
    ids: dict[Kind, list[int]] = {}
    for kind, id in keys:
        ids.setdefault(kind, []).append(id)
    return {(kind, id): memory for kind, some in ids.items() for id, memory in _read(kind, some, length).items()}


def _read(kind: Kind, ids: list[int], length: int) -> Mapping[int, Memory]:
    model = memory_model(kind)
    names = [
        name
        for name in dict.fromkeys([*model.title_fields, *model.body_fields])
        if isinstance(model._meta.get_field(name), TextField)
    ]
    rows = model.objects.for_list().defer(*names, "title_terms", "body_terms", "variant_terms", "source_data", "note")
    for name in names:
        rows = rows.annotate(**{f"start_of_{name}": Left(name, length), f"length_of_{name}": Length(name)})
    found = rows.in_bulk(ids)
    for memory in found.values():
        memory.is_cut = any(getattr(memory, f"length_of_{name}") > length for name in names)
        for name in names:
            setattr(memory, name, getattr(memory, f"start_of_{name}"))
    return found
