"""Optional libraries, played by modules with the few names of theirs that are used: they load models from a hub."""

import sys
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from search.vectors.embedders.libraries import fastembed_embedder, sentence_transformers_embedder
from search.vectors.embedders.vectors_only import VectorsOnlyEmbedder
from search.vectors.embedding import EmbedderUnavailable

Load = Callable[[str], VectorsOnlyEmbedder]
LIBRARIES = [
    pytest.param(fastembed_embedder, "fastembed", id="fastembed"),
    pytest.param(sentence_transformers_embedder, "sentence-transformers", id="sentence-transformers"),
]


class TextEmbedding:
    def __init__(self, model_name: str) -> None:
        if model_name == "unknown":
            raise ValueError("Model unknown is not supported.\nSee the list.")

    def passage_embed(self, texts: Iterable[str]) -> Iterator[np.ndarray]:
        yield from (np.array([len(text), 3.0]) for text in texts)

    def query_embed(self, query: str) -> Iterator[np.ndarray]:
        yield np.array([3.0, len(query)])


class SentenceTransformer:
    def __init__(self, model: str) -> None:
        if model == "unknown":
            raise OSError("Model unknown is not supported.\nSee the list.")

    def encode_document(self, texts: list[str], show_progress_bar: bool, convert_to_numpy: bool) -> np.ndarray:
        return np.array([[len(text), 3.0] for text in texts])

    def encode_query(self, texts: list[str], show_progress_bar: bool, convert_to_numpy: bool) -> np.ndarray:
        return np.array([[3.0, len(text)] for text in texts])


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", module(TextEmbedding=TextEmbedding))
    monkeypatch.setitem(sys.modules, "sentence_transformers", module(SentenceTransformer=SentenceTransformer))


def module(**names: object) -> ModuleType:
    made: ModuleType = SimpleNamespace(**names)  # type: ignore[assignment]
    return made


@pytest.mark.parametrize(("load", "library"), LIBRARIES)
def test_documents_and_queries_are_embedded_each_in_its_way(load: Load, library: str, installed: None) -> None:
    embedder = load("some/model")
    assert (embedder.name, embedder.dimension, embedder.state_width) == (f"{library}:some/model", 2, 0)
    assert np.allclose(embedder.embed_documents(["four", ""]).vectors, [[0.8, 0.6], [0, 1]])
    assert np.allclose(embedder.embed_query("four").vectors, [[0.6, 0.8]])


@pytest.mark.parametrize(("load", "library"), LIBRARIES)
def test_model_that_cannot_be_loaded_is_told_in_one_line(load: Load, library: str, installed: None) -> None:
    message = f"^the model {library}:unknown cannot be loaded; look for a slip in its name, and whether its hub is "
    with pytest.raises(EmbedderUnavailable, match=message):
        load("unknown")


@pytest.mark.parametrize(("load", "library"), LIBRARIES)
def test_library_that_is_not_installed_is_named_with_its_extra(
    load: Load, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, library.replace("-", "_"), None)
    with pytest.raises(EmbedderUnavailable, match=rf"pip install --editable '\.\[{library}\]'"):
        load("some/model")


@pytest.mark.parametrize("text", ["plain words, and more", "日本語のテキスト", "слова", "x" * 50, "snake_case", ""])
def test_estimated_tokens_cover_the_text(text: str, installed: None) -> None:
    embedder = fastembed_embedder("some/model")
    offsets = embedder.token_offsets(text)
    assert len(offsets) == embedder.count_tokens(text)
    assert "".join(text[start:end] for start, end in offsets) == "".join(text.split())
    assert max([end - start for start, end in offsets], default=0) <= 4
