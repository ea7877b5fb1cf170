"""Ranking: what was meant comes first, by the statistics of the whole collection."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.analysis import Alternative
from search.keyword.expression import AnyPhrase, RowTerms
from search.keyword.statistics import Collection
from search.keyword_search import relaxed_tree
from search.query import parse, to_text
from search.ranking import Score, idf, score_rows
from search.results import DidYouMean
from tests.factories import make_drawer, make_observation, make_prompt, make_summary, moment, refs
from tests.search.searching import found, search_for

pytestmark = pytest.mark.django_db


def word(label: str, *alternatives: str) -> AnyPhrase:
    return AnyPhrase(label, tuple(Alternative(tuple(text.split())) for text in (label, *alternatives)))


def scores(rows: Sequence[tuple[str, str]], words: Sequence[AnyPhrase], collection: Collection) -> list[Score]:
    return score_rows([RowTerms.of(title, body, "", "") for title, body in rows], words, collection)


counts = st.integers(0, 10**6)
texts = st.lists(st.sampled_from(["a", "b", "c d"]), max_size=8).map(" ".join)


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.tuples(texts, texts), max_size=6),
    documents=counts,
    length=st.floats(0.01, 1000),
    held=st.lists(counts, min_size=3, max_size=3),
)
def test_score_is_never_negative_and_more_words_never_cost(
    rows: list[tuple[str, str]], documents: int, length: float, held: list[int]
) -> None:
    words = [word("a"), word("b"), word("c d")]
    collection = Collection(documents, length, dict(zip(words, held, strict=True)))
    found = scores(rows, words, collection)
    assert all(one.value >= 0 and one.bm25 >= 0 for one in found)
    for row, one in zip(rows, found, strict=True):
        present = tuple(w.label for w in words if f" {w.label} " in f" {row[0]} =| {row[1]} ")
        assert one.words == present
        assert (one.value > 0) is bool(present)
    assert min(idf(holding, documents) for holding in held) > 0


def test_no_rows_or_no_words_have_no_scores() -> None:
    collection = Collection(0, 1.0, {})
    assert scores([], [word("a")], collection) == []
    assert scores([("a", "")], [], collection) == [Score(0.0, 0.0, (), ())]


def test_rare_word_of_the_collection_counts_more_though_common_among_candidates() -> None:
    common, rare = word("common"), word("rare")
    collection = Collection(10_000, 10.0, {common: 9_000, rare: 10})
    rows = [("", "rare x"), ("", "rare y"), ("", "rare z"), ("", "common x")]
    values = [one.value for one in scores(rows, [common, rare], collection)]
    assert min(values[:3]) > values[3] * 10


def test_word_common_in_the_collection_counts_less_though_rare_among_candidates() -> None:
    for number in range(60):
        make_observation(f"common filler {number}")
    both = make_observation("x", "common unusual")
    one = make_observation("x", "unusual unusual")
    other = make_observation("x", "common common")
    result = search_for("common OR unusual", limit=100)
    ranks = {str(hit.ref): hit.explain.keyword_rank for hit in result.hits}
    assert [ranks[str(memory.ref)] for memory in (both, one)] == [1, 2]
    assert (ranks[str(other.ref)] or 0) > 2


# Query -> titles and narratives in the order in which they must come out.
ORDERED: dict[str, list[tuple[str, str]]] = {
    # title over body
    "needle": [("needle", "x"), ("x", "needle")],
    # more often in a text of the same length
    "needle x": [("", "needle needle needle x x x"), ("", "needle x a b c d")],
    # shorter text
    "needle ": [("", "needle a"), ("", "needle " + "filler " * 50)],
    # exact phrase over the same words apart
    "rate limit": [("", "the rate limit is low"), ("", "the limit of this rate is low")],
    "rate limit of": [("rate limit of", "a"), ("rate of limit", "a")],
    # exact identifier over its parts
    "refresh_token OR here": [("", "refresh_token here"), ("", "refresh of a token, right here")],
    "getUserName": [("", "calls getUserName now"), ("", "calls getusername now")],
    # exact form over other forms of the word
    "running": [("", "running water"), ("", "runs water")],
    # rare words over common ones is measured above; all words over some
    "alpha OR beta": [("", "alpha beta"), ("", "alpha gamma")],
}


@pytest.mark.parametrize("query", ORDERED)
def test_better_match_comes_first(query: str) -> None:
    # The worse one is newer: without a difference in score it would win.
    memories = [
        make_observation(title, narrative, created_at=moment(number))
        for number, (title, narrative) in enumerate(ORDERED[query])
    ]
    make_observation("something else")
    assert found(query) == refs(memories)


def test_ranking_goes_across_kinds() -> None:
    worst = make_drawer("needle " + "filler " * 100, created_at=moment(9))
    best = make_summary("needle")
    middle = make_prompt("needle and hay")
    assert found("needle ") == refs([best, middle, worst])


def test_equal_scores_are_ordered_by_time_then_kind_and_id() -> None:
    old = make_prompt("needle", created_at=moment(1))
    same = [make_prompt("needle", created_at=moment(2)), make_drawer("needle", created_at=moment(2))]
    unknown = make_prompt("needle", created_at=None)
    assert found("needle") == refs([same[0], same[1], old, unknown])


def test_hit_explains_itself() -> None:
    make_observation("rate limit", "refresh_token", created_at=moment(1))
    [hit] = search_for("rate limit refresh_token").hits
    explain = hit.explain
    assert (explain.keyword_rank, explain.words) == (1, ("rate", "limit", "refresh_token"))
    assert explain.bonuses == ("exactly as typed",)
    assert explain.matched_via == "title, narrative"
    assert hit.score is not None
    assert explain.bm25 is not None
    assert hit.score > explain.bm25 > 0


def test_all_words_are_required_when_a_memory_has_them() -> None:
    both = make_observation("alpha beta")
    make_observation("alpha")
    result = search_for("alpha beta")
    assert (found("alpha beta"), result.is_relaxed, result.total) == (refs([both]), False, 1)


def test_any_word_is_enough_when_no_memory_has_all_and_that_is_said() -> None:
    one, two = make_observation("alpha gamma", "beta"), make_observation("beta")
    make_observation("delta")
    result = search_for("alpha beta omega")
    assert ([str(hit.ref) for hit in result.hits], result.is_relaxed) == (refs([one, two]), True)
    assert result.to_dict()["is_relaxed"] is True


def test_relaxing_keeps_filters_and_exclusions() -> None:
    wanted = make_observation("alpha", type="bugfix")
    make_observation("alpha", type="feature")
    make_observation("alpha draft", type="bugfix")
    result = search_for("alpha omega -draft type:bugfix")
    assert ([str(hit.ref) for hit in result.hits], result.is_relaxed) == (refs([wanted]), True)
    nothing = search_for("alpha omega type:nothing")
    assert (nothing.total, nothing.is_relaxed) == (0, False)


@pytest.mark.parametrize(
    ("query", "relaxed"),
    [
        ("k b", "k OR b"),
        ('k "b c" d*', 'k OR "b c" OR d*'),
        ("k b type:x -c", "(k OR b) type:x -c"),
        ("what k is b the", "k OR b"),
        ("the k", "k"),
        ("the who", None),
        ("a", None),
        ("a type:x", None),
        ("a OR b", None),
        ("-a -b", None),
        ("", None),
    ],
)
def test_relaxed_query(query: str, relaxed: str | None) -> None:
    tree = relaxed_tree(parse(query).tree)
    assert (None if tree is None else to_text(tree)) == relaxed


@pytest.mark.parametrize(
    "query",
    [
        "what is the cache",
        "how does the cache work",
        "the cache",
        "cache of the",
        "what is the cache for",
        "why was this in the cache",
    ],
)
def test_function_words_need_not_be_in_the_answer(query: str) -> None:
    memory = make_observation("Cache", "It works by hashing keys")
    assert found(query) == refs([memory])


@pytest.mark.parametrize("query", ["the who", "to be or not to be", "what", "it", "not"])
def test_query_of_function_words_alone_is_searched_for(query: str) -> None:
    memory = make_observation("The Who: what it is to be or not to be")
    make_observation("something else")
    assert found(query) == refs([memory])


@pytest.mark.parametrize(
    ("query", "meant", "total"),
    [
        ("databse", "database", 2),
        ("databsae", "database", 2),
        ("adtabase", "database", 2),
        ("databse migrations", "database migrations", 1),
        ('"databse migrations"', '"database migrations"', 1),
        ("databse type:bugfix", "database type:bugfix", 1),
        ("databse -migrations", "database -migrations", 1),
        ("databse OR nothingness", "database OR nothingness", 2),
    ],
)
def test_near_spelling_is_offered_with_its_number_of_hits(query: str, meant: str, total: int) -> None:
    make_observation("database migrations")
    make_prompt("database")
    make_observation("other", type="bugfix", narrative="database")
    result = search_for(query + " kind:o,p")
    total += 1 if query in {"databse", "databsae", "adtabase", "databse -migrations", "databse OR nothingness"} else 0
    assert result.did_you_mean == DidYouMean(f"{meant} kind:observation,prompt", total, False)
    assert search_for(result.did_you_mean.query).total == total


@pytest.mark.parametrize(
    "query", ["zxqvflurble", "zzz", "123456", "abc", "-databse", "type:databse", "库存管理", "x" * 99]
)
def test_nothing_near_is_not_offered(query: str) -> None:
    make_observation("database", type="bugfix")
    assert search_for(query).did_you_mean is None


def test_correct_word_is_not_corrected() -> None:
    make_observation("database")
    make_observation("databases in many places, databases everywhere")
    assert search_for("database nowhere").did_you_mean is None


def test_spelling_that_finds_nothing_with_its_filters_is_not_offered() -> None:
    make_observation("database", type="bugfix")
    assert search_for("databse type:feature").did_you_mean is None


def test_words_of_hidden_memories_alone_are_not_offered() -> None:
    make_observation("database", state="trashed")
    assert search_for("databse").did_you_mean is None


def test_word_itself_comes_before_words_that_begin_like_it() -> None:
    make_observation(title="Caroline and Caroline", narrative="carpet cargo carbon " * 5, created_at=moment(2))
    exact = make_observation(title="something else", narrative="the car is red", created_at=moment(1))
    assert found("car")[0] == str(exact.ref)
    assert len(found("car")) == 2


def test_relaxed_question_does_not_search_for_its_function_words() -> None:
    make_observation(title="what they do to us")
    wanted = make_observation(title="classical musicians")
    result = search_for("What classical composers does she listen to?")
    assert result.is_relaxed
    assert [str(hit.ref) for hit in result.hits] == [str(wanted.ref)]


def test_compound_typed_to_its_end_comes_before_what_begins_like_it() -> None:
    make_observation(title="a book", created_at=moment(2))
    exact = make_observation(title="set a=b", created_at=moment(1))
    assert found("a=b")[0] == str(exact.ref)
