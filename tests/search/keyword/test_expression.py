"""FTS5 and `matches` decide alike: the scan without an index finds what the index finds."""

import sqlite3
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memweb.memories.indexing import EVERY_MEMORY
from memweb.memories.kinds import Kind
from search.analysis import Alternative
from search.keyword.expression import (
    AllOf,
    AnyOf,
    AnyPhrase,
    AnyToken,
    Expression,
    NoneOf,
    RowTerms,
    matches,
    phrases,
    to_match,
)
from search.keyword.schema import COLUMNS, CONTENT_TABLES, TABLES, index_objects

TABLE, CONTENT = TABLES[Kind.OBSERVATION], CONTENT_TABLES[Kind.OBSERVATION]

# Few atoms, some of which begin like others, so that random phrases meet random rows; words of FTS5's language and
# characters that mean something to it are atoms like any other.
ATOMS = ["a", "ab", "abc", "b", "ba", "c++", "or", "and", "not", "near", "用户", "户身", "身", "é", "ß", "\U0001f525"]
HOSTILE = [chr(34), chr(34) * 2, "'", "*", "a*", "^a", "a:b", "-a", "(", ")", "{a}", "+", "near(a", "or(", "=|", "\\"]
TOKENS = [EVERY_MEMORY, "=p1", "=p11", "=tbug", "=tbug%20fix", "=xnoise", "=c3"]

atoms = st.sampled_from(ATOMS) | st.sampled_from(HOSTILE)
columns = st.lists(atoms, max_size=6).map(" ".join)
scopes = st.lists(st.sampled_from(TOKENS[1:]), max_size=4).map(lambda tokens: " ".join([EVERY_MEMORY, *tokens]))
rows = st.tuples(columns, columns, columns, scopes)
corpora = st.lists(rows, min_size=1, max_size=8)

alternatives = st.builds(Alternative, st.lists(atoms, min_size=1, max_size=3).map(tuple), st.booleans())
any_phrases = st.builds(
    AnyPhrase, st.just(""), st.lists(alternatives, min_size=1, max_size=3).map(tuple), st.booleans()
)
any_tokens = st.builds(AnyToken, st.lists(st.sampled_from([*TOKENS, "=p2"]), max_size=3).map(tuple))


def _groups(members: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    some = st.lists(members, max_size=3).map(tuple)
    return st.builds(AllOf, some) | st.builds(AnyOf, some) | st.builds(NoneOf, some)


expressions = st.recursive(any_phrases | any_tokens, _groups, max_leaves=8)


@pytest.fixture(scope="module")
def database() -> Iterator[sqlite3.Connection]:
    """A content table with memweb's own index and triggers, and nothing else."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.execute(f"CREATE TABLE {CONTENT} (id INTEGER PRIMARY KEY, {', '.join(COLUMNS)})")
    for wanted in index_objects(Kind.OBSERVATION):
        connection.execute(wanted.sql)
    yield connection
    connection.close()


def fill(database: sqlite3.Connection, corpus: Sequence[tuple[str, str, str, str]]) -> None:
    database.execute(f"DELETE FROM {CONTENT}")
    insert = f"INSERT INTO {CONTENT} (id, {', '.join(COLUMNS)}) VALUES (?, ?, ?, ?, ?)"
    database.executemany(insert, [(id, *row) for id, row in enumerate(corpus, start=1)])


def ids_by_index(database: sqlite3.Connection, expression: Expression) -> list[int]:
    sql = f"SELECT rowid FROM {TABLE} WHERE {TABLE} MATCH ? ORDER BY rowid"
    return [id for (id,) in database.execute(sql, [to_match(expression)])]


def ids_by_reading(corpus: Sequence[tuple[str, str, str, str]], expression: Expression) -> list[int]:
    return [id for id, row in enumerate(corpus, start=1) if matches(expression, RowTerms.of(*row))]


@settings(max_examples=200, deadline=None)
@given(corpus=corpora, expression=expressions)
def test_index_and_reading_agree(database: sqlite3.Connection, corpus: list, expression: Expression) -> None:
    fill(database, corpus)
    assert ids_by_index(database, expression) == ids_by_reading(corpus, expression)


# Atoms hold no ASCII blanks and controls, at which FTS5 would cut them.
any_atoms = st.lists(
    st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters=" "), min_size=1, max_size=3),
    min_size=1,
    max_size=4,
)


@settings(max_examples=60, deadline=None)
@given(corpus=corpora, texts=any_atoms)
def test_index_and_reading_agree_on_any_characters(database: sqlite3.Connection, corpus: list, texts: list) -> None:
    atoms = tuple(text.casefold() for text in texts)
    corpus = [*corpus, (" ".join(atoms), "", "", EVERY_MEMORY), ("", " ".join(atoms[1:]), "", EVERY_MEMORY)]
    expression = AnyPhrase("", (Alternative(atoms),))
    fill(database, corpus)
    assert ids_by_index(database, expression) == ids_by_reading(corpus, expression)


EXAMPLES = {
    "phrase": (AnyPhrase("", (Alternative(("a", "b")),)), '"a b"'),
    "prefix": (AnyPhrase("", (Alternative(("a", "b"), prefix=True),)), '"a b" *'),
    "alternatives": (AnyPhrase("", (Alternative(("a",)), Alternative(("b",)))), '("a" OR "b")'),
    "exact": (AnyPhrase("", (Alternative(("a", "b")),), exact=True), '({title_terms body_terms} : "a b")'),
    "quotes are doubled": (AnyPhrase("", (Alternative(('a"b',)),)), '"a""b"'),
    "operators are words": (AnyPhrase("", (Alternative(("or",)),)), '"or"'),
    "no token": (AnyToken(()), '"=="'),
    "nothing in particular": (AllOf(()), '"=a"'),
    "none of nothing": (NoneOf(()), '"=a"'),
    "only an exclusion": (NoneOf((AnyToken(("=p1",)),)), '("=a" NOT "=p1")'),
    "both": (
        AllOf((AnyToken(("=p1",)), NoneOf((AnyToken(("=xnoise", "=xtrashed")),)), AnyToken(("=c1",)))),
        '(("=p1" AND "=c1") NOT ("=xnoise" OR "=xtrashed"))',
    ),
    "any": (AnyOf((AnyToken(("=p1",)), NoneOf((AnyToken(("=p2",)),)))), '("=p1" OR ("=a" NOT "=p2"))'),
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_match_is_written_in_full(name: str) -> None:
    expression, written = EXAMPLES[name]
    assert to_match(expression) == written


def test_phrases_are_what_is_sought_and_not_excluded() -> None:
    one, two, three = (AnyPhrase(label, (Alternative((label,)),)) for label in ("one", "two", "three"))
    tree = AllOf((one, NoneOf((three,)), AnyOf((two, AnyToken(("=p1",))))))
    assert list(phrases(tree)) == [one, two]


@pytest.mark.parametrize("count", [1, 64, 1_000])
def test_long_lists_do_not_break_the_depth_limit(database: sqlite3.Connection, count: int) -> None:
    fill(database, [("w1", "w2", "", EVERY_MEMORY)])
    words = tuple(AnyPhrase("", (Alternative((f"w{number}",)),)) for number in range(1, count + 1))
    assert ids_by_index(database, AnyOf(words)) == [1]
    assert ids_by_index(database, AllOf(words)) == ([1] if count <= 2 else [])
    assert ids_by_index(database, AnyToken(tuple(f"=p{number}" for number in range(count)))) == []
