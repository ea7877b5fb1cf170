"""Edits of a query: every chip and every facet link is a change of the tree, never of the text.

Field edits concern the top level only, that is the tree itself or the members of its And.
"""

from collections.abc import Iterator
from dataclasses import replace

from search.query.fields import TIME_FIELDS, FieldName, accepted_value
from search.query.text import normalize
from search.query.tree import And, Field, Node, Not, Or, Phrase, Prefix, Word


def fields(tree: Node) -> Iterator[tuple[Field, bool]]:
    """The top-level fields in order, each with whether it is negated."""
    for node in top_members(tree):
        match node:
            case Field():
                yield node, False
            case Not(Field() as field):
                yield field, True


def has_field(tree: Node, name: FieldName | str, value: str) -> bool:
    """Whether a top-level field that is not negated holds the value."""
    name, value = FieldName(name), _spelling(FieldName(name), value)
    return any(field.name is name and value in field.values for field, negated in fields(tree) if not negated)


def add_field(tree: Node, name: FieldName | str, value: str) -> Node:
    """The tree with the value as one more alternative of the field; a time replaces the time before.

    Raises ValueError for a name that is no field and a value that the field does not take.
    """
    name = FieldName(name)
    accepted = accepted_value(name, value)
    if accepted is None:
        raise ValueError(f"{name}: does not take {value!r}")
    if has_field(tree, name, accepted):
        return normalize(tree)
    nodes = list(top_members(tree))
    places = [i for i, node in enumerate(nodes) if isinstance(node, Field) and node.name is name]
    if not places:
        return normalize(And((*nodes, Field(name, (accepted,)))))
    first = nodes[places[0]]
    earlier = first.values if isinstance(first, Field) and name not in TIME_FIELDS else ()
    nodes[places[0]] = Field(name, (*earlier, accepted))
    superfluous = places[1:] if name in TIME_FIELDS else []
    return normalize(And(tuple(node for i, node in enumerate(nodes) if i not in superfluous)))


def remove_field(tree: Node, name: FieldName | str, value: str) -> Node:
    """The tree without the value in its top-level fields; a field that loses its last value goes."""
    name, value = FieldName(name), _spelling(FieldName(name), value)

    def without_value(node: Node) -> Node:
        if isinstance(node, Field) and node.name is name:
            return replace(node, values=tuple(kept for kept in node.values if kept != value))
        return node

    return normalize(And(tuple(map(without_value, top_members(tree)))))


def toggle_field(tree: Node, name: FieldName | str, value: str) -> Node:
    """The tree without the value when it has it, else with it and without its exclusion. Raises like add_field."""
    if has_field(tree, name, value):
        return remove_field(tree, name, value)
    return add_field(remove_exclusion(tree, name, value), name, value)


def is_excluded(tree: Node, name: FieldName | str, value: str) -> bool:
    """Whether a negated top-level field holds the value."""
    name, value = FieldName(name), _spelling(FieldName(name), value)
    return any(field.name is name and value in field.values for field, negated in fields(tree) if negated)


def exclude_field(tree: Node, name: FieldName | str, value: str) -> Node:
    """The tree with the value as one more that the field must not have, and no longer as one it may have.

    Raises like add_field.
    """
    name = FieldName(name)
    accepted = accepted_value(name, value)
    if accepted is None:
        raise ValueError(f"{name}: does not take {value!r}")
    tree = remove_field(tree, name, accepted)
    if is_excluded(tree, name, accepted):
        return tree
    nodes = list(top_members(tree))
    for place, node in enumerate(nodes):
        match node:
            case Not(Field(found, values)) if found is name:
                nodes[place] = Not(Field(name, (*values, accepted)))
                return normalize(And(tuple(nodes)))
    return normalize(And((*nodes, Not(Field(name, (accepted,))))))


def remove_exclusion(tree: Node, name: FieldName | str, value: str) -> Node:
    """The tree without the value in its negated top-level fields."""
    name, value = FieldName(name), _spelling(FieldName(name), value)

    def without_value(node: Node) -> Node:
        match node:
            case Not(Field(found, values)) if found is name:
                return Not(Field(name, tuple(kept for kept in values if kept != value)))
        return node

    return normalize(And(tuple(map(without_value, top_members(tree)))))


def toggle_exclusion(tree: Node, name: FieldName | str, value: str) -> Node:
    """The tree without the exclusion of the value when it has it, else with it. Raises like add_field."""
    edit = remove_exclusion if is_excluded(tree, name, value) else exclude_field
    return edit(tree, name, value)


def without_fields(tree: Node, *names: FieldName) -> Node:
    """The tree without its top-level fields of these names, negated or not."""

    def is_kept(node: Node) -> bool:
        match node:
            case Field(name) | Not(Field(name)):
                return name not in names
        return True

    return normalize(And(tuple(filter(is_kept, top_members(tree)))))


def with_period(tree: Node, after: str = "", before: str = "") -> Node:
    """The tree with these times, last of all, instead of those it has; an empty one is none.

    Raises ValueError for what is not a time.
    """
    tree = without_fields(tree, *TIME_FIELDS)
    for name, value in ((FieldName.AFTER, after), (FieldName.BEFORE, before)):
        tree = add_field(tree, name, value) if value else tree
    return tree


def remove_node(tree: Node, node: Node) -> Node:
    """The tree without the top-level members equal to node; where there are none, without it anywhere."""
    node, members = normalize(node), top_members(tree)
    if node in members:
        return normalize(And(tuple(member for member in members if member != node)))
    return normalize(_without(normalize(tree), node))


def positive_words(tree: Node) -> list[str]:
    """Texts to highlight and rank by, each once, in order: words, phrases, prefixes not under a Not."""
    return list(dict.fromkeys(_positive(normalize(tree))))


def required_part(tree: Node, *, with_phrases: bool = True) -> Node:
    """What every hit must fulfil where words are only wished for: filters, exclusions, groups that hold one of these.

    Quoted phrases too, unless `with_phrases` is False.
    """
    wished = (Word, Prefix) if with_phrases else (Word, Prefix, Phrase)
    return And(tuple(node for node in top_members(tree) if not _is_wished(node, wished)))


def top_members(tree: Node) -> tuple[Node, ...]:
    """The members of the top level: those of the And, or the tree itself."""
    tree = normalize(tree)
    return tree.nodes if isinstance(tree, And) else (tree,)


def _spelling(name: FieldName, value: str) -> str:
    accepted = accepted_value(name, value)
    return value if accepted is None else accepted


def _without(tree: Node, unwanted: Node) -> Node:
    if tree == unwanted:
        return And(())
    match tree:
        case Not(node):
            return Not(_without(node, unwanted))
        case And(nodes) | Or(nodes):
            return type(tree)(tuple(_without(node, unwanted) for node in nodes))
        case _:
            return tree


def _is_wished(node: Node, wished: tuple[type[Node], ...]) -> bool:
    if isinstance(node, And | Or):
        return all(_is_wished(one, wished) for one in node.nodes)
    return isinstance(node, wished)


def _positive(tree: Node) -> Iterator[str]:
    match tree:
        case Word(text) | Phrase(text) | Prefix(text):
            yield text
        case And(nodes) | Or(nodes):
            for node in nodes:
                yield from _positive(node)
