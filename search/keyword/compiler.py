"""Syntax tree -> one plan per kind: what the keyword index of that kind is asked."""

import re
from collections.abc import Iterable, Iterator

from django.db import connection

from memweb.memories.kinds import Kind
from memweb.memories.models import memory_model
from search.analysis import Alternative, QueryWord, normalize, phrase_atoms, query_words
from search.keyword.expression import AllOf, AnyOf, AnyPhrase, AnyToken, NoneOf, to_match
from search.keyword.filters import HIDDEN_FLAGS, Clause, FieldResolver, hidden_by_default, session_ids, session_token
from search.keyword.plan import INDEXED, Plan, SqlCondition
from search.keyword.prefixes import is_large_database, without_costly_prefixes
from search.keyword.schema import TABLES
from search.query import And, Field, FieldName, Node, Not, Or, Phrase, Prefix, Word
from search.request import SearchRequest
from search.texts import whole_characters

# A longer phrase is asked for by its beginning: FTS5 opens a list for every atom.
MAX_ATOMS = 100

_SESSION_ID = re.compile(r"(?=.*\d)[\w.:-]{8,100}")


class Compiler:
    """Compiles one request for all kinds. `notes` holds what the person should know."""

    def __init__(self, request: SearchRequest, resolver: FieldResolver) -> None:
        self._request = request
        self._resolver = resolver
        self._sessions: dict[str, list[int]] = {}
        self._opened: dict[QueryWord, tuple[Alternative, ...]] = {}
        self._cut: dict[str, None] = {}
        self._open = _last_leaf(request.parsed.tree) if request.parsed.ends_open else None

    @property
    def notes(self) -> list[str]:
        return [*self._resolver.notes, *self._cut]

    def plan(self, kind: Kind, tree: Node | None = None) -> Plan:
        """Return what one kind is asked; `tree` replaces the request's own (for a relaxed search)."""
        clause = self._compile(tree if tree is not None else self._request.tree, kind)
        clauses = [*_members(clause), *self._times()]
        shown = _states_named(self._request.tree)
        hidden = [flag for flag in HIDDEN_FLAGS if flag not in shown]
        if "any" not in shown and hidden:
            clauses.append(hidden_by_default(hidden))
        expressions = [one for one in clauses if not isinstance(one, SqlCondition | _Mixed)]
        conditions = [
            one if isinstance(one, SqlCondition) else one.condition(kind)
            for one in clauses
            if isinstance(one, SqlCondition | _Mixed)
        ]
        return Plan(AllOf(tuple(expressions)) if expressions else None, tuple(conditions))

    def _times(self) -> Iterator[SqlCondition]:
        adapt = connection.ops.adapt_datetimefield_value
        if self._request.date_start:
            yield SqlCondition("m.created_at >= %s", (adapt(self._request.date_start),))
        if self._request.date_end:
            yield SqlCondition("m.created_at < %s", (adapt(self._request.date_end),))

    def _compile(self, node: Node, kind: Kind) -> "Clause | _Mixed":
        match node:
            case Word(text):
                return self._words(text, kind, prefix=False)
            case Prefix(text):
                return self._words(text, kind, prefix=True)
            case Phrase(text):
                atoms = phrase_atoms(text)
                return AnyPhrase(text, _bounded((Alternative(atoms),)), exact=True) if atoms else _literal(text, kind)
            case Field():
                return self._resolver.clause(node, kind)
            case Not(child):
                return _negate(self._compile(child, kind))
            case And(nodes):
                return _Mixed.all_of([self._compile(child, kind) for child in self._without_stop_words(nodes)])
            case Or(nodes):
                return _Mixed.any_of([self._compile(child, kind) for child in nodes])

    def _words(self, text: str, kind: Kind, *, prefix: bool) -> "Clause | _Mixed":
        words = query_words(text, prefix_last=prefix)
        if not words:
            return _literal(text, kind)
        needed = [word for word in words if not word.stop] or words
        found = AllOf(tuple(AnyPhrase(word.text, self._affordable(word)) for word in needed))
        # A pasted session id means the memories of that session, whose own text does not hold it.
        ids = self._session(text)
        if ids:
            return AnyOf((found, AnyToken(tuple(map(session_token, ids)))))
        return found.members[0] if len(found.members) == 1 else found

    def _affordable(self, word: QueryWord) -> tuple[Alternative, ...]:
        """Return the alternatives of a word, in a large collection without prefixes that would be slow."""
        bounded = _bounded(word.alternatives)
        if not any(one.prefix for one in bounded) or not is_large_database():
            return bounded
        if word not in self._opened:
            self._opened[word], is_cut = without_costly_prefixes(bounded)
            if is_cut:
                self._cut[f"Very many words begin with “{word.text}”; not all of them were looked for."] = None
        return self._opened[word]

    def _without_stop_words(self, nodes: tuple[Node, ...]) -> list[Node]:
        """Return the members without bare stop words, unless nothing else would be searched for.

        A stop word that is still being typed ("cache for") does not count before it has become another word.
        """
        opened = Prefix(self._open.text) if self._open else None
        kept = [node for node in nodes if not is_stop_word(self._open if self._open and node == opened else node)]
        return kept if any(isinstance(node, Word | Prefix | Phrase) for node in kept) else list(nodes)

    def _session(self, text: str) -> list[int]:
        if not _SESSION_ID.fullmatch(text):
            return []
        if text not in self._sessions:
            self._sessions[text] = session_ids(text)
        return self._sessions[text]


class _Mixed:
    """A group of clauses of both sorts, of which all or any must hold."""

    def __init__(self, clauses: list["Clause | _Mixed"], *, every: bool) -> None:
        self.clauses = clauses
        self.every = every

    @classmethod
    def all_of(cls, clauses: list["Clause | _Mixed"]) -> "Clause | _Mixed":
        if all(_is_expression(clause) for clause in clauses):
            return AllOf(tuple(clauses))  # type: ignore[arg-type]
        return cls(clauses, every=True)

    @classmethod
    def any_of(cls, clauses: list["Clause | _Mixed"]) -> "Clause | _Mixed":
        if all(_is_expression(clause) for clause in clauses):
            return AnyOf(tuple(clauses))  # type: ignore[arg-type]
        return cls(clauses, every=False)

    def condition(self, kind: Kind) -> SqlCondition:
        """Return the group as one condition, asking the index for its members where needed."""
        parts = [_as_condition(clause, kind) for clause in self.clauses]
        sql = (" AND " if self.every else " OR ").join(f"({part.sql})" for part in parts) or "1"
        return SqlCondition(
            sql,
            tuple(value for part in parts for value in part.params),
            tuple(asked for part in parts for asked in part.indexed),
        )


class _Negated(_Mixed):
    def __init__(self, clause: "SqlCondition | _Mixed") -> None:
        super().__init__([clause], every=True)

    def condition(self, kind: Kind) -> SqlCondition:
        inner = _as_condition(self.clauses[0], kind)
        # A row without a time is not before anything: the negation holds for it.
        return SqlCondition(f"NOT coalesce(({inner.sql}), 0)", inner.params, inner.indexed)


def _as_condition(clause: "Clause | _Mixed", kind: Kind) -> SqlCondition:
    match clause:
        case SqlCondition():
            return clause
        case _Mixed():
            return clause.condition(kind)
        case _:
            text = to_match(clause)
            return SqlCondition(INDEXED.format(table=TABLES[kind]), (text,), ((text, clause),))


def _negate(clause: "Clause | _Mixed") -> "Clause | _Mixed":
    if isinstance(clause, SqlCondition | _Mixed):
        return _Negated(clause)
    return NoneOf((clause,))


def _members(clause: "Clause | _Mixed") -> Iterable["Clause | _Mixed"]:
    match clause:
        case _Negated():
            return [clause]
        case _Mixed(every=True, clauses=clauses):
            return [member for one in clauses for member in _members(one)]
        case AllOf(members):
            return members
        case _:
            return [clause]


def _is_expression(clause: "Clause | _Mixed") -> bool:
    return not isinstance(clause, SqlCondition | _Mixed)


def _last_leaf(tree: Node) -> Word | None:
    match tree:
        case Word():
            return tree
        case And(nodes) | Or(nodes) if nodes:
            return _last_leaf(nodes[-1])
        case _:
            return None


def is_stop_word(node: Node) -> bool:
    """Return whether a node is a bare word that says nothing by itself: the, of, what."""
    if not isinstance(node, Word):
        return False
    words = query_words(node.text)
    return bool(words) and all(word.stop for word in words)


def _bounded(alternatives: tuple[Alternative, ...]) -> tuple[Alternative, ...]:
    return tuple(
        one if len(one.atoms) <= MAX_ATOMS else Alternative(one.atoms[:MAX_ATOMS], prefix=True) for one in alternatives
    )


def _states_named(tree: Node) -> set[str]:
    """Return the values of every is: field, wherever it stands: naming a state means wanting to see it."""
    match tree:
        case Field(FieldName.IS, values):
            return set(values)
        case And(nodes) | Or(nodes):
            return {state for node in nodes for state in _states_named(node)}
        case _:
            return set()


def _literal(text: str, kind: Kind) -> SqlCondition:
    """Return a condition for a text without letter or digit, which no index holds: the fields are read for it."""
    forms = list(dict.fromkeys(filter(None, (whole_characters(text).strip(), normalize(text).strip()))))
    model = memory_model(kind)
    columns = [f"m.{name}" for name in (*model.title_fields, *model.body_fields)]
    if not forms or not columns:
        return SqlCondition("0")
    sql = " OR ".join(f"instr({column}, %s) > 0" for column in columns for _ in forms)
    return SqlCondition(sql, tuple(form for _ in columns for form in forms))
