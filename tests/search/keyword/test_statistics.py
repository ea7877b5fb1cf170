"""Statistics of the collection equal what counting says; bounds of what a statement may cost hold."""

import sqlite3
import time

import pytest
from django.db import connection
from django.db.utils import DatabaseError, OperationalError
from hypothesis import given, settings
from hypothesis import strategies as st

from memweb.memories.kinds import Kind
from memweb.memories.models import MEMORY_MODELS, Observation
from search.analysis import Alternative
from search.keyword.expression import AnyPhrase
from search.keyword.limits import rows_within, time_limit
from search.keyword.maintenance import optimize_index
from search.keyword.prefixes import is_costly_prefix, without_costly_prefixes
from search.keyword.statistics import Collection, IndexSize, collection_statistics, index_sizes, varints
from tests.factories import make_observation, make_one_of_each, make_project, make_prompt

pytestmark = pytest.mark.django_db


def varint(number: int) -> bytes:
    """Return a number in SQLite's variable-length form, as its file format describes it."""
    if number >= 1 << 56:
        parts = [number & 0xFF]
        number >>= 8
        for _ in range(8):
            parts.append(number & 0x7F | 0x80)
            number >>= 7
        return bytes(reversed(parts))
    parts = [number & 0x7F]
    while number := number >> 7:
        parts.append(number & 0x7F | 0x80)
    return bytes(reversed(parts))


@settings(max_examples=200, deadline=None)
@given(numbers=st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 300)))
def test_varints_are_read_as_written(numbers: list[int]) -> None:
    assert list(varints(b"".join(map(varint, numbers)))) == numbers


@settings(max_examples=100, deadline=None)
@given(block=st.binary(max_size=30))
def test_any_block_is_read(block: bytes) -> None:
    assert all(0 <= number < 2**64 for number in varints(block))


def word(*atoms: str, prefix: bool = False) -> AnyPhrase:
    return AnyPhrase(" ".join(atoms), (Alternative(atoms, prefix),))


def counted(kind: Kind) -> IndexSize:
    """Return the size of an index as counting its rows gives it."""
    rows = list(MEMORY_MODELS[kind].objects.all())
    atoms = sum(len(row.title_terms.split()) + len(row.body_terms.split()) for row in rows)
    return IndexSize(len(rows), atoms, max((row.pk for row in rows), default=0))


def test_sizes_equal_the_counts_after_every_write() -> None:
    assert index_sizes(Kind) == {kind: IndexSize(0, 0, 0) for kind in Kind}
    for number in range(5):
        make_one_of_each(f"needle {number} " + "filler " * number)
    gone = make_observation("one two three", "four five")
    assert index_sizes(Kind) == {kind: counted(kind) for kind in Kind}
    gone.title = "one"
    gone.save()
    assert index_sizes(Kind) == {kind: counted(kind) for kind in Kind}
    gone.delete()
    Observation.objects.bulk_create([Observation(project=make_project(), time_quality="unknown", title="a b")] * 1)
    optimize_index()
    assert index_sizes(Kind) == {kind: counted(kind) for kind in Kind}


def test_statistics_are_of_the_whole_collection() -> None:
    for number in range(6):
        make_observation("common", f"n{number}")
    make_prompt("common rare word")
    make_prompt("rare")
    words = [word("common"), word("rare"), word("rare", "word"), word("n", prefix=True), word("nothing")]
    lengths = 6 * 2 + 3 + 1
    assert collection_statistics(words, [Kind.OBSERVATION, Kind.PROMPT]) == Collection(
        8, lengths / 8, dict(zip(words, [7, 2, 1, 6, 0], strict=True))
    )
    assert collection_statistics(words, [Kind.PROMPT]) == Collection(
        2, 2.0, dict(zip(words, [1, 2, 1, 0, 0], strict=True))
    )
    assert collection_statistics(words, [Kind.DRAWER]) == Collection(0, 1.0, dict.fromkeys(words, 0))
    assert collection_statistics([], Kind) == Collection(8, 2.0, {})


@pytest.mark.parametrize("share", [1, 2])
def test_common_words_are_extrapolated_from_the_first_thousand(share: int) -> None:
    project = make_project()
    Observation.objects.bulk_create(
        [
            Observation(project=project, time_quality="unknown", title="common" if number % share == 0 else "other")
            for number in range(2_000)
        ]
    )
    total = Observation.objects.count()
    counts = collection_statistics([word("common")], Kind).frequencies
    assert counts[word("common")] == pytest.approx(total / share, rel=0.02)


def test_damaged_index_costs_only_its_own_statistics() -> None:
    make_one_of_each("needle")
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE drawers_fts_vocab")
        cursor.execute("DROP TABLE drawers_fts")
    assert set(index_sizes(Kind)) == {Kind.OBSERVATION, Kind.PROMPT, Kind.SUMMARY}
    assert collection_statistics([word("needle")], Kind).frequencies == {word("needle"): 3}


FOREVER = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n"


def test_statement_that_takes_too_long_returns_what_it_found() -> None:
    started = time.monotonic()
    found = rows_within(0.05, FOREVER, [])
    assert time.monotonic() - started < 5
    assert found.is_complete is False
    assert found.rows[:3] == [(1,), (2,), (3,)]
    assert [number for (number,) in found.rows] == list(range(1, len(found.rows) + 1))


def test_statement_in_time_is_complete_and_the_limit_is_gone_after_it() -> None:
    found = rows_within(5, "SELECT value FROM json_each(%s)", ["[1, 2, 3]"])
    assert (found.rows, found.is_complete) == ([(1,), (2,), (3,)], True)
    rows_within(0.01, FOREVER, [])
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM ({FOREVER} LIMIT 200000)")
        assert cursor.fetchone() == (200_000,)


@pytest.mark.parametrize("sql", ["SELECT nothing", "SELECT * FROM nowhere", "SELECT json_each('[')", "SELEC"])
def test_other_failures_are_raised(sql: str) -> None:
    with pytest.raises((DatabaseError, OperationalError)):
        rows_within(1, sql, [])


def test_limit_is_taken_off_when_its_block_fails() -> None:
    with pytest.raises(RuntimeError, match="inside"), time_limit(0.0):
        raise RuntimeError("inside")
    assert rows_within(5, "SELECT 1", []).rows == [(1,)]


def test_limits_hold_on_the_connection_of_django() -> None:
    connection.ensure_connection()
    assert isinstance(connection.connection, sqlite3.Connection)


def test_costly_prefix_is_one_that_most_pages_hold() -> None:
    project = make_project()
    Observation.objects.bulk_create(
        [
            Observation(
                project=project,
                time_quality="unknown",
                title=" ".join(f"common{number * 40 + one:07}" for one in range(40)),
                narrative=f"rare{number}" if number < 5 else "",
            )
            for number in range(1_500)
        ]
    )
    optimize_index()
    prefixes = ["c", "common", "common0", "", "rare", "r", "x", "é"]
    assert [one for one in prefixes if is_costly_prefix(one, Kind.OBSERVATION)] == ["c", "common", "common0", ""]
    assert not is_costly_prefix("c", Kind.PROMPT)
    # A costly prefix gives way to words: all that begin so where they are few, else the word itself.
    few, many, short = (
        without_costly_prefixes((Alternative((text,), prefix=True),)) for text in ("common005999", "common", "c")
    )
    assert few == ((Alternative(("common005999",), prefix=True),), False)
    assert (many[0][0], len(many[0]), many[1]) == (Alternative(("common",)), 40, True)
    assert short == ((Alternative(("c",)),), True)


def test_no_prefix_is_costly_without_an_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE drawers_fts_vocab")
        cursor.execute("DROP TABLE drawers_fts")
    assert is_costly_prefix("c", Kind.DRAWER) is False
