"""Builds claude-mem databases of any age for the tests of imports."""

import json
import sqlite3
from pathlib import Path
from typing import Any

ID = "id INTEGER PRIMARY KEY AUTOINCREMENT"
# What schema version 4 had; later versions renamed the id columns and added others.
OLD_SCHEMA = f"""
CREATE TABLE sdk_sessions({ID}, claude_session_id TEXT UNIQUE NOT NULL, sdk_session_id TEXT UNIQUE,
  project TEXT NOT NULL, user_prompt TEXT, started_at TEXT NOT NULL, started_at_epoch INTEGER NOT NULL,
  completed_at TEXT, completed_at_epoch INTEGER, status TEXT NOT NULL DEFAULT 'active');
CREATE TABLE observations({ID}, sdk_session_id TEXT NOT NULL, project TEXT NOT NULL,
  text TEXT NOT NULL, type TEXT NOT NULL, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
CREATE TABLE session_summaries({ID}, sdk_session_id TEXT UNIQUE NOT NULL, project TEXT NOT NULL,
  request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT,
  notes TEXT, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL);
"""
NEW_SCHEMA = f"""
CREATE TABLE sdk_sessions({ID}, content_session_id TEXT NOT NULL, memory_session_id TEXT UNIQUE, project TEXT NOT NULL,
  platform_source TEXT NOT NULL DEFAULT 'claude', user_prompt TEXT, started_at TEXT NOT NULL,
  started_at_epoch INTEGER NOT NULL, completed_at TEXT, completed_at_epoch INTEGER,
  status TEXT NOT NULL DEFAULT 'active', worker_port INTEGER, prompt_counter INTEGER DEFAULT 0, custom_title TEXT,
  observed_model TEXT);
CREATE TABLE observations({ID}, memory_session_id TEXT NOT NULL, project TEXT NOT NULL,
  text TEXT, type TEXT NOT NULL, title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
  files_modified TEXT, prompt_number INTEGER, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL,
  discovery_tokens INTEGER DEFAULT 0, content_hash TEXT, generated_by_model TEXT, relevance_count INTEGER DEFAULT 0,
  merged_into_project TEXT, agent_type TEXT, agent_id TEXT, metadata TEXT, sync_rev TEXT NOT NULL DEFAULT '1');
CREATE TABLE session_summaries({ID}, memory_session_id TEXT NOT NULL, project TEXT NOT NULL,
  request TEXT, investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT,
  notes TEXT, prompt_number INTEGER, created_at TEXT NOT NULL, created_at_epoch INTEGER NOT NULL,
  discovery_tokens INTEGER DEFAULT 0, merged_into_project TEXT);
CREATE TABLE user_prompts({ID}, session_db_id INTEGER, content_session_id TEXT NOT NULL,
  prompt_number INTEGER NOT NULL, prompt_text TEXT NOT NULL, created_at TEXT NOT NULL,
  created_at_epoch INTEGER NOT NULL);
"""
EPOCH = 1768899600000  # 2026-01-20 09:00 UTC
ISO = "2026-01-20T09:00:00.000Z"
DEFAULTS: dict[str, dict[str, Any]] = {
    "sdk_sessions": {
        "content_session_id": "content-1",
        "memory_session_id": "mem-1",
        "project": "demo",
        "started_at": ISO,
        "started_at_epoch": EPOCH,
    },
    "observations": {
        "memory_session_id": "mem-1",
        "project": "demo",
        "type": "discovery",
        "prompt_number": 1,
        "created_at": ISO,
        "created_at_epoch": EPOCH,
    },
    "session_summaries": {
        "memory_session_id": "mem-1",
        "project": "demo",
        "created_at": ISO,
        "created_at_epoch": EPOCH,
    },
    "user_prompts": {
        "session_db_id": 1,
        "content_session_id": "content-1",
        "prompt_number": 1,
        "created_at": ISO,
        "created_at_epoch": EPOCH,
    },
}


class ClaudeMem:
    """A claude-mem database under construction; every row gets sensible cells for those not given."""

    def __init__(self, path: Path, schema: str = NEW_SCHEMA) -> None:
        self.path = path
        self.connection = sqlite3.connect(path, isolation_level=None)
        self.connection.executescript(schema)

    def add(self, table: str, **cells: Any) -> int:
        """Insert a row and return its id; lists become JSON."""
        row = {**DEFAULTS[table], **cells}
        names = ", ".join(row)
        values = [json.dumps(cell) if isinstance(cell, list) else cell for cell in row.values()]
        cursor = self.connection.execute(
            f"INSERT INTO {table}({names}) VALUES ({', '.join('?' * len(row))})",  # noqa: S608
            values,
        )
        return cursor.lastrowid or 0

    def session(self, **cells: Any) -> int:
        return self.add("sdk_sessions", **cells)

    def observation(self, title: str | None = None, **cells: Any) -> int:
        return self.add("observations", title=title, **cells)

    def summary(self, request: str, **cells: Any) -> int:
        return self.add("session_summaries", request=request, **cells)

    def prompt(self, text: str, **cells: Any) -> int:
        return self.add("user_prompts", prompt_text=text, **cells)

    def change(self, table: str, id: int, **cells: Any) -> None:
        """Set cells of a row."""
        names = ", ".join(f"{name} = ?" for name in cells)
        self.connection.execute(f"UPDATE {table} SET {names} WHERE id = ?", [*cells.values(), id])  # noqa: S608
