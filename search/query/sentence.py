"""Tree and number of hits -> one sentence that says what is being shown: 12 decisions with “auth” in web-api."""

import re
from dataclasses import dataclass

from search.query.explanation import clauses, field_clause, listed, shown_value
from search.query.fields import FieldName
from search.query.text import normalize
from search.query.tree import And, Field, Node, Or, Phrase, Prefix, Word

_KIND_NOUNS = {
    "observation": ("observation", "observations"),
    "summary": ("session summary", "session summaries"),
    "prompt": ("prompt", "prompts"),
    "drawer": ("passage", "passages"),
}
# Types that are read as a noun; memories of another type are said to be of it.
_TYPE_NOUNS = {
    "bugfix": ("bugfix", "bugfixes"),
    "change": ("change", "changes"),
    "chore": ("chore", "chores"),
    "decision": ("decision", "decisions"),
    "discovery": ("discovery", "discoveries"),
    "feature": ("feature", "features"),
    "fix": ("fix", "fixes"),
    "refactor": ("refactoring", "refactorings"),
    "security_alert": ("security alert", "security alerts"),
    "test": ("test", "tests"),
}
_MEMORY = ("memory", "memories")
_ADJECTIVES = {"active", "archived", "pinned", "superseded"}
_BEFORE_VALUES = {
    FieldName.PROJECT: "in",
    FieldName.SESSION: "in session",
    FieldName.CONCEPT: "with concept",
    FieldName.FILE: "touching",
    FieldName.TAG: "tagged",
    FieldName.PLATFORM: "from",
    FieldName.ROOM: "in room",
    FieldName.AGENT: "by",
    FieldName.ID: "with ref",
}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_UNITS = {"d": "day", "w": "week", "m": "month", "y": "year"}
_CALENDAR = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\S+))?)?)?", re.IGNORECASE)
_AGO = re.compile(r"(\d+)([dwmy])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Sentence:
    """What is shown: how many of what, and all that holds of them. Together they are one sentence."""

    count: str
    rest: str

    def __str__(self) -> str:
        return f"{self.count} {self.rest}" if self.rest else self.count


def describe(
    tree: Node, total: int, *, is_capped: bool = False, by_meaning: bool = False, with_any: bool = False
) -> Sentence:
    """Return what is shown of a tree in one sentence.

    `is_capped`: there are more than `total`. `by_meaning`: bare words were wished for, not required. `with_any`: any of
    the words sufficed.
    """
    tree = normalize(tree)
    members = tree.nodes if isinstance(tree, And) else (tree,)
    positive: dict[FieldName, list[Field]] = {}
    for node in members:
        if isinstance(node, Field):
            positive.setdefault(node.name, []).append(node)
    noun = _noun(positive, one=total == 1 and not is_capped)
    count = f"{'More than ' if is_capped else ''}{total:,}" if total or is_capped else "No"
    texts = [node for node in members if isinstance(node, Word | Phrase | Prefix)]
    others = [node for node in members if not isinstance(node, Word | Phrase | Prefix | Field)]
    parts = _texts(texts, by_meaning=by_meaning, with_any=with_any)
    for name, lead in _BEFORE_VALUES.items():
        some = [f"{lead} {listed(map(shown_value, field.values), 'or')}" for field in positive.get(name, [])]
        parts += [" and ".join(some)] if some else []
    for name in (FieldName.IS, FieldName.KIND, FieldName.TYPE):
        some = [field_clause(field) for field in positive.get(name, [])]
        parts += [" and ".join(some)] if some else []
    parts += _period(positive.get(FieldName.AFTER, []), positive.get(FieldName.BEFORE, []))
    rest = ", ".join(filter(None, (" ".join(parts), *(clauses(And(tuple(others))) if others else ()))))
    return Sentence(f"{count} {noun}", rest)


def _noun(positive: dict[FieldName, list[Field]], *, one: bool) -> str:
    """Return what the hits are, out of the fields that say so; these are taken out."""
    adjective = ""
    match positive.get(FieldName.IS):
        case [Field(_, (state,))] if state in _ADJECTIVES:
            adjective = f"{state} "
            del positive[FieldName.IS]
    noun = _MEMORY[not one]
    match positive.get(FieldName.TYPE), positive.get(FieldName.KIND):
        case [Field(_, types)], None | [Field(_, ("observation",))] if all(
            type.casefold() in _TYPE_NOUNS for type in types
        ):
            noun = listed(dict.fromkeys(_TYPE_NOUNS[type.casefold()][not one] for type in types), "or")
            positive.pop(FieldName.TYPE)
            positive.pop(FieldName.KIND, None)
        case None, [Field(_, kinds)]:
            noun = listed((_KIND_NOUNS[kind][not one] for kind in kinds), "or")
            del positive[FieldName.KIND]
    return adjective + noun


def _texts(nodes: list[Word | Phrase | Prefix], *, by_meaning: bool, with_any: bool) -> list[str]:
    words = [node for node in nodes if not isinstance(node, Phrase)]
    if by_meaning and words:
        phrases = [node for node in nodes if isinstance(node, Phrase)]
        about = "about “" + " ".join(word.text for word in words) + "”"
        return [about, *(clauses(And(tuple(phrases))) if phrases else ())]
    if with_any and len(nodes) > 1:
        return clauses(Or(tuple(nodes)))
    return clauses(And(tuple(nodes))) if nodes else []


def _period(after: list[Field], before: list[Field]) -> list[str]:
    """Return what the times say; a field takes one time."""
    starts, ends = [field.values[0] for field in after], [field.values[0] for field in before]
    match starts, ends:
        case [start], [end] if start.casefold() == end.casefold() and (whole := _whole(start)):
            return [whole]
        case [start], [] if ago := _AGO.fullmatch(start):
            number = int(ago[1])
            unit = _UNITS[ago[2].lower()]
            return [f"in the last {unit}" if number == 1 else f"in the last {number:,} {unit}s"]
        case [start], [end]:
            return [f"from {time_label(start)} to {time_label(end)}"]
    sides = ((f"since {time_label(one)}" for one in starts), (f"until {time_label(one)}" for one in ends))
    return [said for side in sides if (said := " and ".join(side))]


def _whole(text: str) -> str:
    """Return the words for all of a day, month or year; empty for a moment."""
    if text.casefold() in {"today", "yesterday"}:
        return text.casefold()
    match = _CALENDAR.fullmatch(text)
    if match is None or match[4]:
        return ""
    return f"{'on' if match[3] else 'in'} {time_label(text)}"


def time_label(text: str) -> str:
    """Return a time of the query language as people write it: `2026-05` is May 2026; what has no such form as it is."""
    if ago := _AGO.fullmatch(text):
        number = int(ago[1])
        return f"{number:,} {_UNITS[ago[2].lower()]}{'' if number == 1 else 's'} ago"
    match = _CALENDAR.fullmatch(text)
    if match is None:
        return text.casefold()
    year, month, day, clock = match.groups()
    if not month:
        return year
    name = _MONTHS[int(month) - 1]
    if not day:
        return f"{name} {year}"
    return f"{int(day)} {name} {year}" + (f", {clock.upper()}" if clock else "")
