"""Any query compiles for every kind, runs without an error, and asks for what its tree says."""

from collections.abc import Callable, Iterator
from datetime import UTC, timedelta
from typing import Any

import pytest
from django.db import transaction
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pytest_django.plugin import DjangoDbBlocker

from memweb.memories.kinds import Kind
from memweb.memories.models import memory_model
from search.analysis import phrase_atoms, query_words
from search.keyword.compiler import MAX_ATOMS, Compiler
from search.keyword.expression import AllOf, AnyPhrase, AnyToken, RowTerms, has_phrase, matches, phrases
from search.keyword.filters import FieldResolver
from search.keyword.plan import Plan, SqlCondition
from search.orchestrator import SearchOrchestrator
from search.query import And, Field, FieldName, Node, Not, Or, Phrase, Prefix, Word, parse, to_text
from search.request import SearchRequest, normalize_params
from search.strategies.sqlite import ScanStrategy, SQLiteSearchStrategy
from tests.factories import START, make_drawer, make_observation, make_prompt, make_session, make_summary
from tests.search.query.strategies import query_texts, trees
from tests.search.searching import found

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def memories(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Memories of every kind and state whose words, names and times the random queries may hit."""
    with django_db_blocker.unblock():
        around = transaction.atomic()
        around._from_testcase = True  # type: ignore[attr-defined] - as Django's TestCase does
        around.__enter__()
        session = make_session("a", project="my app")
        for number, word in enumerate(["foo", "bar9 don't", "src/a.ts", "C++ f(x)", "用户身份 🔥", "or and not", ""]):
            when = None if number == 3 else START + timedelta(days=number)
            more: dict[str, Any] = {"created_at": when, "project": ["my app", "", "x", "foo"][number % 4]}
            more |= {"session": session, "pinned": True} if number % 2 else {"is_noise": number == 4}
            make_observation(word, "b " + word, type="bugfix", files=["src/a.ts"], concepts=["foo"], tags=["a"], **more)
            make_summary(word, files=["b/" + (word or "c")], state="archived" if number == 2 else "active", **more)
            make_prompt(word + " a", state="trashed" if number == 1 else "active", agent="a", **more)
            make_drawer("e\u0301 " + word, file="a", room="foo", **more)
    yield
    with django_db_blocker.unblock():
        transaction.set_rollback(True)
        around.__exit__(None, None, None)


def plans_of(request: SearchRequest) -> dict[Kind, Plan]:
    compiler = Compiler(request, FieldResolver(UTC))
    return {kind: compiler.plan(kind) for kind in Kind}


@settings(max_examples=120, deadline=None)
@given(text=query_texts, order=st.sampled_from(["relevance", "newest", "oldest"]))
@example(text="\ud800", order="newest")
@example(text='project:"\ud800" file:\udfff* type:\ud800 tag:\ud800 concept:\ud800 session:\ud800', order="newest")
@example(text="room:\ud800 agent:\ud800 platform:\ud800 -\ud800", order="relevance")
@example(text="\x00 project:\x00 file:\x00 room:\x00", order="relevance")
@example(text="id:999999999999999999 id:o000000000000000001 session:999999999999999999", order="oldest")
@example(text="file:[ file:[! file:[z-a] file:**/** file:[]] file:?*[", order="newest")
def test_any_text_is_answered_by_the_index(text: str, order: str) -> None:
    normalized = normalize_params({"q": text, "order": order, "limit": 200})
    result = SearchOrchestrator().search(normalized.request)
    assert (normalized.problems, result.fallback, result.strategy) == ((), None, "sqlite")
    assert len(result.hits) == result.total


@settings(max_examples=60, deadline=None)
@given(text=query_texts)
def test_a_request_that_nobody_normalized_is_answered_too(text: str) -> None:
    assert SearchOrchestrator().search(SearchRequest(query=text, limit=200)).fallback is None


@settings(max_examples=120, deadline=None)
@given(tree=trees)
def test_index_and_scan_find_the_same_for_any_tree(tree: Node) -> None:
    plans = plans_of(SearchRequest(query=to_text(tree)))
    strategy, scan = SQLiteSearchStrategy(plans), ScanStrategy(plans)
    by_index = {kind: rows.ids for kind, rows in strategy.find().items()}
    assert strategy.failed == {}
    assert by_index == {kind: scan.find(kind).ids for kind in by_index}
    empty = [kind for kind in Kind if kind not in by_index]
    assert all(plans[kind].is_empty for kind in empty)


def truth(node: Node, memory: Any) -> bool:
    """Whether a memory matches a tree of words and of fields with one value, decided from its own attributes."""
    match node:
        case Word(text):
            row = RowTerms.of(memory.title_terms, memory.body_terms, memory.variant_terms, "")
            return all(any(has_phrase(row, one) for one in word.alternatives) for word in query_words(text))
        case Field(FieldName.KIND, (value,)):
            return memory.kind == value
        case Field(FieldName.PROJECT, (value,)):
            return memory.project.name == value
        case Field(FieldName.IS, (value,)):
            return value == "any" or value in memory.flags
        case Field(FieldName.AFTER, (value,)):
            return memory.created_at is not None and memory.created_at.isoformat()[:10] >= value
        case Field(FieldName.BEFORE, (value,)):
            return memory.created_at is not None and memory.created_at.isoformat()[:10] <= value
        case Field(FieldName.ID, (value,)):
            return str(memory.ref) == value
        case Field(FieldName.ROOM, (value,)):
            return getattr(memory, "room", "") == value
        case Not(inner):
            return not truth(inner, memory)
        case And(nodes):
            return all(truth(one, memory) for one in nodes)
        case Or(nodes):
            return any(truth(one, memory) for one in nodes)
    raise AssertionError(node)


days = st.integers(19, 27).map(lambda day: f"2026-01-{day}")
one_value = (
    st.builds(Word, st.sampled_from(["foo", "bar9", "b", "用户", "nowhere", "src/a.ts"]))
    | st.builds(Field, st.just(FieldName.KIND), st.sampled_from(Kind).map(lambda kind: (str(kind),)))
    | st.builds(Field, st.just(FieldName.PROJECT), st.sampled_from([("my app",), ("",), ("x",)]))
    | st.builds(Field, st.just(FieldName.IS), st.sampled_from([("pinned",), ("noise",), ("doubtful",), ("archived",)]))
    | st.builds(Field, st.sampled_from([FieldName.AFTER, FieldName.BEFORE]), days.map(lambda day: (day,)))
    | st.builds(Field, st.just(FieldName.ROOM), st.just(("foo",)))
    | st.builds(Field, st.just(FieldName.ID), st.sampled_from([("o1",), ("d2",), ("p3",), ("s4",)]))
)


def _branches(nodes: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    some = st.lists(nodes, min_size=1, max_size=3).map(tuple)
    return st.builds(Not, nodes) | st.builds(And, some) | st.builds(Or, some)


@settings(max_examples=120, deadline=None)
@given(tree=st.recursive(one_value, _branches, max_leaves=8))
def test_mixed_trees_of_words_fields_and_times_find_what_they_say(tree: Node) -> None:
    shown = Field(FieldName.IS, ("any",))
    request = SearchRequest(query=to_text(And((tree, shown))))
    expected = {
        (kind, memory.pk)
        for kind in Kind
        for memory in memory_model(kind).objects.select_related("project")
        if truth(tree, memory)
    }
    strategy = SQLiteSearchStrategy(plans_of(request))
    assert {(kind, id) for kind, rows in strategy.find().items() for id in rows.ids} == expected


@settings(max_examples=120, deadline=None)
@given(text=query_texts)
@example(text="a OR b")
@example(text="-foo")
@example(text="type:bugfix")
@example(text="foo*")
@example(text="NEAR(foo b)")
@example(text="title_terms : foo")
def test_quoted_text_is_never_an_operator(text: str) -> None:
    doubled = text.replace('"', '""')
    tree = parse(f'"{doubled}"').tree
    assert isinstance(tree, Phrase) or not text.strip()
    hidden = AnyToken(("=xarchived", "=xtrashed", "=xnoise", "=xsuperseded", "=xwrong"))
    for plan in plans_of(SearchRequest(query=f'"{doubled}"')).values():
        assert isinstance(plan.expression, AllOf)
        kept = [one for one in plan.expression.members if isinstance(one, AnyPhrase)]
        assert len(kept) + len(plan.conditions) == (1 if isinstance(tree, Phrase) else 0)
        assert len(plan.expression.members) == len(kept) + 1
        assert plan.expression.members[-1].members == (hidden,)  # type: ignore[union-attr]


WORDS = {
    "7,000 letters": "a" * 7_000,
    "7,000 parts": "a_" * 3_500,
    "7,000 of a path": "ab/" * 2_300,
    "7,000 Chinese": "用户身份" * 1_750,
    "camel": "AbCd" * 1_750,
    "quoted": '"' + "a b " * 1_750 + '"',
    "prefix": "a.b" * 2_300 + "*",
    "versions": "1." * 3_500,
    "joined": "a'b" * 2_300,
}


@pytest.mark.parametrize("name", WORDS)
def test_one_long_word_asks_for_a_bounded_phrase(name: str) -> None:
    for plan in plans_of(SearchRequest(query=WORDS[name])).values():
        assert plan.expression is not None
        asked = [one for phrase in phrases(plan.expression) for one in phrase.alternatives]
        assert asked != []
        assert max(len(one.atoms) for one in asked) <= MAX_ATOMS
        assert sum(len(one.atoms) for one in asked) <= 10 * MAX_ATOMS


def test_beginning_of_a_long_word_still_finds_its_memory() -> None:
    text = "用户身份验证失败" * 100
    memory = make_observation("", text)
    assert found(text) == [str(memory.ref)]
    assert found('"' + text + '"') == [str(memory.ref)]


EXPRESSIONS: dict[str, Callable[[Kind], object]] = {
    "foo": lambda kind: AnyPhrase,
    "foo*": lambda kind: AnyPhrase,
    '"foo b"': lambda kind: AnyPhrase,
    "%": lambda kind: SqlCondition,
}


@pytest.mark.parametrize("query", EXPRESSIONS)
def test_leaf_becomes_one_clause(query: str) -> None:
    for kind, plan in plans_of(SearchRequest(query=query)).items():
        assert isinstance(plan.expression, AllOf)
        clauses = [*plan.expression.members[:-1], *plan.conditions]
        assert [type(one) for one in clauses] == [EXPRESSIONS[query](kind)]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("how does the cache work", ["cache", "work"]),
        ("what is it", ["what", "is", "it"]),
        ('the "of the" cache', ["of the", "cache"]),
        ("the type:bugfix", ["the"]),
        ("-the cache", ["cache"]),
        ("the*", ["the"]),
    ],
)
def test_stop_words_are_asked_for_only_when_nothing_else_is(query: str, words: list[str]) -> None:
    plan = plans_of(SearchRequest(query=query + " "))[Kind.OBSERVATION]
    assert plan.expression is not None
    assert [phrase.label for phrase in phrases(plan.expression)] == words


def test_phrase_is_exact_and_word_is_not() -> None:
    memory = make_observation("running")
    assert found("run ") == [str(memory.ref)]
    assert found('"run"') == []
    assert phrase_atoms("running") == ("running",)
    row = RowTerms.of(memory.title_terms, memory.body_terms, memory.variant_terms, "")
    assert matches(AnyPhrase("", query_words("runs")[0].alternatives), row)


def test_prefix_node_needs_no_letters_after_it() -> None:
    memory = make_observation("architecture")
    assert found("archi*") == found("architecture*") == [str(memory.ref)]
    assert [type(parse(text).tree) for text in ("archi*", "archi")] == [Prefix, Word]
