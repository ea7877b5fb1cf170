"""Recognises what machines wrote for themselves: it would drown what people and their agents wrote."""

import json
import re
from collections.abc import Iterable

OBSERVER_PROJECT = "observer-sessions"
_NOTIFICATION = re.compile(
    r"\s*(?:<task-notification\b[^>]*>.*?(?:</task-notification>|\Z)\s*)+", re.IGNORECASE | re.DOTALL
)
_MACHINE_PREFIXES = (
    "you are an observer",
    "you are a claude-mem",
    "you are claude-mem",
    "hello memory agent",
    "<observed_from_primary_session>",
    "progress summary checkpoint",
    "--- mode switch: progress summary",
)
_MACHINE_TEXTS = frozenset({"heartbeat_ok", "heartbeat", "no_reply"})


def is_observer_project(project: str) -> bool:
    """Return whether a project is the folder in which claude-mem's own agent runs."""
    return project.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1] == OBSERVER_PROJECT


def is_task_notification(text: str) -> bool:
    """Return whether a prompt is nothing but notifications that background tasks ended."""
    return "<task-notification" in text.lower() and _NOTIFICATION.fullmatch(text) is not None


def machine_prompt(text: str) -> str:
    """Return which machine prompt a text is (its beginning in lower case), or an empty text when a person wrote it."""
    start = text[:80].strip().lower()
    if start in _MACHINE_TEXTS and len(text) < 80:
        return start
    return next((prefix for prefix in _MACHINE_PREFIXES if start.startswith(prefix)), "")


def is_error_object(texts: Iterable[str]) -> bool:
    """Return whether all that an observation says below its title is JSON objects with an error."""
    said = [text for text in texts if text and not text.isspace()]
    return bool(said) and all(map(_is_error, said))


def _is_error(text: str) -> bool:
    if not text.lstrip().startswith("{") or '"error"' not in text:
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "error" in value
