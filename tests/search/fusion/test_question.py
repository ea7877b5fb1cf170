"""What is read from a query as a question."""

import pytest

from search.fusion.question import Question, read_question
from search.query import And, Field, FieldName, Not, Or, Phrase, Word, parse


def question(text: str) -> Question:
    found = read_question(parse(text).tree)
    assert found is not None
    return found


def labels(text: str) -> list[str]:
    return [term.label for term in question(text).terms]


@pytest.mark.parametrize(
    ("text", "telling"),
    [
        ("When did the deploy fail?", ["deploy", "fail?"]),
        ("the who", ["the", "who"]),
        ("fail failed failing", ["fail", "failed", "failing"]),
        ("cache cache", ["cache"]),
        ("parseHttpResponse", ["parseHttpResponse"]),
        ("数据库", ["数据", "据库"]),
    ],
)
def test_terms_are_the_telling_words(text: str, telling: list[str]) -> None:
    assert labels(text) == telling


@pytest.mark.parametrize(
    ("word", "date"),
    [
        ("may", "=m5"),
        ("September", "=m9"),
        ("sep", "=m9"),
        ("2023", "=y2023"),
        ("7", "=d7"),
        ("21st", "=d21"),
        ("32", ""),
        ("0", ""),
        ("1850", ""),
        ("mayor", ""),
        ("8080", ""),
    ],
)
def test_a_word_may_name_a_day_a_month_or_a_year(word: str, date: str) -> None:
    assert [term.date for term in question(word).terms] == [date]


def test_filters_phrases_and_exclusions_are_required() -> None:
    found = question('slow start "connection pool" -redis project:api')
    assert found.required == And((Phrase("connection pool"), Not(Word("redis")), Field(FieldName.PROJECT, ("api",))))
    assert found.text == "slow start connection pool"


def test_words_and_alternatives_of_words_are_wished_for() -> None:
    assert question("fast (quick OR speedy) start*").required == And(())


def test_alternatives_with_a_filter_are_required_whole() -> None:
    group = Or((Word("fast"), Field(FieldName.PROJECT, ("api",))))
    assert question("start (fast OR project:api)").required == And((group,))


@pytest.mark.parametrize("text", ["", "project:api", "-redis", '""'])
def test_without_words_there_is_no_question(text: str) -> None:
    assert read_question(parse(text).tree) is None
