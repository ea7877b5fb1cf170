"""Turns rows of claude-mem, from its database or its JSON export, into records. Missing cells are no error."""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from memweb.memories.kinds import Kind
from memweb.memories.models import TimeQuality
from memweb.sources.cells import Contents, read_list
from memweb.sources.cleaning import clean_text, clean_value, sound_text
from memweb.sources.noise import is_error_object, is_observer_project, is_task_notification, machine_prompt
from memweb.sources.private import may_hold_private, strip_private_texts
from memweb.sources.records import (
    ObservationRecord,
    PromptRecord,
    ReadOptions,
    SessionRecord,
    SessionRef,
    SummaryRecord,
)
from memweb.sources.report import Tally
from memweb.sources.times import Moment, iso_text, read_moment, read_number

Row = Mapping[str, Any]

# claude-mem's own platform; schemas before the column platform_source knew no other.
PLATFORM = "claude"
# Books that claude-mem keeps about rows, not about what is remembered.
_BOOKKEEPING = frozenset({"id", "synced_at", "sync_rev", "worker_port"})
# memweb's own exports carry the key by which a memory is recognised.
KEY_CELL = "memweb_key"
_KEY = re.compile(r"[0-9a-f]{64}")
_SESSION_CELLS = frozenset(
    [
        "content_session_id",
        "claude_session_id",
        "memory_session_id",
        "sdk_session_id",
        "project",
        "platform_source",
        "user_prompt",
        "started_at",
        "started_at_epoch",
        "completed_at",
        "completed_at_epoch",
        "status",
        "custom_title",
        "observed_model",
    ]
)
_MEMORY_CELLS = frozenset(
    [
        "memory_session_id",
        "sdk_session_id",
        "project",
        "merged_into_project",
        "prompt_number",
        "discovery_tokens",
        "created_at",
        "created_at_epoch",
        "generated_by_model",
        "agent_type",
        "agent_id",
        KEY_CELL,
    ]
)
_OBSERVATION_CELLS = _MEMORY_CELLS | frozenset(
    ["text", "type", "title", "subtitle", "facts", "narrative", "concepts", "files_read", "files_modified"]
)
_SUMMARY_CELLS = _MEMORY_CELLS | frozenset(
    ["request", "investigated", "learned", "completed", "next_steps", "notes", "files_read", "files_edited"]
)
_PROMPT_CELLS = _MEMORY_CELLS | frozenset(["session_db_id", "content_session_id", "claude_session_id", "prompt_text"])
_LONGEST_TOKEN_MEMORY = 4096


class RowReader:
    """Reads rows one by one; remembers the sessions, so they come first."""

    def __init__(self, tally: Tally, options: ReadOptions) -> None:
        self.tally = tally
        self.options = options
        self._sessions_by_row: dict[object, SessionRecord] = {}
        self._sessions_by_memory_id: dict[str, SessionRecord] = {}
        self._sessions_by_content_id: dict[str, SessionRecord] = {}
        self._token_batches: dict[tuple[str, int, int | None], int] = {}

    def session(self, row: Row, place: str) -> SessionRecord | None:
        """Return a session; None when it is skipped."""
        ref = SessionRef(
            clean_text(row.get("platform_source")) or PLATFORM,
            clean_text(row.get("content_session_id") or row.get("claude_session_id")),
            clean_text(row.get("memory_session_id") or row.get("sdk_session_id")),
        )
        if not ref:
            self.tally.skip("session", "has no id", place)
            return None
        extra = self._extra(row, _SESSION_CELLS)
        started = self._session_time(row, "started_at", extra)
        completed = self._session_time(row, "completed_at", extra)
        record = SessionRecord(
            row=place,
            ref=ref,
            project=clean_text(row.get("project")),
            title=self._text("session", row, "custom_title"),
            first_prompt=self._text("session", row, "user_prompt"),
            status=clean_text(row.get("status")),
            model=clean_text(row.get("observed_model")),
            started_at=started.at,
            completed_at=completed.at,
            extra=extra,
        )
        self._sessions_by_row[row.get("id")] = record
        self._sessions_by_content_id.setdefault(ref.content_id, record)
        if ref.memory_id:
            self._sessions_by_memory_id[ref.memory_id] = record
        if is_observer_project(record.project) and not self.options.include_noise:
            self.tally.skip("session", "claude-mem's own observer", f"{place}: project {record.project}")
            return None
        return record

    def observation(self, row: Row, place: str) -> ObservationRecord | None:
        """Return an observation; None when it is skipped."""
        common = self._memory(Kind.OBSERVATION, row, place, _OBSERVATION_CELLS)
        if common is None:
            return None
        extra = common["extra"]
        texts: dict[str, Any] = {
            name: self._text(Kind.OBSERVATION, row, name) for name in ("title", "subtitle", "narrative", "text")
        }
        facts = self._list(Kind.OBSERVATION, row, "facts", Contents.FACTS, place, extra)
        if not common["is_noise"] and is_error_object([texts["subtitle"], texts["narrative"], texts["text"], *facts]):
            common["is_noise"] = True
            self.tally.note("noise", Kind.OBSERVATION, "says nothing but an error object", f"{place}: {texts['title']}")
        return ObservationRecord(
            type=clean_text(row.get("type")),
            **texts,
            facts=facts,
            concepts=self._list(Kind.OBSERVATION, row, "concepts", Contents.CONCEPTS, place, extra),
            files_read=self._list(Kind.OBSERVATION, row, "files_read", Contents.FILES, place, extra),
            files_modified=self._list(Kind.OBSERVATION, row, "files_modified", Contents.FILES, place, extra),
            **common,
        )

    def summary(self, row: Row, place: str) -> SummaryRecord | None:
        """Return a session summary; None when it is skipped."""
        common = self._memory(Kind.SUMMARY, row, place, _SUMMARY_CELLS)
        if common is None:
            return None
        names = ("request", "investigated", "learned", "completed", "next_steps", "notes")
        texts: dict[str, Any] = {name: self._text(Kind.SUMMARY, row, name) for name in names}
        return SummaryRecord(
            **texts,
            files_read=self._list(Kind.SUMMARY, row, "files_read", Contents.FILES, place, common["extra"]),
            files_modified=self._list(Kind.SUMMARY, row, "files_edited", Contents.FILES, place, common["extra"]),
            **common,
        )

    def prompt(self, row: Row, place: str) -> PromptRecord | None:
        """Return a user prompt; None when it is skipped."""
        common = self._memory(Kind.PROMPT, row, place, _PROMPT_CELLS)
        if common is None:
            return None
        text = self._text(Kind.PROMPT, row, "prompt_text")
        if not text.strip() and str(row.get("prompt_text") or "").strip():
            self.tally.skip(Kind.PROMPT, "is private from beginning to end", place)
            return None
        if is_task_notification(text):
            if not self.options.include_noise:
                self.tally.skip(Kind.PROMPT, "is a task notification", f"{place}: {text}")
                return None
            common["is_noise"] = True
        elif machine := machine_prompt(text):
            common["is_noise"] = True
            self.tally.note("noise", Kind.PROMPT, f"machine prompt: {machine}", f"{place}: {text}")
        return PromptRecord(text=text, **common)

    def _memory(self, kind: Kind, row: Row, place: str, known: frozenset[str]) -> dict[str, Any] | None:
        """Return what all kinds share, None for rows of claude-mem's own observer."""
        session, ref = self._session_of(row)
        project, merged = clean_text(row.get("project")), clean_text(row.get("merged_into_project"))
        if session is not None and row.get("project") is None:
            project = session.project
        is_noise = is_observer_project(project) or (session is not None and is_observer_project(session.project))
        if is_noise and not self.options.include_noise:
            self.tally.skip(kind, "claude-mem's own observer", f"{place}: project {project}")
            return None
        extra = self._extra(row, known)
        if merged and merged != project:
            extra["project"] = project
        moment = read_moment(row.get("created_at_epoch"), row.get("created_at"))
        self._keep_time(row, "created_at", moment, extra)
        if moment.remark:
            self.tally.note("time", kind, moment.remark, f"{place}: {_written(row, 'created_at')}")
        prompt_number = _whole(row.get("prompt_number"))
        key = row.get(KEY_CELL)
        return {
            "row": place,
            "project": merged or project,
            "session": ref,
            "moment": moment,
            "prompt_number": prompt_number,
            "agent": clean_text(row.get("agent_type")),
            "agent_id": clean_text(row.get("agent_id")),
            "model": clean_text(row.get("generated_by_model")),
            "discovery_tokens": self._tokens(kind, row, ref, moment, prompt_number, extra),
            "is_noise": is_noise,
            "key": key if isinstance(key, str) and _KEY.fullmatch(key) else "",
            "extra": extra,
        }

    def _session_of(self, row: Row) -> tuple[SessionRecord | None, SessionRef]:
        """Return the session of a row when the source has it, and how to name it in any case."""
        memory_id = clean_text(row.get("memory_session_id") or row.get("sdk_session_id"))
        content_id = clean_text(row.get("content_session_id") or row.get("claude_session_id"))
        found = self._sessions_by_row.get(row.get("session_db_id")) if row.get("session_db_id") is not None else None
        if found is not None and content_id and found.ref.content_id != content_id:
            found = None
        if found is None and memory_id:
            # Old exports name the content id where the memory id belongs.
            found = self._sessions_by_memory_id.get(memory_id) or self._sessions_by_content_id.get(memory_id)
        if found is None and content_id:
            found = self._sessions_by_content_id.get(content_id)
        return found, found.ref if found else SessionRef(PLATFORM, content_id, memory_id)

    def _tokens(
        self, kind: Kind, row: Row, ref: SessionRef, moment: Moment, prompt_number: int | None, extra: dict[str, Any]
    ) -> int | None:
        """Return the tokens of a row. One answer of the agent writes the same number on every row it makes; only the
        first of them counts, the others keep theirs in `extra`.
        """
        tokens = _whole(row.get("discovery_tokens"))
        if not tokens or kind is not Kind.OBSERVATION or moment.at is None:
            return tokens
        batch = (ref.memory_id or ref.content_id, int(moment.at.timestamp()), prompt_number)
        if self._token_batches.get(batch) == tokens:
            extra["discovery_tokens"] = tokens
            return None
        if len(self._token_batches) >= _LONGEST_TOKEN_MEMORY:
            self._token_batches.pop(next(iter(self._token_batches)))
        self._token_batches[batch] = tokens
        return tokens

    def _text(self, kind: str, row: Row, name: str) -> str:
        cell = row.get(name)
        if not cell:
            return ""
        text = clean_text(cell)
        if isinstance(cell, str) and len(text) != len(cell) and may_hold_private(cell):
            self.tally.note("private", kind, f"taken out of {name}", text or "(nothing left)")
        return text

    def _list(
        self, kind: Kind, row: Row, name: str, contents: Contents, place: str, extra: dict[str, Any]
    ) -> list[str]:
        raw = row.get(name)
        cell = read_list(sound_text(raw) if isinstance(raw, bytes) else raw, contents)
        sound = [text for text in map(sound_text, cell.values) if text]
        values = strip_private_texts(sound)
        if values != sound:
            values = [value.strip() for value in values if value.strip()]
            # The raw cell is not kept either: it holds what was taken out.
            self.tally.note("private", kind, f"taken out of {name}", ", ".join(values) or "(nothing left)")
        elif not cell.is_clean:
            extra[name] = clean_value(raw)
            self.tally.note("cell", kind, f"{name} is not a JSON list of texts", f"{place}: {extra[name]}")
        return values

    def _session_time(self, row: Row, name: str, extra: dict[str, Any]) -> Moment:
        if row.get(name) is None and row.get(f"{name}_epoch") is None:
            return Moment(None, TimeQuality.UNKNOWN)
        moment = read_moment(row.get(f"{name}_epoch"), row.get(name))
        self._keep_time(row, name, moment, extra)
        if moment.remark:
            self.tally.note("time", "session", moment.remark, _written(row, name))
        return moment

    def _keep_time(self, row: Row, name: str, moment: Moment, extra: dict[str, Any]) -> None:
        """Keep the written time wherever an export would write it otherwise."""
        text = row.get(name)
        if moment.quality is TimeQuality.UNKNOWN and row.get(f"{name}_epoch") is not None:
            extra[f"{name}_epoch"] = clean_value(row[f"{name}_epoch"])
        if text not in (None, "") and (moment.at is None or text != iso_text(moment.at)):
            extra[name] = clean_value(text)

    def _extra(self, row: Row, known: frozenset[str]) -> dict[str, Any]:
        """Return the cells that no field takes, without empty ones."""
        if row.keys() <= known:
            return {}
        extra = {}
        for name, cell in row.items():
            if name not in known and name not in _BOOKKEEPING and cell not in (None, "", 0):
                extra[clean_text(name)] = _clean_json(cell)
        return extra


def _clean_json(cell: Any) -> Any:
    """Return a cell of unknown meaning; JSON text stays text, but nothing private survives in any notation."""
    if isinstance(cell, str) and cell[:1] in "[{" and "private" in cell.lower():
        try:
            return json.dumps(clean_value(json.loads(cell)), ensure_ascii=False)
        except (ValueError, RecursionError):
            return clean_text(cell)
    try:
        return clean_value(cell)
    except RecursionError:
        return clean_text(str(cell)[:100_000])


def _whole(cell: object) -> int | None:
    """Return a cell as a whole number that fits the database, else None."""
    number = read_number(cell)
    return int(number) if number is not None and abs(number) < 2**31 else None


def _written(row: Row, name: str) -> str:
    return f"{name}={row.get(name)!r}, {name}_epoch={row.get(f'{name}_epoch')!r}"


RowMethod = Callable[[RowReader, Row, str], SessionRecord | ObservationRecord | SummaryRecord | PromptRecord | None]
