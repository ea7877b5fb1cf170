"""Gives records the present names of concepts and files that people renamed here since."""

from dataclasses import replace
from typing import Any

from memweb.memories.models import LabelAlias
from memweb.sources.rows import Draft

_FIELDS = {"concepts": "concept", "files_read": "file", "files_modified": "file", "file": "file"}


def follow_renaming(drafts: list[Draft]) -> None:
    """Rename concepts and files of the records; their prints stay those of the source."""
    aliases = {(alias.label, alias.name): alias.present_name for alias in LabelAlias.objects.all()}
    if not aliases:
        return
    for draft in drafts:
        changed: dict[str, Any] = {}
        for field, label in _FIELDS.items():
            names = getattr(draft.record, field, None)
            if isinstance(names, str):
                present: Any = aliases.get((label, names), names)
            elif names:
                present = list(dict.fromkeys(aliases.get((label, name), name) for name in names))
            else:
                continue
            if present != names:
                changed[field] = present
        if changed:
            draft.record, draft.terms = replace(draft.record, **changed), None
