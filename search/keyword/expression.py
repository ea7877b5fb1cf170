"""Boolean expressions over index terms: what the syntax tree becomes before any one database is asked.

Two readers: `to_match` writes FTS5's query language, `matches` decides for one row in Python (the bounded scan when the
index cannot be used). Every token is quoted, so nothing a person types is ever an operator.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memweb.memories.indexing import EVERY_MEMORY
from search.analysis import Alternative


@dataclass(frozen=True, slots=True)
class AnyPhrase:
    """Any of these phrases of consecutive atoms; `label` is the word as the person typed it.

    An exact one must stand in the text itself: a stem or another variant of a word does not count.
    """

    label: str
    alternatives: tuple[Alternative, ...]
    exact: bool = False


@dataclass(frozen=True, slots=True)
class AnyToken:
    """Any of these filter tokens; none at all matches nothing."""

    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    members: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    members: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class NoneOf:
    """Everything but what matches one of the members."""

    members: tuple["Expression", ...]


Expression = AnyPhrase | AnyToken | AllOf | AnyOf | NoneOf

EVERYTHING = AnyToken((EVERY_MEMORY,))


@dataclass(frozen=True, slots=True)
class RowTerms:
    """The derived columns of one row, padded with blanks so that whole tokens can be searched as text."""

    title: str
    body: str
    variants: str
    scope: str

    @classmethod
    def of(cls, title: str, body: str, variants: str, scope: str) -> "RowTerms":
        return cls(f" {title} ", f" {body} ", f" {variants} ", f" {scope} ")


def to_match(expression: Expression) -> str:
    """Return the expression in FTS5's query language."""
    match expression:
        case AnyPhrase(_, alternatives, exact):
            written = _join([quote_phrase(alternative) for alternative in alternatives], "OR")
            return f"({{title_terms body_terms}} : {written})" if exact else written
        case AnyToken(tokens):
            return _join([quote_token(token) for token in tokens], "OR")
        case AnyOf(members):
            return _join([to_match(member) for member in members], "OR")
        case NoneOf():
            return to_match(AllOf((expression,)))
        case AllOf(members):
            wanted = [to_match(member) for member in members if not isinstance(member, NoneOf)]
            unwanted = [to_match(one) for member in members if isinstance(member, NoneOf) for one in member.members]
            positive = _join(wanted or [quote_token(EVERY_MEMORY)], "AND")
            return f"({positive} NOT {_join(unwanted, 'OR')})" if unwanted else positive


def quote_token(token: str) -> str:
    """Return a token as an FTS5 string."""
    return '"' + token.replace('"', '""') + '"'


def quote_phrase(alternative: Alternative) -> str:
    """Return a phrase as an FTS5 string; its tokens hold no blanks, so FTS5 cuts it where we did."""
    return quote_token(" ".join(alternative.atoms)) + (" *" if alternative.prefix else "")


def matches(expression: Expression, row: RowTerms) -> bool:
    """Return whether a row matches, by the same rules as FTS5."""
    match expression:
        case AnyPhrase(_, alternatives, exact):
            return any(has_phrase(row, alternative, exact=exact) for alternative in alternatives)
        case AnyToken(tokens):
            return any(f" {token} " in row.scope for token in tokens)
        case AllOf(members):
            return all(matches(member, row) for member in members)
        case AnyOf(members):
            return any(matches(member, row) for member in members)
        case NoneOf(members):
            return not any(matches(member, row) for member in members)


def has_phrase(row: RowTerms, alternative: Alternative, *, exact: bool = False) -> bool:
    """Return whether a phrase occurs in one of the text columns, when exact not as a variant."""
    wanted = phrase_text(alternative)
    return wanted in row.title or wanted in row.body or (not exact and wanted in row.variants)


def phrase_text(alternative: Alternative) -> str:
    """Return a phrase as it stands in a padded column: `" a b "`, or `" a b"` where it may go on."""
    text = " " + " ".join(alternative.atoms)
    return text if alternative.prefix else text + " "


def phrases(expression: Expression) -> Iterable[AnyPhrase]:
    """Yield what is searched for and not excluded, in order."""
    match expression:
        case AnyPhrase():
            yield expression
        case AllOf(members) | AnyOf(members):
            for member in members:
                yield from phrases(member)


def _join(parts: Sequence[str], operator: str) -> str:
    if not parts:
        # An empty list of alternatives matches nothing: no token begins with two signs.
        return quote_token("==")
    return parts[0] if len(parts) == 1 else "(" + f" {operator} ".join(parts) + ")"
