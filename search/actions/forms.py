"""The form that edits a memory: one field for each value that its kind has, as text."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.utils import timezone

from memweb.memories.curation import editable_names, value_label
from memweb.memories.curation.values import Values
from memweb.memories.kinds import Kind
from memweb.memories.models import Project

_LISTS = frozenset({"facts", "tags", "concepts"})
_HIDDEN = frozenset({"session_id", "time_quality"})
_LINES = frozenset({"type", "title", "subtitle", "room", "speaker", "chunk_index", "file", "created_at", "project_id"})
_HELP = {
    "facts": "One on each line.",
    "tags": "One on each line.",
    "concepts": "One on each line.",
    "files": "One on each line, with “modified ” before those that were changed.",
    "created_at": "Like 2026-01-20 14:30; empty when nobody knows.",
    "project_id": "The name of a project that is there.",
}
_MODIFIED = "modified "


def field_names(kind: Kind) -> list[str]:
    """Return the values that the form shows, in order."""
    return [name for name in editable_names(kind) if name not in _HIDDEN]


def empty_values(kind: Kind) -> Values:
    """Return the values of a memory that is not written yet."""
    return {
        name: [] if name in {*_LISTS, "files"} else None if name in {"created_at", "project_id", "chunk_index"} else ""
        for name in field_names(kind)
    }


def as_fields(kind: Kind, values: Values) -> dict[str, str]:
    """Return the texts of the fields for the values of a memory."""
    texts: dict[str, str] = {}
    for name in field_names(kind):
        value = values.get(name)
        match name:
            case "files":
                texts[name] = "\n".join((_MODIFIED if role == "modified" else "") + path for path, role in value or [])
            case "created_at":
                texts[name] = (
                    timezone.localtime(datetime.fromisoformat(value)).strftime("%Y-%m-%d %H:%M:%S") if value else ""
                )
            case "project_id":
                texts[name] = Project.objects.get(pk=value).name if value else ""
            case _ if name in _LISTS:
                texts[name] = "\n".join(str(one) for one in value or [])
            case _:
                texts[name] = "" if value is None else str(value)
    return texts


def sent_texts(kind: Kind, sent: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of the fields that were sent, with lines as memories have them."""
    return {name: sent[name].replace("\r\n", "\n") for name in field_names(kind) if name in sent}


def messages_by_field(error: ValidationError) -> dict[str, str]:
    """Return what an error says of each field, as one text."""
    return {name: " ".join(some) for name, some in error.message_dict.items()}


def as_values(kind: Kind, sent: Mapping[str, str], before: Values) -> tuple[Values, dict[str, str]]:
    """Return the values that were changed in the form, and a message for each field that cannot be read.

    A field whose text is still that of `before` is not among them, so that what a text cannot show stays.
    """
    values: Values = {}
    errors: dict[str, str] = {}
    shown = as_fields(kind, before)
    for name in field_names(kind):
        text = sent.get(name, shown[name])
        if text == shown[name]:
            continue
        match name:
            case "files":
                values[name] = [_file(line.strip()) for line in text.split("\n") if line.strip()]
            case "created_at":
                try:
                    values[name] = _moment(text.strip())
                except ValueError:
                    errors[name] = f"“{text[:40]}” is not a time; write it like 2026-01-20 14:30, or leave it empty."
            case "project_id":
                project = Project.objects.filter(name=text).first() or Project.objects.filter(name=text.strip()).first()
                if project is None:
                    errors[name] = f"There is no project “{text[:80]}”."
                else:
                    values[name] = project.pk
            case _ if name in _LISTS:
                kept = {str(one): one for one in before.get(name) or []}
                lines = [line.strip() for line in text.split("\n") if line.strip()]
                values[name] = [kept.get(line, line) for line in lines]
            case _:
                values[name] = text
    return values, errors


def form_rows(kind: Kind, texts: Mapping[str, str], errors: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return what the template shows of each field."""
    return [
        {
            "name": name,
            "label": value_label(name).capitalize(),
            "text": texts.get(name, ""),
            "is_line": name in _LINES,
            "rows": min(20, max(3, texts.get(name, "").count("\n") + len(texts.get(name, "")) // 90 + 1)),
            "help": _HELP.get(name, ""),
            "error": errors.get(name, ""),
        }
        for name in field_names(kind)
    ]


def _file(line: str) -> list[str]:
    return [line[len(_MODIFIED) :], "modified"] if line.startswith(_MODIFIED) else [line, "read"]


def _moment(text: str) -> str | None:
    if not text:
        return None
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        moment = timezone.make_aware(moment)
    return moment.isoformat()
