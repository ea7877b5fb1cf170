"""The default embedder: vectors by meaning, the same ones every time, and token states beside them."""

import numpy as np
import pytest

from search.vectors.embedders.bge_small import PROJECTION, BgeSmall
from tests.real_models import bge_small

TEXTS = [
    "The cache of the image service is emptied after every deployment.",
    "Yesterday we baked bread with walnuts.",
    "",
    "naïve café, 日本語 and a lone \ud83d half of an emoji",
    "word " * 700,
]


@pytest.fixture
def embedder() -> BgeSmall:
    return bge_small()


def test_vectors_and_states_have_their_shapes(embedder: BgeSmall) -> None:
    embedded = embedder.embed_documents(TEXTS)
    assert embedded.states is not None
    assert (embedded.vectors.shape, embedded.vectors.dtype) == ((5, embedder.dimension), np.dtype(np.float32))
    assert np.allclose(np.linalg.norm(embedded.vectors, axis=1), 1, atol=1e-6)
    # [CLS] and [SEP] have states too; a long text is cut.
    expected = [min(embedder.count_tokens(text), embedder.max_tokens) + 2 for text in TEXTS]
    assert [states.shape for states in embedded.states] == [(length, embedder.state_width) for length in expected]
    assert {states.dtype for states in embedded.states} == {np.dtype(np.int8)}
    lengths = np.linalg.norm(np.concatenate(embedded.states).astype(np.float32) / 127, axis=1)
    assert (abs(lengths - 1) < 0.03).all()


def test_query_has_the_states_of_its_words_alone(embedder: BgeSmall) -> None:
    query, document = embedder.embed_query(TEXTS[0]), embedder.embed_documents(TEXTS[:1])
    assert query.states is not None
    assert document.states is not None
    assert np.array_equal(query.vectors, document.vectors)
    assert np.array_equal(query.states[0], document.states[0][1:-1])
    assert embedder.embed_query("").states[0].shape == (0, 64)  # type: ignore[index]


def test_vector_does_not_depend_on_the_other_texts(embedder: BgeSmall) -> None:
    together = embedder.embed_documents(TEXTS)
    for number, text in enumerate(TEXTS):
        alone = embedder.embed_documents([text])
        assert np.array_equal(alone.vectors[0], together.vectors[number])
        assert np.array_equal(alone.states[0], together.states[number])  # type: ignore[index]


def test_vector_is_the_same_in_another_session(embedder: BgeSmall) -> None:
    from tests.real_models import BGE_SMALL, folder_of

    other = BgeSmall(folder_of(BGE_SMALL), threads=1)
    assert np.array_equal(other.embed_documents(TEXTS).vectors, embedder.embed_documents(TEXTS).vectors)


def test_meaning_counts_more_than_words(embedder: BgeSmall) -> None:
    documents = embedder.embed_documents(
        ["We moved the login to short-lived tokens.", "The token of the board game was lost.", "Bread with walnuts."]
    )
    query = embedder.embed_query("How do people authenticate?")
    assert int((documents.vectors @ query.vectors[0]).argmax()) == 0


def test_no_texts_give_no_vectors(embedder: BgeSmall) -> None:
    embedded = embedder.embed_documents([])
    assert (embedded.vectors.shape, embedded.states) == ((0, 384), [])


def test_query_is_embedded_once(embedder: BgeSmall) -> None:
    first = embedder.embed_query("asked twice")
    assert embedder.embed_query("asked twice") is first
    assert not first.vectors.flags.writeable


@pytest.mark.parametrize("text", ["Don't cut words: unbelievable", "héllo  wörld 日本", "", "half \ud83d of one"])
def test_offsets_name_every_token(embedder: BgeSmall, text: str) -> None:
    offsets = embedder.token_offsets(text)
    assert len(offsets) == embedder.count_tokens(text)
    assert "".join(text[start:end] for start, end in offsets) == "".join(text.split())


def test_projection_keeps_angles_as_far_as_it_can() -> None:
    projection = np.load(PROJECTION).astype(np.float32)
    assert projection.shape == (384, 64)
    assert np.allclose(projection.T @ projection, np.eye(64), atol=1e-3)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("why do requests time out", True),
        ("HTTPSConnection", True),
        ("café", True),
        ("42", True),
        ("fix 锁", True),
        ("", False),
        ("🎉 !!", False),
        ("数据库 锁", False),
        ("привет мир", False),
    ],
)
def test_it_reads_latin_script_and_digits(text: str, wanted: bool) -> None:
    assert bge_small().reads(text) is wanted
