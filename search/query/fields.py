"""The fields of the query language and the values each of them takes."""

import re
from datetime import datetime
from enum import StrEnum


class FieldName(StrEnum):
    TYPE = "type"
    CONCEPT = "concept"
    FILE = "file"
    PROJECT = "project"
    SESSION = "session"
    KIND = "kind"
    TAG = "tag"
    PLATFORM = "platform"
    ROOM = "room"
    AGENT = "agent"
    BEFORE = "before"
    AFTER = "after"
    IS = "is"
    ID = "id"


TIME_FIELDS = frozenset({FieldName.BEFORE, FieldName.AFTER})

KINDS = ("observation", "summary", "prompt", "drawer")
STATES = ("active", "archived", "trashed", "pinned", "superseded", "wrong", "noise", "doubtful", "any")
TIME_FORMS = (
    "2026-01-20, 2026-01, 2026, 2026-01-20T14:30+01:00, an epoch in seconds or milliseconds, "
    "today, yesterday, 7d, 3w, 6m or 1y"
)

_PLURALS = ("observations", "summaries", "prompts", "drawers")
_KIND_SPELLINGS = {
    spelling: kind for kind, plural in zip(KINDS, _PLURALS, strict=True) for spelling in (kind, plural, kind[0])
}

_PART_OF_CALENDAR = re.compile(r"[12]\d{3}(-(0[1-9]|1[0-2]))?", re.ASCII)
_DAY_OR_MOMENT = re.compile(
    r"[12]\d{3}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.,]\d{1,9})?)?(Z|[+-]\d\d(:?\d\d)?)?)?",
    re.ASCII | re.IGNORECASE,
)
_EPOCH = re.compile(r"\d{9,10}|\d{12,13}", re.ASCII)
# The number of digits keeps every result inside what a datetime can hold.
_RELATIVE = re.compile(r"today|yesterday|\d{1,4}[dwm]|\d{1,3}y", re.ASCII | re.IGNORECASE)
_REF = re.compile(r"#?[ospd]?\d{1,18}", re.ASCII | re.IGNORECASE)


def is_time_text(text: str) -> bool:
    """Whether text has the shape of a time that before: and after: take (TIME_FORMS).

    Years 1000 to 2999, days and clock times that exist; epochs have 9-10 digits (seconds) or 12-13
    (milliseconds); words, units, T and Z in either case; a blank may stand for the T.
    """
    if _PART_OF_CALENDAR.fullmatch(text) or _EPOCH.fullmatch(text) or _RELATIVE.fullmatch(text):
        return True
    if not _DAY_OR_MOMENT.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text.upper())
    except ValueError:
        return False
    return True


def is_ref_text(text: str) -> bool:
    """Whether text has the shape of a ref: `o12`, `S45`, `#12`, `#S45`, `12` (an observation)."""
    return _REF.fullmatch(text) is not None


def accepted_value(name: FieldName, value: str) -> str | None:
    """The value as the tree holds it, or None when the field does not take it.

    kind: and is: values come back in their one spelling (`o` is `observation`); all others as typed.
    """
    match name:
        case FieldName.KIND:
            return _KIND_SPELLINGS.get(value.casefold())
        case FieldName.IS:
            state = value.casefold()
            return state if state in STATES else None
        case FieldName.BEFORE | FieldName.AFTER:
            return value if is_time_text(value) else None
        case FieldName.ID:
            return value if is_ref_text(value) else None
        case _:
            return value
