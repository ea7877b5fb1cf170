"""Pills: all that narrows or orders a result, each with the address that leaves it out."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from search.analysis import clean
from search.links import Links
from search.query import (
    Field,
    FieldName,
    Node,
    Not,
    Phrase,
    Prefix,
    Word,
    clauses,
    fields,
    remove_exclusion,
    remove_field,
    remove_node,
    time_label,
    top_members,
)
from search.request import FILTERS, Mode, Order, SearchRequest

ORDERS = {Order.NEWEST: "newest first", Order.OLDEST: "oldest first", Order.RELEVANCE: "by relevance"}
MODES = {Mode.KEYWORD: "words only", Mode.SEMANTIC: "by meaning only", Mode.HYBRID: "words and meaning"}


@dataclass(frozen=True, slots=True)
class Pill:
    """`is_exclusion`: it says what hits must not be."""

    label: str
    remove_url: str
    is_exclusion: bool = False


class Edits(Protocol):
    """Addresses of a page for edits of its query text."""

    def edited(self, tree: Node) -> str:
        """Return the address with another tree."""
        ...


def pills(request: SearchRequest) -> list[Pill]:
    """Return the pills of a request: filters in the order of its text, then those beside it, mode and order."""
    found = list(query_pills(request.parsed.tree, Links(request)))
    for name, attribute in FILTERS.items():
        values = getattr(request, attribute)
        found += [
            _without(request, _label(name, str(value)), **{attribute: tuple(one for one in values if one != value)})
            for value in values
        ]
    if request.date_start:
        found.append(_without(request, f"since {request.date_start:%Y-%m-%d %H:%M} UTC", date_start=None))
    if request.date_end:
        found.append(_without(request, f"until {request.date_end:%Y-%m-%d %H:%M} UTC", date_end=None))
    if request.max_distance is not None:
        found.append(_without(request, f"distance up to {request.max_distance:g}", max_distance=None))
    if request.mode is not Mode.AUTO:
        found.append(_without(request, MODES[request.mode], mode=Mode.AUTO))
    if request.order and request.order is not replace(request, order=None).effective_order:
        found.append(_without(request, ORDERS[request.order], order=None))
    return found


def query_pills(tree: Node, links: Edits) -> Iterable[Pill]:
    """Yield the pills of a query text in its order."""
    for node in top_members(tree):
        yield from _of_node(node, tree, links)


def _of_node(node: Node, tree: Node, links: Edits) -> list[Pill]:
    """Return the pills of one member of the query; none for the words that are searched for."""
    match node:
        case Field(FieldName.AFTER | FieldName.BEFORE as name, values):
            label = f"{'since' if name is FieldName.AFTER else 'until'} {time_label(values[0])}"
            return [Pill(clean(label), links.edited(remove_field(tree, name, values[0])))]
        case Field(name, values):
            return [Pill(_label(name, value), links.edited(remove_field(tree, name, value))) for value in values]
        case Not(Field(name, values)):
            return [
                Pill(f"not {_label(name, value)}", links.edited(remove_exclusion(tree, name, value)), True)
                for value in values
            ]
        case Word() | Phrase() | Prefix():
            return []
        case _ if isinstance(node, Not) or any(fields(node)) or _holds_field(node):
            label = ", ".join(clauses(node))
            return [Pill(clean(label), links.edited(remove_node(tree, node)), isinstance(node, Not))]
    return []


def _holds_field(node: Node) -> bool:
    return any(isinstance(one, Field) or _holds_field(one) for one in getattr(node, "nodes", ()) or _inner(node))


def _inner(node: Node) -> tuple[Node, ...]:
    return (node.node,) if isinstance(node, Not) else ()


def _without(request: SearchRequest, label: str, **changes: object) -> Pill:
    return Pill(clean(label), Links(replace(request, **changes)).canonical())  # type: ignore[arg-type]


def _label(name: FieldName, value: str) -> str:
    return clean(f"{name}: {value or '(empty)'}")
