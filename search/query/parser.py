"""Query text -> syntax tree, for every string there is: what cannot be parsed is searched as words."""

import re
from dataclasses import dataclass

from search.query import notes
from search.query.notes import Note
from search.query.text import normalize
from search.query.tokens import Token, TokenKind, scan
from search.query.tree import And, Field, Node, Not, Or, Phrase, Prefix, Word

MAX_LENGTH = 10_000
MAX_WORDS = 64
MAX_VALUES = 64
MAX_DEPTH = 20

# Quotes, signs and field names that canonical text adds must not push it over MAX_LENGTH again.
_MAX_LETTERS = MAX_LENGTH - 20 * (MAX_WORDS + MAX_VALUES)
_WORD = re.compile(r"\S+")
_NOTHING = And(())


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query as typed, its normalised tree, and what the person should know about it.

    ends_open: the last thing typed is a bare word that may go on (see `edits.open_last_word`).
    """

    text: str
    tree: Node
    notes: tuple[Note, ...]
    ends_open: bool


def parse(text: str) -> ParsedQuery:
    """The query that text says. Never raises; cost is bounded by MAX_LENGTH, whatever the input."""
    parser = _Parser(text[:MAX_LENGTH])
    if len(text) > MAX_LENGTH:
        parser.add(notes.too_long(MAX_LENGTH))
    tree = normalize(parser.group(0))
    return ParsedQuery(text, tree, parser.all_notes(), parser.ends_open and len(text) <= MAX_LENGTH)


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = list(scan(text))
        self._length = len(text)
        self._next = 0
        self._notes: dict[Note, None] = {}
        self._unmatched_opens = 0
        self._budget = _Budget()
        self.ends_open = False

    def add(self, note: Note | None) -> None:
        if note:
            self._notes.setdefault(note)

    def all_notes(self) -> tuple[Note, ...]:
        return tuple(dict.fromkeys((*self._notes, *self._budget.notes())))

    def group(self, depth: int) -> Node:
        """What stands up to the parenthesis that closes this group, or to the end."""
        branches: list[list[Node]] = [[]]
        is_started = False
        # An operator and whether anything has been said on its present side.
        operator, is_said = "", False
        while token := self._take():
            match token.kind:
                case TokenKind.CLOSE if self._unmatched_opens:
                    self._unmatched_opens -= 1
                case TokenKind.CLOSE if depth:
                    break
                case TokenKind.CLOSE:
                    self.add(notes.STRAY_PARENTHESIS)
                case TokenKind.OPEN if depth >= MAX_DEPTH:
                    self._skip_open()
                case TokenKind.OR | TokenKind.AND if not is_started:
                    self.add(notes.operator_without_left(token.text))
                    if token.text != "|":
                        branches[-1].extend(self._leaf(token))
                        is_started = is_said = True
                case TokenKind.OR | TokenKind.AND:
                    if self._is_at_end_of_group():
                        self.add(notes.operator_without_right(token.text))
                        continue
                    if not is_said:
                        self._add_beside_nothing(operator or token.text)
                    operator, is_said = token.text, False
                    if token.kind is TokenKind.OR:
                        branches.append([])
                case _:
                    nodes = self._operand(token, depth)
                    branches[-1].extend(nodes)
                    is_started = True
                    is_said = is_said or any(normalize(node) != _NOTHING for node in nodes)
        else:
            if depth:
                self.add(notes.UNCLOSED_GROUP)
        if operator and not is_said:
            self._add_beside_nothing(operator)
        # An OR whose side came to nothing (`a OR ""`, words past the limit) leaves the other side.
        return Or(tuple(And(tuple(branch)) for branch in branches if branch))

    def _add_beside_nothing(self, operator: str) -> None:
        # What is past a limit has a note of its own.
        if not self._budget.notes():
            self.add(notes.operator_beside_nothing(operator))

    def _operand(self, token: Token, depth: int) -> list[Node]:
        """The node that begins with token; empty when it says nothing."""
        if token.kind is TokenKind.OPEN:
            return [self.group(depth + 1)]
        if token.kind is not TokenKind.NOT:
            return self._leaf(token)
        negated = self._take()
        if negated is None:
            return []
        if negated.kind is TokenKind.OPEN and depth >= MAX_DEPTH:
            self._skip_open()
            return []
        nodes = self._operand(negated, depth)
        # Excluding by half a word would hide what the whole word does not mean.
        self.ends_open = False
        return [Not(node) for node in nodes]

    def _leaf(self, token: Token) -> list[Node]:
        if token.kind is TokenKind.FIELD and token.name:
            self.add(token.note)
            values = self._budget.take_values(token.values)
            return [Field(token.name, values)] if values else []
        wanted = token.text.strip()
        text = self._budget.take_text(wanted)
        if text or not wanted:
            self.add(token.note)
        if not text:
            return []
        match token.kind:
            case TokenKind.WORD:
                is_whole = text == wanted and token.note is not notes.LONE_MINUS
                self.ends_open = token.end == self._length and is_whole
                return [Word(text)]
            case TokenKind.PREFIX if text == wanted:
                return [Prefix(text)]
            case _:
                return [Phrase(text)]

    def _take(self) -> Token | None:
        if self._next == len(self._tokens):
            return None
        self._next += 1
        return self._tokens[self._next - 1]

    def _skip_open(self) -> None:
        self._unmatched_opens += 1
        self.add(notes.too_deep(MAX_DEPTH))

    def _is_at_end_of_group(self) -> bool:
        """Whether no operand follows: the end, a closing parenthesis, or the next operator."""
        if self._next == len(self._tokens):
            return True
        return self._tokens[self._next].kind in (TokenKind.CLOSE, TokenKind.OR, TokenKind.AND)


class _Budget:
    """How much of a query is still taken; counts what is left out."""

    def __init__(self) -> None:
        self._letters, self._words, self._values = _MAX_LETTERS, MAX_WORDS, MAX_VALUES
        self._words_left_out = self._values_left_out = 0
        self._is_too_long = False

    def take_text(self, text: str) -> str:
        """As many words of text as are left, their blanks as typed."""
        words = list(_WORD.finditer(text))
        taken = words[: self._words]
        self._words -= len(taken)
        self._words_left_out += len(words) - len(taken)
        return self._take_letters(text[: taken[-1].end()]) if taken else ""

    def take_values(self, values: tuple[str, ...]) -> tuple[str, ...]:
        """As many values as are left. A value is never shortened, for it would be another one."""
        taken = values[: self._values]
        self._values -= len(taken)
        self._values_left_out += len(values) - len(taken)
        return tuple(value for value in taken if self._take_letters(value) == value)

    def notes(self) -> tuple[Note, ...]:
        said = []
        if self._words_left_out:
            said.append(notes.too_many_words(MAX_WORDS, self._words_left_out))
        if self._values_left_out:
            said.append(notes.too_many_values(MAX_VALUES, self._values_left_out))
        if self._is_too_long:
            said.append(notes.too_long(MAX_LENGTH))
        return tuple(said)

    def _take_letters(self, text: str) -> str:
        # A quote is written twice in canonical text.
        quotes = text.count('"')
        if len(text) + quotes > self._letters:
            self._is_too_long = True
            text = text[: max(0, self._letters - quotes)]
        self._letters -= len(text) + text.count('"')
        return text
