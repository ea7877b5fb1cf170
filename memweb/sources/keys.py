"""Recognises rows: the key that is the same wherever a row is met, and the hash that tells whether it changed.

`source_key` is SHA-256 over the format and what identifies a memory for ever: kind, session id, time, prompt number and
all texts and labels. A database, its copy and its JSON export give the same keys.

`content_hash` has three parts, so that an import can tell what changed, and whether a person changed it here: 24 hex
digits of texts and labels (they can be computed again from the row), 8 of the project's name at the source, 32 of all
the rest.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any

import orjson

from memweb.memories.models import Drawer, FileRole, Memory, Observation, SessionSummary, UserPrompt
from memweb.sources.passing import passed_quickly
from memweb.sources.records import (
    DrawerRecord,
    MemoryRecord,
    ObservationRecord,
    PromptRecord,
    SessionRecord,
    SummaryRecord,
)
from memweb.sources.times import EPOCH

TEXTS, PROJECT = 24, 8
# Bookkeeping of sources that changes while the memory stays the same.
VOLATILE = frozenset({"relevance_count", "content_hash", "origin_device_id", "origin_local_id"})
_MICROSECOND = timedelta(microseconds=1)


@passed_quickly
@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Key and content hash of one record."""

    key: str
    content: str


def memory_fingerprint(format: str, record: MemoryRecord) -> Fingerprint:
    """Return key and content hash of a memory."""
    texts = _encode(record_texts(record))
    at = record.moment.at
    key = record.key
    if not key:
        ref = record.session
        prompt = record.kind == "prompt"
        session = (ref.content_id or ref.memory_id) if prompt else (ref.memory_id or ref.content_id)
        created = (at - EPOCH) // _MICROSECOND if at else None
        key = sha256(_encode([format, record.kind, session, created, record.prompt_number]) + texts).hexdigest()
    rest = _encode(
        [
            str(at),
            record.prompt_number,
            record.agent,
            record.agent_id,
            record.model,
            record.discovery_tokens,
            record.is_noise,
            _lasting(record.extra),
        ]
    )
    content = texts_digest(texts) + project_digest(record.project) + sha256(rest).hexdigest()[:32]
    return Fingerprint(key, content)


def session_fingerprint(format: str, record: SessionRecord) -> Fingerprint:
    """Return key and content hash of a session; the first part of the hash is that of its title."""
    rest = [
        record.ref.memory_id,
        record.first_prompt,
        record.status,
        record.model,
        str(record.started_at),
        str(record.completed_at),
        _lasting(record.extra),
    ]
    content = texts_digest(_encode([record.title])) + project_digest(record.project)
    ref = record.ref
    key = (
        session_key(format, ref.platform, ref.content_id) if ref.content_id else placeholder_key(format, ref.memory_id)
    )
    return Fingerprint(key, content + sha256(_encode(rest)).hexdigest()[:32])


def identity_key(format: str, kind: str, identity: str) -> str:
    """Return the key of a memory that has an immutable id at its source."""
    return sha256(_encode([format, kind, identity])).hexdigest()


def session_key(format: str, platform: str, content_id: str) -> str:
    """Return the key of a session that the agent program named."""
    return sha256(_encode([format, "session", platform, content_id])).hexdigest()


def placeholder_key(format: str, session_id: str) -> str:
    """Return the key of a session of which only a memory's mention is known."""
    return sha256(_encode([format, "session of", session_id])).hexdigest()


def texts_digest(texts: bytes) -> str:
    return sha256(texts).hexdigest()[:TEXTS]


def project_digest(name: str) -> str:
    return sha256(name.encode()).hexdigest()[:PROJECT]


def title_digest(title: str) -> str:
    return texts_digest(_encode([title]))


def record_texts(record: MemoryRecord) -> list[Any]:
    """Return texts and labels of a record in a fixed order; labels sorted, since links have no order."""
    match record:
        case ObservationRecord():
            texts = [record.type, record.title, record.subtitle, record.narrative, record.text, record.facts]
            labels = (record.concepts, record.files_read, record.files_modified)
        case SummaryRecord():
            texts = [record.request, record.investigated, record.learned, record.completed, record.next_steps]
            texts.append(record.notes)
            labels = ([], record.files_read, record.files_modified)
        case PromptRecord():
            return [record.text]
        case DrawerRecord():
            return [record.text, record.room, record.speaker, record.file, record.chunk_index]
        case _:
            raise TypeError(f"no texts for {type(record)}")
    return [*texts, *(sorted(set(label)) for label in labels)]


def row_texts_digest(row: Memory) -> str:
    """Return the first part of the content hash that a row would have if it were imported as it now is."""
    match row:
        case Observation():
            texts: list[Any] = [row.type, row.title, row.subtitle, row.narrative, row.text, row.facts]
            concepts = [concept.name for concept in row.concepts.all()]
            texts += [sorted(set(concepts)), _paths(row, FileRole.READ), _paths(row, FileRole.MODIFIED)]
        case SessionSummary():
            texts = [row.request, row.investigated, row.learned, row.completed, row.next_steps, row.notes]
            texts += [[], _paths(row, FileRole.READ), _paths(row, FileRole.MODIFIED)]
        case UserPrompt():
            texts = [row.text]
        case Drawer():
            texts = [row.text, row.room, row.speaker, row.file.path if row.file else "", row.chunk_index]
        case _:
            raise TypeError(f"no texts for {type(row)}")
    return texts_digest(_encode(texts))


def _paths(row: Any, role: FileRole) -> list[str]:
    return sorted(link.file.path for link in row.file_links.all() if link.role == role)


def _lasting(extra: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in extra.items() if name not in VOLATILE} if extra else extra


def _encode(values: Iterable[Any]) -> bytes:
    """Return values as bytes that no other values give."""
    try:
        return orjson.dumps(values, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # a number of more than 64 bits
        return json.dumps(values, ensure_ascii=False, sort_keys=True).encode()
