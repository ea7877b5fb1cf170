"""Filter tokens: one for everything that a memory can be filtered by, none that a word could be."""

from datetime import datetime, timedelta, timezone

import pytest
from django.core.exceptions import ImproperlyConfigured
from hypothesis import given, settings
from hypothesis import strategies as st

from memweb.memories import indexing
from memweb.memories.indexing import (
    IndexedText,
    build_terms,
    flag_token,
    platform_token,
    register_term_builder,
    scope_tokens,
    type_token,
)
from search.analysis import index_terms, query_words

whole_texts = st.text(st.characters(exclude_categories=["Cs"]))


def test_tokens_of_a_memory_with_everything() -> None:
    assert scope_tokens(
        project_id=1,
        session_id=2,
        platform="Claude Code",
        type="Bug Fix",
        concept_ids=[3, 4],
        file_ids=[5],
        tag_ids=[6],
        flags=["noise"],
    ) == ["=a", "=p1", "=s2", "=wclaude%20code", "=tbug%20fix", "=c3", "=c4", "=f5", "=g6", "=xnoise"]


def test_tokens_of_a_memory_with_nothing() -> None:
    assert scope_tokens(project_id=1) == ["=a", "=p1"]


def test_scope_tokens_name_the_utc_day():
    moment = datetime(2026, 3, 1, 0, 30, tzinfo=timezone(timedelta(hours=2)))
    assert scope_tokens(project_id=1, created_at=moment) == ["=a", "=p1", "=y2026", "=m2", "=d28"]


@settings(max_examples=200, deadline=None)
@given(one=whole_texts, other=whole_texts)
def test_tokens_differ_when_names_differ_by_more_than_case(one: str, other: str) -> None:
    for token in (type_token, platform_token):
        assert (token(one) == token(other)) is (one.casefold() == other.casefold())
        assert token(one).isascii()
        assert len(token(one).split()) == 1


@settings(max_examples=200, deadline=None)
@given(text=st.text())
def test_no_word_of_a_text_is_a_filter_token(text: str) -> None:
    terms = index_terms(text, ["=a =p1 =xnoise", text])
    atoms = " ".join([terms.title, terms.body, terms.variants]).split()
    assert [atom for atom in atoms if atom.startswith("=") and atom != "=|"] == []
    asked = [atom for word in query_words(text) for one in word.alternatives for atom in one.atoms]
    assert [atom for atom in asked if atom.startswith("=")] == []


def test_flag_tokens() -> None:
    assert [flag_token(flag) for flag in ("archived", "pinned")] == ["=xarchived", "=xpinned"]


def test_missing_analyzer_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "_builders", [])
    with pytest.raises(ImproperlyConfigured, match="no analyzer is registered: add 'search' to INSTALLED_APPS"):
        build_terms(IndexedText("a", ["b"]))
    register_term_builder(lambda text: indexing.IndexTerms(text.title, "", "", ""))
    assert build_terms(IndexedText("a", ["b"])).title == "a"
