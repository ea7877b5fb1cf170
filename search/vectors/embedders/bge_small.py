"""bge-small-en-v1.5, quantized to 8 bits: the default for English."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from search.vectors.embedders.onnx import open_session
from search.vectors.embedders.onnx_format import model, node, tensor
from search.vectors.embedders.query_cache import QueryCache
from search.vectors.embedders.tokens import load_tokenizer, plain
from search.vectors.embedders.workers import Workers
from search.vectors.embedding import Embedded, States, Vectors

UNKNOWN = "[UNK]"
PROJECTION = Path(__file__).parents[1] / "projection64.npy"


class BgeSmall:
    """A vector is the state of the first token ([CLS]), as the model was trained; token states are cut to 64 numbers.

    The model quantizes what it computes for each pass anew, so a text embedded together with others gets another vector
    (cosine 0.986 to its own at worst). One text for each pass makes vectors repeatable. The prefix for queries that the
    model's authors suggest brought nothing measurable and is left out.
    """

    name = "bge-small-en-v1.5-int8"
    dimension = 384
    max_tokens = 510  # with [CLS] and [SEP] 512, the model's window
    state_width = 64

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        self._session = open_session(folder / "model_quantized.onnx")
        self._tokenizer = load_tokenizer(folder / "tokenizer.json")
        self._first, self._last = self._tokenizer.encode("", add_special_tokens=True).ids
        self._reducing = open_session(reducing_graph(np.load(PROJECTION).astype(np.float32)))
        self._workers = Workers(threads)
        self._query = QueryCache(self._embed_query)

    def embed_documents(self, texts: Sequence[str]) -> Embedded:
        made = self._workers.map(self._embed, texts)
        vectors = np.array([vector for vector, _ in made], dtype=np.float32).reshape(len(texts), self.dimension)
        return Embedded(vectors, [states for _, states in made])

    def embed_query(self, text: str) -> Embedded:
        return self._query(text)

    def count_tokens(self, text: str) -> int:
        return len(self._tokenizer.encode(plain(text), add_special_tokens=False).ids)

    def reads(self, text: str) -> bool:
        encoded = self._tokenizer.encode(plain(text), add_special_tokens=False)
        tokens = [token.removeprefix("##") for token in encoded.tokens]
        words = [token for token in tokens if token == UNKNOWN or token.isalnum()]
        # Of other scripts the vocabulary has little more than letters.
        known = sum(token.isascii() and token != UNKNOWN for token in words)
        return known > 0 and 2 * known >= len(words)

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        return list(self._tokenizer.encode(plain(text), add_special_tokens=False).offsets)

    def _embed_query(self, text: str) -> Embedded:
        vector, states = self._embed(text)
        return Embedded(vector[np.newaxis], [states[1:-1]])

    def token_ids(self, text: str) -> list[int]:
        """Return what the model reads of the text: [CLS], at most `max_tokens` tokens, [SEP]."""
        tokens = self._tokenizer.encode(plain(text), add_special_tokens=False).ids[: self.max_tokens]
        return [self._first, *tokens, self._last]

    def full_states(self, text: str) -> NDArray[np.float32]:
        """Return the states of [CLS], each token and [SEP] as the model computes them, (tokens, dimension)."""
        ids = np.array([self.token_ids(text)], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        states: NDArray[np.float32] = self._session.run(["last_hidden_state"], feed)[0][0]
        return states

    def words(self) -> list[str]:
        """Return the vocabulary, sorted."""
        return sorted(self._tokenizer.get_vocab())

    def _embed(self, text: str) -> tuple[Vectors, States]:
        """Return the text's vector and its token states, those of [CLS] and [SEP] included."""
        full = self.full_states(text)
        reduced = self._reducing.run(None, {"full": full})[0]
        return unit(full[:1])[0], np.rint(reduced * 127).astype(np.int8)


def unit(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the rows, each of length 1."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    made: NDArray[np.float32] = rows / np.maximum(length, 1e-9)
    return made


def reducing_graph(projection: NDArray[np.float32]) -> bytes:
    """Return the model that multiplies states with the projection. A state's direction counts, so it is made one long
    before and after.

    numpy would do it as well, but its matrix library starts threads for it that afterwards wait for more, busily, and
    take the processor from the passes that run at the same time: half the texts for each second.
    """
    nodes = [
        node("LpNormalization", ["full"], "directions"),
        node("MatMul", ["directions", "projection"], "products"),
        node("LpNormalization", ["products"], "reduced"),
    ]
    dimension, width = projection.shape
    given, wanted = {"full": ["tokens", dimension]}, {"reduced": ["tokens", width]}
    return model(nodes, [tensor("projection", projection)], given, wanted, {"": 17})
