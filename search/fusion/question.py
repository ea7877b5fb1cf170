"""A query as a question: the words that tell, the dates it names, and the text that is embedded."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memweb.memories.indexing import day_token, month_token, year_token
from search.analysis import Alternative, query_words
from search.analysis.stems import stem
from search.keyword.expression import AnyOf, AnyPhrase, AnyToken, Expression, phrase_text
from search.query import Node, positive_words, required_part

_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_MONTH_NUMBERS = {name: number for number, name in enumerate(_MONTHS, start=1)} | {
    name[:3]: number for number, name in enumerate(_MONTHS, start=1)
}
_DAY = re.compile(r"([1-9]|[12][0-9]|3[01])(?:st|nd|rd|th)?")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")


@dataclass(frozen=True, slots=True)
class Term:
    """One telling word: a memory holds it as a stem, as a phrase of atoms (padded), or in its date (a filter token)."""

    label: str
    stem: str
    phrase: str
    date: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class Question:
    """`text` is embedded; `terms` are its telling words, each once; `required` is what every hit must fulfil."""

    text: str
    terms: tuple[Term, ...]
    required: Node


def read_question(tree: Node, *, with_phrases: bool = True) -> Question | None:
    """Return the question in a query; None when the query holds no words.

    Bare words are wished for. Filters and exclusions are required of every hit, and so is any group that holds one of
    these; quoted phrases too unless `with_phrases` is False.
    """
    texts = positive_words(tree)
    if not texts:
        return None
    required = required_part(tree, with_phrases=with_phrases)
    words = [word for text in texts for word in query_words(text)]
    telling = [word for word in words if not word.stop] or words
    terms = [term for word in telling for term in _terms(word.text, word.alternatives)]
    return Question(" ".join(texts), tuple({term.expression: term for term in terms}.values()), required)


def _terms(text: str, alternatives: tuple[Alternative, ...]) -> Iterator[Term]:
    first = alternatives[0]
    if len(first.atoms) == 1:
        atom = first.atoms[0]
        date = _date(atom)
        words = AnyPhrase(text, alternatives)
        yield Term(
            label=text,
            stem=stem(atom),
            phrase="",
            date=date,
            expression=AnyOf((words, AnyToken((date,)))) if date else words,
        )
    elif len(alternatives) == 1:
        # A run of a script without blanks, cut into pairs of characters: any of them may stand in the answer.
        for atom in first.atoms:
            yield Term(label=atom, stem=atom, phrase="", date="", expression=AnyPhrase(atom, (Alternative((atom,)),)))
    else:
        yield Term(label=text, stem="", phrase=phrase_text(first), date="", expression=AnyPhrase(text, alternatives))


def _date(atom: str) -> str:
    """Return the filter token of the day, month or year that a word may name; empty for all other words."""
    if atom in _MONTH_NUMBERS:
        return month_token(_MONTH_NUMBERS[atom])
    if _YEAR.fullmatch(atom):
        return year_token(int(atom))
    if day := _DAY.fullmatch(atom):
        return day_token(int(day[1]))
    return ""
