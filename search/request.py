"""SearchRequest: the one frozen value that page, command line and every later surface search with."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from functools import cached_property
from typing import Any

from memweb.memories.kinds import Kind
from search.query import (
    STATES,
    And,
    Field,
    FieldName,
    Node,
    ParsedQuery,
    explain,
    normalize,
    open_last_word,
    parse,
    positive_words,
    required_part,
)
from search.query.fields import accepted_value
from search.query.parser import MAX_LENGTH
from search.texts import whole_characters
from search.times import period_of

MAX_LIMIT = 200
DEFAULT_LIMIT = 20
MAX_OFFSET = 1_000_000
# One more than the parser reads, so that it still says that a text is too long; links repeat the text many times.
MAX_QUERY = MAX_LENGTH + 1


# How results are asked for and shown, not which.
NO_FILTERS = {"query", "mode", "group", "limit", "offset", "cursor"}


class Mode(StrEnum):
    """Which strategies may take part."""

    AUTO = "auto"
    KEYWORD = "keyword"
    SEMANTIC = "semantic"
    HYBRID = "hybrid"


class Order(StrEnum):
    """Order of the results."""

    RELEVANCE = "relevance"
    NEWEST = "newest"
    OLDEST = "oldest"


# Filters beside the query text: the field of each and the attribute that holds its values.
FILTERS = {
    FieldName.KIND: "kinds",
    FieldName.TYPE: "types",
    FieldName.PROJECT: "projects",
    FieldName.SESSION: "sessions",
    FieldName.CONCEPT: "concepts",
    FieldName.FILE: "files",
    FieldName.TAG: "tags",
    FieldName.PLATFORM: "platforms",
    FieldName.ROOM: "rooms",
    FieldName.AGENT: "agents",
    FieldName.IS: "states",
}


class Group(StrEnum):
    """How the results of a page are put together."""

    SESSION = "session"
    DAY = "day"


@dataclass(frozen=True)
class SearchRequest:
    """What is searched for. Filters of different names all hold; values of one name are alternatives.

    `date_start` is the first moment that counts, `date_end` the first that no longer does; both UTC. `cursor` is an
    opaque text of an earlier result; `offset` counts results to leave out and is ignored when there is a cursor.
    `max_distance` is the largest cosine distance (0 to 2) at which meaning alone makes a hit.
    """

    query: str = ""
    mode: Mode = Mode.AUTO
    kinds: tuple[Kind, ...] = ()
    types: tuple[str, ...] = ()
    projects: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    date_start: datetime | None = None
    date_end: datetime | None = None
    max_distance: float | None = None
    order: Order | None = None
    group: Group | None = None
    limit: int = DEFAULT_LIMIT
    offset: int = 0
    cursor: str = ""

    @cached_property
    def parsed(self) -> ParsedQuery:
        """The query text as a tree, with notes on what could not be understood."""
        return parse(self.query)

    @cached_property
    def tree(self) -> Node:
        """The whole request as one tree: the query and the filters beside it (times are not in it).

        When the query ends in an unfinished word, that word is a prefix.
        """
        query = open_last_word(self.parsed.tree) if self.parsed.ends_open else self.parsed.tree
        return normalize(And((query, *self.filter_fields())))

    @property
    def explanation(self) -> str:
        """What is searched for, in words."""
        return explain(self._said)

    def explanation_by_meaning(self, *, with_phrases: bool = True) -> str:
        """What is searched for by meaning alone, in words."""
        required = explain(required_part(self._said, with_phrases=with_phrases))
        text = " ".join(positive_words(self.parsed.tree))
        further = required.removeprefix("memories") if required != "all memories" else ""
        return f"memories that come near “{text}” in meaning{',' if further else ''}{further}"

    @property
    def _said(self) -> Node:
        times = [
            Field(name, (moment.isoformat(timespec="seconds"),))
            for name, moment in ((FieldName.AFTER, self.date_start), (FieldName.BEFORE, self.date_end))
            if moment
        ]
        return normalize(And((self.parsed.tree, *self.filter_fields(), *times)))

    def filter_fields(self) -> Iterable[Field]:
        """Yield the filters given beside the query text, as fields of the query language."""
        values = {name: tuple(map(str, getattr(self, attribute))) for name, attribute in FILTERS.items()}
        return [Field(name, given) for name, given in values.items() if given]

    @property
    def effective_order(self) -> Order:
        """The order asked for; relevance when there are words to rank by, else newest first."""
        return self.order or (Order.RELEVANCE if self.has_words else Order.NEWEST)

    @cached_property
    def has_words(self) -> bool:
        """Whether there is anything to rank by."""
        return bool(positive_words(self.parsed.tree))

    def filters(self) -> dict[str, object]:
        """Return every filter that is set, JSON-ready, for showing what was applied."""
        shown: dict[str, object] = {}
        default = SearchRequest()
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in {"query", "mode", "group", "limit", "offset", "cursor"} or value == getattr(
                default, field.name
            ):
                continue
            shown[field.name] = list(map(str, value)) if isinstance(value, tuple) else str(value)
        return shown


@dataclass(frozen=True, slots=True)
class Problem:
    """A parameter that makes no sense: its name, its value, and a sentence that says what is accepted."""

    field: str
    value: str
    message: str


@dataclass(frozen=True, slots=True)
class NormalizedRequest:
    """A request read from parameters; parameters with a problem are left out of it and named."""

    request: SearchRequest
    problems: tuple[Problem, ...]


# Other names of parameters, as claude-mem and its callers write them.
_ALIASES = {
    "q": "query",
    "kind": "kinds",
    "obs_type": "types",
    "obs_types": "types",
    "obsType": "types",
    "type": "types",
    "project": "projects",
    "wing": "projects",
    "session": "sessions",
    "session_id": "sessions",
    "sessionId": "sessions",
    "concept": "concepts",
    "file": "files",
    "filePath": "files",
    "file_path": "files",
    "tag": "tags",
    "platform": "platforms",
    "platform_source": "platforms",
    "platformSource": "platforms",
    "room": "rooms",
    "agent": "agents",
    "state": "states",
    "is": "states",
    "dateStart": "date_start",
    "date_from": "date_start",
    "dateFrom": "date_start",
    "since": "date_start",
    "after": "date_start",
    "dateEnd": "date_end",
    "date_to": "date_end",
    "dateTo": "date_end",
    "until": "date_end",
    "before": "date_end",
    "orderBy": "order",
    "order_by": "order",
    "sort": "order",
    "n_results": "limit",
    "maxDistance": "max_distance",
}
_ORDERS = {
    "relevance": Order.RELEVANCE,
    "newest": Order.NEWEST,
    "oldest": Order.OLDEST,
    "date_desc": Order.NEWEST,
    "date_asc": Order.OLDEST,
}
# claude-mem calls kinds types, and session summaries sessions.
_KIND_NAMES = {"observations": Kind.OBSERVATION, "sessions": Kind.SUMMARY, "prompts": Kind.PROMPT}
_LISTS = {"types", "projects", "sessions", "concepts", "files", "tags", "platforms", "rooms", "agents"}
_MODES = {str(mode): mode for mode in Mode}


def normalize_params(
    params: Mapping[str, object], zone: tzinfo = UTC, now: datetime | None = None
) -> NormalizedRequest:
    """Read a request from the parameters of any surface: a QueryDict, JSON, a plain dict.

    Lists may be comma lists or repeated keys; a blank value is no filter. Unknown parameters are left alone. A date
    without time is its whole day in `zone`. Never raises for bad values: each becomes a Problem.
    """
    found: dict[str, object] = {}
    problems: list[Problem] = []
    for key in params:
        name = _ALIASES.get(key, key)
        texts = _texts(params, key)
        if name == "types" and texts and all(text in _KIND_NAMES for text in _comma_list(texts)):
            name, texts = "kinds", [str(_KIND_NAMES[text]) for text in _comma_list(texts)]
        if not texts and name != "query":
            continue
        try:
            value = _value(name, texts, zone, now, is_list=isinstance(params[key], list | tuple))
        except ValueError as error:
            problems.append(Problem(key, ", ".join(texts)[:200], str(error)))
            continue
        if value is None:
            continue
        if isinstance(value, tuple) and isinstance(found.get(name), tuple):
            value = (*found[name], *value)  # type: ignore[misc]
        found[name] = value
    request = replace(SearchRequest(), **found)  # type: ignore[arg-type]
    if request.date_start and request.date_end and request.date_start >= request.date_end:
        problems.append(Problem("date_end", str(request.date_end), "the end of the time range is before its start"))
        request = replace(request, date_start=None, date_end=None)
    return NormalizedRequest(request, tuple(problems))


def _texts(params: Mapping[str, object], key: str) -> list[str]:
    value = params.getlist(key) if hasattr(params, "getlist") else params[key]
    values = value if isinstance(value, list | tuple) else [value]
    return [whole_characters(str(one)) for one in values if one is not None and str(one).strip()]


def _value(name: str, texts: list[str], zone: tzinfo, now: datetime | None, *, is_list: bool) -> object:
    match name:
        case "query":
            return texts[-1][:MAX_QUERY] if texts else ""
        case "kinds":
            return tuple(Kind(_accepted(FieldName.KIND, text)) for text in _comma_list(texts))
        case "states":
            return tuple(_accepted(FieldName.IS, text) for text in _comma_list(texts))
        case "date_start":
            return period_of(texts[-1], zone, now).start
        case "date_end":
            return period_of(texts[-1], zone, now).end
        case "dateRange" | "date_range":
            raise ValueError("give the two ends as date_start and date_end")
        case "order":
            return _choice(texts[-1], _ORDERS)
        case "group":
            return _choice(texts[-1], {str(group): group for group in Group})
        case "mode":
            return _choice(texts[-1], _MODES)
        case "max_distance":
            return _distance(texts[-1])
        case "limit":
            return _number(texts[-1], 1, MAX_LIMIT)
        case "offset":
            return _number(texts[-1], 0, MAX_OFFSET)
        case "cursor":
            return texts[-1]
        case _ if name in _LISTS:
            # A list of JSON or of a command line says by itself where a value ends.
            return tuple(dict.fromkeys(texts)) if is_list else tuple(_comma_list(texts))
    return None


def _comma_list(texts: list[str]) -> list[str]:
    """Return the values of a list: repeated keys and a value without comma as they are, else its parts."""
    if len(texts) > 1 or "," not in texts[0]:
        return list(dict.fromkeys(texts))
    return list(dict.fromkeys(part.strip() for part in texts[0].split(",") if part.strip()))


def _accepted(name: FieldName, text: str) -> str:
    value = accepted_value(name, text)
    if value is None and name is FieldName.KIND and text in _KIND_NAMES:
        value = str(_KIND_NAMES[text])
    if value is None:
        allowed = ", ".join(map(str, Kind)) if name is FieldName.KIND else ", ".join(STATES)
        raise ValueError(f"“{text}” is not known here; accepted are {allowed}")
    return value


def _choice(text: str, choices: dict[str, Any]) -> Any:
    """Return what a word names, however it is capitalised. Raises ValueError."""
    choice = choices.get(text.strip().casefold())
    if choice is None:
        raise ValueError(f"“{text}” is not known here; accepted are {', '.join(choices)}")
    return choice


def _number(text: str, low: int, high: int) -> int:
    text = text.strip()
    if not text.isascii() or not text.isdigit() or len(text) > 9 or not low <= int(text) <= high:
        raise ValueError(f"“{text}” is not a whole number from {low} to {high}")
    return int(text)


def _distance(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value <= 2:
        raise ValueError(f"“{text}” is not a cosine distance; use a number from 0 to 2")
    return value
