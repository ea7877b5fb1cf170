"""The contract between memories and the keyword index: which texts and filter tokens a memory has.

Memories do not know how text becomes index terms. The search package registers its analyzer here when Django starts,
so that the one-way dependency `memories <- search` holds and no write path can forget the terms.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from urllib.parse import quote

from django.core.exceptions import ImproperlyConfigured


@dataclass(frozen=True, slots=True)
class IndexedText:
    """What is searchable of one memory: its title, its other texts in order, and its filter tokens."""

    title: str
    body: list[str]
    scope: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class IndexTerms:
    """Values of the four derived columns, each a blank-separated list of tokens."""

    title: str
    body: str
    variants: str
    scope: str


EVERY_MEMORY = "=a"
"""Filter token of every memory: what "all but ..." starts from, since FTS5 knows no bare NOT."""

_LABEL_LETTERS = {"c": "concept_ids", "f": "file_ids", "g": "tag_ids"}

TermBuilder = Callable[[IndexedText], IndexTerms]
_builders: list[TermBuilder] = []


def register_term_builder(builder: TermBuilder) -> None:
    """Make `builder` the analyzer of every memory that is written from now on."""
    _builders[:] = [builder]


def build_terms(text: IndexedText) -> IndexTerms:
    """Return the index terms of a memory's text."""
    if not _builders:
        raise ImproperlyConfigured("no analyzer is registered: add 'search' to INSTALLED_APPS")
    return _builders[0](text)


def scope_tokens(
    *,
    project_id: int,
    session_id: int | None = None,
    platform: str = "",
    type: str = "",
    created_at: datetime | None = None,
    concept_ids: Iterable[int] = (),
    file_ids: Iterable[int] = (),
    tag_ids: Iterable[int] = (),
    flags: Iterable[str] = (),
) -> list[str]:
    """Return the filter tokens of a memory; each starts with `=`, which no word of a text ever does."""
    tokens = [EVERY_MEMORY, project_token(project_id)]
    if session_id is not None:
        tokens.append(session_token(session_id))
    if platform:
        tokens.append(platform_token(platform))
    if type:
        tokens.append(type_token(type))
    if created_at is not None:
        tokens += date_tokens(created_at)
    tokens += [concept_token(id) for id in concept_ids]
    tokens += [file_token(id) for id in file_ids]
    tokens += [tag_token(id) for id in tag_ids]
    tokens += [flag_token(flag) for flag in flags]
    return list(dict.fromkeys(tokens))


def label_ids_in(scope: str) -> dict[str, list[int]]:
    """Return the ids of labels that filter tokens name, by the parameters of `scope_tokens`."""
    ids: dict[str, list[int]] = {"concept_ids": [], "file_ids": [], "tag_ids": []}
    for token in scope.split():
        name = _LABEL_LETTERS.get(token[1:2])
        if name and token[2:].isdigit():
            ids[name].append(int(token[2:]))
    return ids


def project_token(project_id: int) -> str:
    return f"=p{project_id}"


def session_token(session_id: int) -> str:
    return f"=s{session_id}"


@lru_cache(1_000)
def platform_token(platform: str) -> str:
    return f"=w{quote(platform.casefold(), safe='')}"


@lru_cache(1_000)
def type_token(type: str) -> str:
    return f"=t{quote(type.casefold(), safe='')}"


def date_tokens(moment: datetime) -> list[str]:
    """Tokens of the UTC day of an aware moment: of its year, its month of any year, its day of any month.

    They filter nothing; a question that names a date ranks by them.
    """
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return [year_token(moment.year), month_token(moment.month), day_token(moment.day)]


def year_token(year: int) -> str:
    return f"=y{year}"


def month_token(month: int) -> str:
    return f"=m{month}"


def day_token(day: int) -> str:
    return f"=d{day}"


def concept_token(concept_id: int) -> str:
    return f"=c{concept_id}"


def file_token(file_id: int) -> str:
    return f"=f{file_id}"


def tag_token(tag_id: int) -> str:
    return f"=g{tag_id}"


def flag_token(flag: str) -> str:
    """Token of a state that few memories are in: archived, trashed, noise, superseded, pinned, doubtful."""
    return f"=x{flag}"
