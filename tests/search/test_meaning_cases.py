"""Faults that people met in other tools, with the real model: no fallback, the same hits for anything, false hits."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytest_django.plugin import DjangoDbBlocker

from search.results import SearchResult
from search.vectors import embedders, embedding
from search.vectors.indexer import Indexer
from search.vectors.nearest import BroadIndexUnavailable, register_broad_index
from tests.real_models import bge_small
from tests.search.searching import found_rows, search_for

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("corpus")]

REAL = ["why do requests time out", "how is the database locked", "colours of the user interface"]
NONSENSE = ["zxqv nonsense flurble", "qqqq", "xyzzy plugh frobnicate", "asdf jkl qwerty"]


@pytest.fixture(autouse=True)
def embedded(
    corpus: None,
    monkeypatch: pytest.MonkeyPatch,
    settings: object,
    tmp_path: Path,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[None]:
    """All memories of the corpus, embedded by the model that people have."""
    embedder = bge_small()
    settings.DATA_DIR = tmp_path  # type: ignore[attr-defined]
    monkeypatch.setattr(embedders, "load_chosen", lambda: embedder)
    monkeypatch.setattr(embedders, "chosen_name", lambda: embedder.name)
    monkeypatch.setattr(embedding, "_loaded", {})
    register_broad_index(None)
    assert Indexer(embedder).run().is_complete
    yield
    register_broad_index(None)


def refs(result: SearchResult) -> list[str]:
    return [str(hit.ref) for hit in result.hits]


@pytest.mark.parametrize("mode", ["auto", "hybrid", "semantic"])
def test_without_the_vector_index_every_answer_is_there_and_says_so(mode: str) -> None:
    def fail(vector: object, wanted: int) -> list[tuple[int, float]]:
        raise BroadIndexUnavailable("the vector index cannot be opened")

    register_broad_index(fail)
    result = search_for("HTTPS handshake", mode=mode)
    by_words = search_for("HTTPS handshake", mode="keyword")
    assert by_words.total > 0
    assert set(refs(by_words)) <= set(refs(result))
    assert result.used_chroma is False
    assert result.fallback is not None
    assert (result.fallback.source, result.fallback.reason) == ("chroma", "the vector index cannot be opened")
    assert result.to_dict()["fallback"] == {"from": "chroma", "reason": "the vector index cannot be opened"}


@pytest.mark.parametrize("mode", ["auto", "semantic"])
@pytest.mark.parametrize("query", NONSENSE)
def test_nonsense_finds_nothing_that_is_sold_as_a_hit(query: str, mode: str) -> None:
    result = search_for(query, mode=mode)
    assert [str(hit.ref) for hit in result.hits if not hit.is_weak] == []
    assert result.is_weak or not result.hits


UNREADABLE = ["🎉", "🎉🎉 🚀", "!!!", "→ ⇒", "×", "\u200b", '"🎉"', "привет мир", "문제를 고쳤다", "समस्या ठीक"]


@pytest.mark.parametrize("mode", ["auto", "hybrid", "semantic"])
@pytest.mark.parametrize("query", UNREADABLE)
def test_what_the_model_cannot_read_finds_nothing_that_is_sold_as_a_hit(query: str, mode: str) -> None:
    result = search_for(query, mode=mode)
    assert result.is_weak and all(hit.is_weak for hit in result.hits)
    has_words = any(character.isalnum() for character in query)
    known = "There is no letter or digit in the search" if not has_words else "bge-small-en-v1.5-int8 cannot read"
    [note] = result.notes
    assert note.startswith(known) and note.endswith(", so what is found by its meaning is chance.")


WITH_WORDS = ["HTTPS", "x", "a", "the", "42", "#42", "- -", "数据库", "(HTTPS type:bugfix) OR database", '"Connection"']


@pytest.mark.parametrize("query", WITH_WORDS)
def test_what_has_all_the_words_is_never_called_weak(query: str) -> None:
    by_words = set(refs(search_for(query, mode="keyword", limit=200)))
    assert by_words
    for mode in ("auto", "hybrid", "semantic"):
        result = search_for(query, mode=mode, limit=200)
        assert [str(hit.ref) for hit in result.hits if hit.is_weak and str(hit.ref) in by_words] == []


@pytest.mark.parametrize("mode", ["auto", "semantic"])
def test_different_questions_have_different_answers(mode: str) -> None:
    answers = [refs(search_for(query, mode=mode))[:5] for query in REAL]
    assert len({tuple(answer) for answer in answers}) == len(REAL)
    assert answers == [refs(search_for(query, mode=mode))[:5] for query in REAL]


@pytest.mark.parametrize("query", ["HTTPSConnection", "httpsconnection", "https_connection"])
def test_a_whole_identifier_comes_before_its_parts(query: str) -> None:
    whole = found_rows("HTTPSConnection", mode="keyword")[0]
    assert found_rows(query)[0] == whole
