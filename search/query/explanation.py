"""Tree -> words: what a query asks for, as one plain English fragment."""

from collections.abc import Iterable

from search.query.fields import FieldName
from search.query.text import normalize
from search.query.tree import EMPTY, And, Field, Node, Not, Or, Phrase, Prefix, Word

_BEFORE_VALUES = {
    FieldName.TYPE: "of type",
    FieldName.CONCEPT: "about concept",
    FieldName.FILE: "touching file",
    FieldName.PROJECT: "in project",
    FieldName.SESSION: "in session",
    FieldName.KIND: "of kind",
    FieldName.TAG: "tagged",
    FieldName.PLATFORM: "from platform",
    FieldName.ROOM: "in room",
    FieldName.AGENT: "by agent",
    FieldName.BEFORE: "before",
    FieldName.AFTER: "after",
    FieldName.ID: "with ref",
}
_STATES = {
    "active": "active",
    "archived": "archived",
    "trashed": "in the trash",
    "pinned": "pinned",
    "superseded": "superseded",
    "wrong": "marked as wrong",
    "noise": "marked as noise",
    "doubtful": "of doubtful or unknown time",
    "any": "in any state",
}


def explain(tree: Node) -> str:
    """One sentence fragment that starts with a noun: `memories with “login”, of type bugfix`."""
    tree = normalize(tree)
    if tree == EMPTY:
        return "all memories"
    return f"memories {', '.join(clauses(tree))}"


def clauses(tree: Node) -> list[str]:
    """What a memory must fulfil, all of it: texts first, then texts it lacks, then fields in order."""
    nodes = tree.nodes if isinstance(tree, And) else (tree,)
    wanted: list[Node] = []
    unwanted: list[Node] = []
    rest: list[str] = []
    for node in nodes:
        match node:
            case Not(inner) if _is_text(inner):
                unwanted.extend(inner.nodes if isinstance(inner, Or) else (inner,))
            case _ if _is_text(node):
                wanted.append(node)
            case _:
                rest.append(_clause(node))
    found = []
    if wanted:
        inner = wanted[0] if len(wanted) == 1 else And(tuple(wanted))
        found.append(f"with {_texts(inner)}")
    if unwanted:
        inner = unwanted[0] if len(unwanted) == 1 else Or(tuple(unwanted))
        found.append(f"without {_texts(inner, together=True)}")
    return found + rest


def _clause(node: Node) -> str:
    match node:
        case Field(name, values):
            return _filter(name, values)
        case Not(Field(name, values)):
            return f"not {_filter(name, values)}"
        case Not(inner):
            return f"not ({', '.join(clauses(inner))})"
        case Or(nodes):
            return f"either {listed(map(_branch, nodes), 'or')}"
        case _:
            return ", ".join(clauses(node))


def _branch(node: Node) -> str:
    found = clauses(node)
    return found[0] if len(found) == 1 else f"({', '.join(found)})"


def _is_text(node: Node) -> bool:
    match node:
        case Field():
            return False
        case Not(inner):
            return _is_text(inner)
        case And(nodes) | Or(nodes):
            return all(map(_is_text, nodes))
        case _:
            return True


def _texts(node: Node, *, together: bool = False) -> str:
    match node:
        case Word(text):
            return f"“{text}”"
        case Phrase(text):
            return f"the phrase “{text}”" if len(text.split()) > 1 else f"“{text}”"
        case Prefix(text):
            return f"words starting with “{text}”"
        case Not(inner):
            return f"not {_nested(inner)}"
        case And(nodes):
            words = listed(map(_nested, nodes), "and")
            return f"{words} together" if together else words
        case Or(nodes):
            return listed(map(_nested, nodes), "or")
        case Field(name, values):
            return _filter(name, values)


def _nested(node: Node) -> str:
    return f"({_texts(node)})" if isinstance(node, And | Or) else _texts(node)


def field_clause(field: Field) -> str:
    """What a memory must be to fulfil a field: `of type bugfix or feature`."""
    return _filter(field.name, field.values)


def _filter(name: FieldName, values: Iterable[str]) -> str:
    if name is FieldName.IS:
        return listed((_STATES.get(value, value) for value in values), "or")
    return f"{_BEFORE_VALUES[name]} {listed(map(shown_value, values), 'or')}"


def shown_value(value: str) -> str:
    """A value of a field as a sentence holds it: in quotes where it would be misread without."""
    if not value:
        return "(none)"
    is_plain = not any(c.isspace() or c in ",()“”" for c in value)
    return value if is_plain else f"“{value}”"


def listed(items: Iterable[str], last: str) -> str:
    """The items in words: `a, b or c`."""
    *most, end = items
    return f"{', '.join(most)} {last} {end}" if most else end
