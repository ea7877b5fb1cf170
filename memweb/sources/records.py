"""What every reader yields: records that no longer show which program wrote them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Protocol

from memweb.memories.kinds import Kind
from memweb.sources.passing import passed_quickly
from memweb.sources.report import Tally
from memweb.sources.times import Moment


class SourceError(Exception):
    """A source cannot be read; the message names it and says what to do."""


@passed_quickly
@dataclass(frozen=True, slots=True)
class SessionRef:
    """How records name their session. `content_id` is the agent program's id, `memory_id` the memory program's."""

    platform: str = ""
    content_id: str = ""
    memory_id: str = ""

    def __bool__(self) -> bool:
        return bool(self.content_id or self.memory_id)


@passed_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRecord:
    """One run of an agent. All texts are clean (see cleaning.py)."""

    kind: ClassVar[str] = "session"

    row: str
    ref: SessionRef
    project: str
    title: str = ""
    first_prompt: str = ""
    status: str = ""
    model: str = ""
    started_at: datetime | None = None
    completed_at: datetime | None = None
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """What all kinds share. `row` names the row or line of the source; `extra` holds cells that fit no field.

    `key` is set where something better than texts and time tells whether two records are the same memory: a commit
    hash, or the key that memweb itself exported.
    """

    kind: ClassVar[Kind]

    row: str
    project: str
    session: SessionRef
    moment: Moment
    prompt_number: int | None = None
    agent: str = ""
    agent_id: str = ""
    model: str = ""
    discovery_tokens: int | None = None
    is_noise: bool = False
    key: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


@passed_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class ObservationRecord(MemoryRecord):
    kind = Kind.OBSERVATION

    type: str = ""
    title: str = ""
    subtitle: str = ""
    narrative: str = ""
    text: str = ""
    facts: list[str] = field(default_factory=list)
    concepts: list[str] = field(default_factory=list)
    files_read: list[str] = field(default_factory=list)
    files_modified: list[str] = field(default_factory=list)


@passed_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRecord(MemoryRecord):
    kind = Kind.SUMMARY

    request: str = ""
    investigated: str = ""
    learned: str = ""
    completed: str = ""
    next_steps: str = ""
    notes: str = ""
    files_read: list[str] = field(default_factory=list)
    files_modified: list[str] = field(default_factory=list)


@passed_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class PromptRecord(MemoryRecord):
    kind = Kind.PROMPT

    text: str = ""


@passed_quickly
@dataclass(frozen=True, slots=True, kw_only=True)
class DrawerRecord(MemoryRecord):
    kind = Kind.DRAWER

    text: str = ""
    room: str = ""
    speaker: str = ""
    file: str = ""
    chunk_index: int | None = None


Record = SessionRecord | ObservationRecord | SummaryRecord | PromptRecord | DrawerRecord


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What a reader is asked for."""

    include_noise: bool = False


class Reader(Protocol):
    """One source, opened. Opening raises SourceError; after that, rows that cannot be used are tallied, not fatal."""

    format: ClassVar[str]
    location: str
    tally: Tally

    def total(self) -> int | None:
        """Return how many rows there are, None when that is not known before reading."""

    def records(self) -> Iterator[Record]:
        """Yield every usable row once, sessions before the memories that belong to them, in a stable order."""

    def close(self) -> None:
        """Release files and processes."""
