"""What the table of each kind holds for a record: values in column order, texts for the index, links to labels."""

from dataclasses import dataclass
from typing import Any

from memweb.memories.curation.values import TEXT_FIELDS
from memweb.memories.indexing import IndexedText, IndexTerms, scope_tokens
from memweb.memories.kinds import Kind
from memweb.memories.models import (
    FileRole,
    Memory,
    ObservationConcept,
    ObservationFile,
    SummaryFile,
    TimeQuality,
    memory_model,
)
from memweb.memories.queries import TERM_COLUMNS
from memweb.sources.keys import Fingerprint
from memweb.sources.records import DrawerRecord, MemoryRecord, ObservationRecord, PromptRecord, SummaryRecord

# The same by name in record and model, whatever the kind.
PLAIN_FIELDS = ("prompt_number", "agent", "agent_id", "model", "discovery_tokens", "is_noise")
COMMON = (
    "id",
    "project_id",
    "session_id",
    "created_at",
    "time_quality",
    *PLAIN_FIELDS,
    "source_id",
    "source_row",
    "source_key",
    "content_hash",
    "source_data",
    "import_batch_id",
    "updated_at",
    *TERM_COLUMNS,
)
CONCEPT_LINK = ObservationConcept
LINK_COLUMNS = {
    ObservationFile: ("observation_id", "file_id", "role"),
    SummaryFile: ("summary_id", "file_id", "role"),
    ObservationConcept: ("observation_id", "concept_id"),
}


@dataclass(slots=True)
class Draft:
    """A record on its way into the database."""

    record: MemoryRecord
    print: Fingerprint
    terms: IndexTerms | None = None


@dataclass(frozen=True, slots=True)
class Place:
    """Where a memory goes: ids of what it belongs to."""

    project_id: int
    session_id: int | None
    platform: str
    concept_ids: list[int]
    file_ids: list[int]


def columns(kind: Kind) -> tuple[str, ...]:
    """Return the columns that an import writes; all others keep their defaults."""
    own = ("file_id",) if kind is Kind.DRAWER else ()
    return (*COMMON, *TEXT_FIELDS[kind], *own)


def column_values(draft: Draft, id: int, place: Place, shared: tuple[int, int, object]) -> list[Any]:
    """Return the values of `columns` for a new row; `shared` is source id, batch id and the time of writing."""
    record, terms = draft.record, draft.terms
    assert terms is not None, "terms are computed before rows are written"  # noqa: S101
    source_id, batch_id, now = shared
    values = [
        id,
        place.project_id,
        place.session_id,
        record.moment.at,
        record.moment.quality.value,
        *[getattr(record, name) for name in PLAIN_FIELDS],
        source_id,
        record.row,
        draft.print.key,
        draft.print.content,
        record.extra,
        batch_id,
        now,
        terms.title,
        terms.body,
        terms.variants,
        scope_of(record, place),
        *[getattr(record, name) for name in TEXT_FIELDS[record.kind]],
    ]
    if record.kind is Kind.DRAWER:
        values.append(place.file_ids[0] if place.file_ids else None)
    return values


def scope_of(record: MemoryRecord, place: Place) -> str:
    """Return the filter tokens of a new row."""
    flags = ["noise"] if record.is_noise else []
    if record.moment.quality in (TimeQuality.DOUBTFUL, TimeQuality.UNKNOWN):
        flags.append("doubtful")
    return " ".join(
        scope_tokens(
            project_id=place.project_id,
            session_id=place.session_id,
            platform=place.platform,
            type=record.type if isinstance(record, ObservationRecord) else "",
            created_at=record.moment.at,
            concept_ids=place.concept_ids,
            file_ids=place.file_ids,
            flags=flags,
        )
    )


def indexed_text(record: MemoryRecord) -> IndexedText:
    """Return the texts that the model's own `indexed_text` would give for the row, without its filter tokens."""
    model: type[Memory] = memory_model(record.kind)
    title = " ".join(filter(None, [getattr(record, name) for name in model.title_fields]))
    body: list[str] = []
    for name in model.body_fields:
        value = getattr(record, name)
        body += value if isinstance(value, list) else [value]
    body += [*concepts(record), *files(record)]
    if isinstance(record, DrawerRecord):
        body += [record.room, record.speaker]
    return IndexedText(title, [text for text in body if text])


def concepts(record: MemoryRecord) -> list[str]:
    """Return the concepts of a record, each once."""
    return list(dict.fromkeys(record.concepts)) if isinstance(record, ObservationRecord) else []


def files(record: MemoryRecord) -> list[str]:
    """Return the paths that a record mentions, each once."""
    match record:
        case ObservationRecord() | SummaryRecord():
            if not record.files_read and not record.files_modified:
                return []
            return list(dict.fromkeys([*record.files_read, *record.files_modified]))
        case DrawerRecord():
            return [record.file] if record.file else []
        case _:
            return []


def file_roles(record: MemoryRecord) -> list[tuple[str, str]]:
    """Return path and role of every file link of a record, each once."""
    if isinstance(record, PromptRecord | DrawerRecord):
        return []
    read, modified = getattr(record, "files_read", []), getattr(record, "files_modified", [])
    return list(
        dict.fromkeys(
            [(path, FileRole.READ.value) for path in read] + [(path, FileRole.MODIFIED.value) for path in modified]
        )
    )
