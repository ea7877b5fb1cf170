"""The syntax tree of a query: values to `match` on, without any behaviour."""

from dataclasses import dataclass

from search.query.fields import FieldName


@dataclass(frozen=True, slots=True)
class Word:
    """A bare word as typed; the analyzer may split it further (`src/a.ts`, `don't`)."""

    text: str


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words in this order, never an operator."""

    text: str


@dataclass(frozen=True, slots=True)
class Prefix:
    """Words in this order, the last of which may go on (`prefix*`, `"rate lim"*`)."""

    text: str


@dataclass(frozen=True, slots=True)
class Field:
    """A filter: the memory has any of the values."""

    name: FieldName
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Not:
    node: "Node"


@dataclass(frozen=True, slots=True)
class And:
    nodes: tuple["Node", ...]


@dataclass(frozen=True, slots=True)
class Or:
    nodes: tuple["Node", ...]


Node = Word | Phrase | Prefix | Field | Not | And | Or

EMPTY = And(())
"""The tree of a query that asks for nothing in particular."""
