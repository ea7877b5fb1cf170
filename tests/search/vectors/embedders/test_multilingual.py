"""The embedder for many languages."""

import json
from pathlib import Path

import numpy as np
import pytest

from search.vectors.embedders.multilingual import DOCUMENT, MultilingualE5
from tests.real_models import multilingual


@pytest.fixture
def embedder() -> MultilingualE5:
    return multilingual()


def texts_of(shared: Path, language: str) -> list[str]:
    path = shared / "cases" / "real" / "mempalace" / "memory_extraction" / f"dataset{language}.jsonl"
    return [json.loads(line)["text"] for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("language", ["zh", "ko", "ru", "hi"])
def test_english_question_finds_the_text_in_another_language(
    embedder: MultilingualE5, shared: Path, language: str
) -> None:
    questions, texts = texts_of(shared, ""), texts_of(shared, f".{language}")
    documents = embedder.embed_documents(texts).vectors
    queries = np.concatenate([embedder.embed_query(question).vectors for question in questions])
    found = (queries @ documents.T).argmax(axis=1)
    assert sum(int(found[number]) == number for number in range(len(texts))) >= 39


def test_question_finds_the_japanese_text(embedder: MultilingualE5) -> None:
    texts = [
        "画像サービスのキャッシュは、デプロイのたびに空になる。",
        "ログインは短命なトークンに切り替えた。",
        "昨日はくるみ入りのパンを焼いた。",
        "データベースの移行は来週の月曜日に行う。",
    ]
    questions = ["When is the cache cleared?", "認証の方法は?", "What did we bake?", "移行はいつ?"]
    documents = embedder.embed_documents(texts).vectors
    queries = np.concatenate([embedder.embed_query(question).vectors for question in questions])
    assert (queries @ documents.T).argmax(axis=1).tolist() == [0, 1, 2, 3]


def test_vectors_are_repeatable_and_of_length_one(embedder: MultilingualE5) -> None:
    texts = ["短い", "", "слово " * 600, "half \ud83d of an emoji"]
    embedded = embedder.embed_documents(texts)
    assert embedded.states is None
    assert embedded.vectors.shape == (4, embedder.dimension)
    assert np.allclose(np.linalg.norm(embedded.vectors, axis=1), 1, atol=1e-6)
    alone = np.concatenate([embedder.embed_documents([text]).vectors for text in texts])
    assert np.array_equal(alone, embedded.vectors)


def test_query_is_told_from_a_document(embedder: MultilingualE5) -> None:
    query, document = embedder.embed_query("cache").vectors[0], embedder.embed_documents(["cache"]).vectors[0]
    assert 0.8 < float(query @ document) < 0.999


def test_text_longer_than_the_window_is_cut(embedder: MultilingualE5) -> None:
    text = "слово " * 700
    assert embedder.count_tokens(text) == 700
    end = embedder.token_offsets(text)[embedder.max_tokens - 1][1]
    assert np.array_equal(embedder.embed_documents([text]).vectors, embedder.embed_documents([text[:end]]).vectors)


def test_offsets_are_those_of_the_text_before_it_was_normalized(embedder: MultilingualE5) -> None:
    text = "①ﬁne  ½ \x01カフェ\n日本語"
    pieces = [text[start:end] for start, end in embedder.token_offsets(text)]
    assert "".join(pieces).replace(" ", "").replace("\n", "") == "①ﬁne½カフェ日本語"


def test_graph_computes_what_the_weights_say(embedder: MultilingualE5) -> None:
    """Beside a plain float calculation with numpy, the 8-bit products differ by less than one part in a thousand."""
    file = embedder._file
    tokens = [file.first, *embedder._prefixes[DOCUMENT], *embedder._tokens("two words"), file.last]
    assert float(plain_vector(embedder, tokens) @ embedder.embed_documents(["two words"]).vectors[0]) > 0.999


def plain_vector(embedder: MultilingualE5, tokens: list[int]) -> np.ndarray:
    from math import erf

    from search.vectors.embedders.e5_graph import unpacked

    file = embedder._file

    def normalize(x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(axis=1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + file.epsilon)
        return scaled * file.floats(f"{name}.w") + file.floats(f"{name}.b")

    def multiply(x: np.ndarray, name: str) -> np.ndarray:
        return x @ unpacked(file.blocks(f"{name}.w", x.shape[1])).T + file.floats(f"{name}.b")

    def heads(x: np.ndarray) -> np.ndarray:
        return x.reshape(len(tokens), file.heads, -1).transpose(1, 0, 2)

    x = normalize(unpacked(embedder._words[tokens]) + embedder._positions[: len(tokens)], "emb.ln")
    for at in (f"l{number}" for number in range(file.layers)):
        query, key, value = (heads(multiply(x, f"{at}.{part}")) for part in "qkv")
        weights = np.exp(query @ key.transpose(0, 2, 1) / np.sqrt(query.shape[2]))
        attended = (weights / weights.sum(axis=2, keepdims=True) @ value).transpose(1, 0, 2).reshape(x.shape)
        x = normalize(x + multiply(attended, f"{at}.ao"), f"{at}.aln")
        inner = multiply(x, f"{at}.fi")
        x = normalize(x + multiply(inner * 0.5 * (1 + np.vectorize(erf)(inner / np.sqrt(2))), f"{at}.fo"), f"{at}.oln")
    mean = x.mean(axis=0)
    return mean / np.linalg.norm(mean)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        *[(text, True) for text in ("why", "数据库 锁", "привет мир", "समस्या ठीक")],
        *[(text, False) for text in ("", "🎉 !!", "ꙮꙮ")],
    ],
)
def test_it_reads_many_scripts(text: str, wanted: bool) -> None:
    assert multilingual().reads(text) is wanted
