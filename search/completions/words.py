"""What can be suggested without looking at memories: names of fields, and values of which there are only so many."""

from datetime import datetime

from search.completions.suggestion import Suggestion
from search.query import KINDS, STATES, FieldName

# In the order in which they are offered before anything is typed.
FIELD_NOTES = {
    FieldName.TYPE: "what an observation is, such as bugfix",
    FieldName.PROJECT: "what the work was for",
    FieldName.FILE: "a file or directory that was read or changed",
    FieldName.CONCEPT: "what an observation is about, such as gotcha",
    FieldName.TAG: "a word that people put on memories",
    FieldName.KIND: "observation, summary, prompt or drawer",
    FieldName.AFTER: "from a time on, such as 7d or 2026-01",
    FieldName.BEFORE: "up to a time, such as yesterday or 2026-01",
    FieldName.IS: "a state, such as pinned",
    FieldName.SESSION: "one run of an agent",
    FieldName.ROOM: "a topic inside a project",
    FieldName.AGENT: "who remembered it",
    FieldName.PLATFORM: "the program that remembered it",
    FieldName.ID: "one memory by its name, such as o12",
}
_KIND_NOTES = dict(
    zip(
        KINDS,
        ("what an agent noted", "what became of a session", "what a person asked", "a passage, word for word"),
        strict=True,
    )
)
_STATE_NOTES = dict(
    zip(
        STATES,
        (
            "neither archived nor in the trash",
            "put away",
            "in the trash",
            "pinned by a person",
            "replaced by a newer memory",
            "marked as wrong by a person",
            "written by a machine for itself",
            "of doubtful or unknown time",
            "in any state",
        ),
        strict=True,
    )
)
_AGO = {
    "today": "this day",
    "yesterday": "the day before this one",
    "7d": "7 days ago",
    "2w": "2 weeks ago",
    "1m": "a month ago",
    "6m": "6 months ago",
    "1y": "a year ago",
}


def suggest_names(typed: str) -> list[Suggestion]:
    """Return the fields whose name begins with what is typed."""
    wanted = typed.casefold()
    return [Suggestion(str(name), note=note) for name, note in FIELD_NOTES.items() if name.startswith(wanted)]


def suggest_kinds(typed: str) -> list[Suggestion]:
    return _beginning(_KIND_NOTES, typed)


def suggest_states(typed: str) -> list[Suggestion]:
    return _beginning(_STATE_NOTES, typed)


def suggest_times(typed: str, now: datetime) -> list[Suggestion]:
    """Return times that begin with what is typed; `now` is in the zone of whoever types."""
    return _beginning({**_AGO, f"{now:%Y-%m}": "this month", f"{now:%Y}": "this year"}, typed)


def _beginning(notes: dict[str, str], typed: str) -> list[Suggestion]:
    wanted = typed.casefold()
    return [Suggestion(value, note=note) for value, note in notes.items() if value.startswith(wanted)]
