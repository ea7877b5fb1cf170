"""Queries that are still being typed: their last word may go on, and edits must not end it."""

from dataclasses import replace

from search.query.edits import top_members
from search.query.parser import ParsedQuery
from search.query.text import normalize, to_text
from search.query.tree import And, Node, Or, Prefix, Word


def open_last_word(tree: Node) -> Node:
    """The tree whose last leaf, when it is a word, is a prefix: for a query that ends_open."""
    match normalize(tree):
        case Word(text):
            return Prefix(text)
        case (And(nodes) | Or(nodes)) as group:
            return replace(group, nodes=(*nodes[:-1], open_last_word(nodes[-1]))) if nodes else group
        case other:
            return other


def edited_text(tree: Node, before: ParsedQuery) -> str:
    """The text of a tree that is an edit of `before` and finds as much by its words.

    A word that may go on stays last of all; in a group, which then is not the end, it becomes a prefix.
    """
    nodes = list(top_members(tree))
    last = top_members(before.tree)[-1] if before.ends_open else None
    if last is None or last not in nodes or len(nodes) == 1:
        return to_text(tree)
    place = len(nodes) - 1 - nodes[::-1].index(last)
    if isinstance(last, Word):
        nodes.append(nodes.pop(place))
    else:
        nodes[place] = open_last_word(last)
    return to_text(And(tuple(nodes)))
