"""The values of a memory that people can change, as JSON: what history keeps, an edit compares and an undo writes."""

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from memweb.memories.kinds import Kind
from memweb.memories.models import (
    Concept,
    FilePath,
    Memory,
    ObservationConcept,
    ObservationFile,
    SummaryFile,
    Tag,
    memory_model,
)
from memweb.memories.models.labels import base_name

Values = dict[str, Any]

TEXT_FIELDS: dict[Kind, tuple[str, ...]] = {
    Kind.OBSERVATION: ("type", "title", "subtitle", "narrative", "facts", "text"),
    Kind.SUMMARY: ("request", "investigated", "learned", "completed", "next_steps", "notes"),
    Kind.PROMPT: ("text",),
    Kind.DRAWER: ("text", "room", "speaker", "chunk_index"),
}
"""Fields of each kind that hold what was remembered; facts are a list, chunk_index a number or null, others texts."""
PLACE = ("project_id", "session_id", "created_at", "time_quality")
"""Where a memory belongs. `created_at` is ISO 8601 in UTC, or null."""
FLAGS = ("state", "pinned", "superseded_by_id", "wrong_reason")
"""What decides where a memory is shown."""
_LABELS: dict[Kind, tuple[str, ...]] = {
    Kind.OBSERVATION: ("tags", "concepts", "files"),
    Kind.SUMMARY: ("tags", "files"),
    Kind.PROMPT: ("tags",),
    Kind.DRAWER: ("tags", "file"),
}
FILE_LINKS: dict[Kind, Any] = {Kind.OBSERVATION: ObservationFile, Kind.SUMMARY: SummaryFile}


def value_names(kind: Kind) -> tuple[str, ...]:
    """Return the names of all values of a kind.

    `tags` and `concepts` are sorted lists of names, `files` a sorted list of [path, role], `file` a path or "".
    """
    return (*TEXT_FIELDS[kind], *_LABELS[kind], "note", *PLACE, *FLAGS)


def values_of(memory: Memory, names: Collection[str] | None = None) -> Values:
    """Return values of a memory, all by default."""
    return {name: _value(memory, name) for name in (value_names(memory.kind) if names is None else names)}


def set_values(memory: Memory, values: Values) -> None:
    """Set plain values on an instance; labels are written by `write_labels`."""
    for name, value in values.items():
        if name in _LABELS[memory.kind]:
            continue
        setattr(memory, name, datetime.fromisoformat(value) if name == "created_at" and value else value)


def write_labels(wanted: Sequence[tuple[Any, Values]]) -> None:
    """Make the labels in the database exactly those that the values name; unknown ones are made.

    A fixed number of statements for each kind and sort of label.
    """
    for kind in Kind:
        mine = [(memory, values) for memory, values in wanted if memory.kind is kind]
        for name, (link, owner, target) in _links(kind).items():
            some = [(memory, values[name]) for memory, values in mine if name in values]
            if some:
                _write_links(link, owner, target, some)
        for memory, values in mine:
            if "file" in values:
                memory.file_id = _ids(FilePath, [values["file"]])[values["file"]] if values["file"] else None
            memory._prefetched_objects_cache = {}


def _links(kind: Kind) -> dict[str, tuple[Any, str, str]]:
    """Return for each sort of label its table of links, and the columns of the memory and of the label there."""
    model = memory_model(kind)
    links: dict[str, tuple[Any, str, str]] = {"tags": (model.tags.through, f"{model._meta.model_name}_id", "tag_id")}
    if kind is Kind.OBSERVATION:
        links["concepts"] = (ObservationConcept, "observation_id", "concept_id")
    if kind in FILE_LINKS:
        links["files"] = (FILE_LINKS[kind], f"{FILE_LINKS[kind].memory_field}_id", "file_id")
    return links


def _write_links(link: Any, owner: str, target: str, some: list[tuple[Any, list[Any]]]) -> None:
    link.objects.filter(**{f"{owner}__in": [memory.pk for memory, _ in some]}).delete()
    pairs = [(memory, one if isinstance(one, str) else one[0], one) for memory, names in some for one in names]
    model = {"tag_id": Tag, "concept_id": Concept, "file_id": FilePath}[target]
    ids = _ids(model, [name for _, name, _ in pairs])
    link.objects.bulk_create(
        [
            link(**{owner: memory.pk, target: ids[name]}, **({} if isinstance(one, str) else {"role": one[1]}))
            for memory, name, one in pairs
        ],
        batch_size=200,
    )


def is_label(name: str) -> bool:
    """Return whether a value is made of rows that memories share."""
    return name in {"tags", "concepts", "files", "file"}


def is_value(kind: Kind, name: str) -> bool:
    """Return whether memories of a kind have a value of this name."""
    return name in value_names(kind)


def memories_in(refs: Iterable[Any], *, labels: bool) -> dict[Any, Memory]:
    """Return the memories of refs that are there, by ref; with all that their index terms are computed from."""
    wanted = list(refs)
    found: dict[Any, Memory] = {}
    for kind in Kind:
        ids = [ref.id for ref in wanted if ref.kind is kind]
        if ids:
            rows = memory_model(kind).objects
            rows = rows.for_indexing() if labels else rows.select_related("session")
            for row in rows.filter(pk__in=ids):
                found[row.ref] = row
    return found


def _value(memory: Any, name: str) -> Any:
    match name:
        case "tags" | "concepts":
            return sorted(label.name for label in getattr(memory, name).all())
        case "files":
            return sorted([link.file.path, str(link.role)] for link in memory.file_links.all())
        case "file":
            return memory.file.path if memory.file_id else ""
        case "created_at":
            return memory.created_at.astimezone(UTC).isoformat() if memory.created_at else None
        case "state" | "time_quality":
            return str(getattr(memory, name))
        case _:
            return getattr(memory, name)


def _ids(model: Any, names: Iterable[str]) -> dict[str, int]:
    """Return the ids of labels by name; unknown ones are made."""
    field, known = ("path" if model is FilePath else "name"), {}
    wanted = list(dict.fromkeys(names))
    for start in range(0, len(wanted), 500):
        part = wanted[start : start + 500]
        known.update(model.objects.filter(**{f"{field}__in": part}).values_list(field, "pk"))
    for name in wanted:
        if name not in known:
            more = {"name": base_name(name)} if model is FilePath else {}
            known[name] = model.objects.create(**{field: name}, **more).pk
    return known
