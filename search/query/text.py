"""Tree -> canonical tree -> text that parses to the same tree."""

from search.query.fields import FieldName, accepted_value
from search.query.tokens import Token, TokenKind, scan
from search.query.tree import EMPTY, And, Field, Node, Not, Or, Phrase, Prefix, Word


def normalize(tree: Node) -> Node:
    """The canonical form of tree, which means the same.

    Nested And and Or are flattened, groups of one and double negation are gone, and so is what says
    nothing (empty texts, groups, fields). A word that cannot stand without quotes is a phrase.
    """
    return _normalized(tree) or EMPTY


def to_text(tree: Node) -> str:
    """Query text with as few quotes and parentheses as its meaning allows.

    parse(to_text(tree)).tree == normalize(tree), within the parser's limits and for field values that
    the parser accepts.
    """
    return _written(normalize(tree))


def _normalized(tree: Node) -> Node | None:
    match tree:
        case Word(text):
            text = text.strip()
            return (Word(text) if _reads_as_word(text) else Phrase(text)) if text else None
        case Phrase(text):
            return Phrase(text.strip()) if text.strip() else None
        case Prefix(text):
            return Prefix(text.strip()) if text.strip() else None
        case Field(name, values):
            accepted = (accepted_value(name, value) for value in values)
            kept = (value if good is None else good for value, good in zip(values, accepted, strict=True))
            return Field(name, unique) if (unique := tuple(dict.fromkeys(kept))) else None
        case Not(node):
            return _negated(_normalized(node))
        case And(nodes):
            return _grouped(And, nodes)
        case Or(nodes):
            return _grouped(Or, nodes)


def _negated(node: Node | None) -> Node | None:
    match node:
        case None:
            return None
        case Not(inner):
            return inner
        case Word(text) if not _reads_as_word(text, "-"):
            return Not(Phrase(text))
        case _:
            return Not(node)


def _grouped(group: type[And] | type[Or], nodes: tuple[Node, ...]) -> Node | None:
    flat: list[Node] = []
    for node in map(_normalized, nodes):
        if isinstance(node, group):
            flat.extend(node.nodes)
        elif node is not None:
            flat.append(node)
    if len(flat) > 1:
        return group(tuple(flat))
    return flat[0] if flat else None


def _written(node: Node, before: str = "") -> str:
    match node:
        case Word(text):
            return before + text
        case Phrase(text):
            return before + _quoted(text)
        case Prefix(text):
            bare = f"{before}{text}*"
            last = _last_of(bare, before)
            is_bare = last is not None and last.kind is TokenKind.PREFIX and last.text == text
            return bare if is_bare else f"{before}{_quoted(text)}*"
        case Field(name, values):
            return f"{before}{name}:" + ",".join(value_text(name, value) for value in values)
        case Not(inner):
            return _grouping(inner, "-") if isinstance(inner, And | Or) else _written(inner, "-")
        case And(nodes):
            return " ".join(_grouping(n) if isinstance(n, Or) else _written(n) for n in nodes)
        case Or(nodes):
            return " OR ".join(map(_written, nodes))


def _grouping(node: Node, before: str = "") -> str:
    return f"{before}({_written(node)})"


def value_text(name: FieldName, value: str) -> str:
    """The value as it stands behind the name of its field, in quotes where it needs them."""
    last = _last_of(f"{name}:{value}")
    return value if last is not None and last.values == (value,) else _quoted(value)


def _quoted(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"'


def _reads_as_word(text: str, before: str = "") -> bool:
    last = _last_of(before + text, before)
    return last is not None and last.kind is TokenKind.WORD and last.text == text


def _last_of(text: str, before: str = "") -> Token | None:
    """The token of text, or the one behind its minus; None when there are more or less than that."""
    tokens = list(scan(text))
    return tokens[-1] if len(tokens) == 1 + len(before) else None
