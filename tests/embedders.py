"""An embedder for tests: deterministic, without a model, fast. Texts that share words come near each other."""

import re
from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from search.vectors.embedding import Embedded, States, Vectors


class FakeEmbedder:
    """Hashes each word to a direction; a text's vector is the sum over its words, its states are its words'.

    `texts` holds every text that was embedded as a document, in order.
    """

    def __init__(
        self, name: str = "fake", dimension: int = 32, max_tokens: int = 40, state_width: int = 16, salt: str = ""
    ) -> None:
        self.name = name
        self.dimension = dimension
        self.max_tokens = max_tokens
        self.state_width = state_width
        self.salt = salt
        self.texts: list[str] = []

    def embed_documents(self, texts: Sequence[str]) -> Embedded:
        self.texts += texts
        vectors = np.array([self._vector(text) for text in texts], np.float32).reshape(len(texts), self.dimension)
        return Embedded(vectors, [self._states(text) for text in texts] if self.state_width else None)

    def embed_query(self, text: str) -> Embedded:
        return Embedded(self._vector(text)[np.newaxis], [self._states(text)] if self.state_width else None)

    def count_tokens(self, text: str) -> int:
        return len(self.token_offsets(text))

    def reads(self, text: str) -> bool:
        return re.search(r"\w", text) is not None

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        return [match.span() for match in re.finditer(r"\w{1,8}|[^\w\s]", text)]

    def _vector(self, text: str) -> Vectors:
        total = np.sum([self._direction(word, self.dimension) for word in self._words(text)] or 0, axis=0)
        return _unit(np.broadcast_to(total, self.dimension) + self._direction("", self.dimension) * 1e-3)

    def _states(self, text: str) -> States:
        rows = [self._direction(word, self.state_width) for word in self._words(text)]
        return np.rint(np.array(rows, np.float32).reshape(-1, self.state_width) * 127).astype(np.int8)

    def _words(self, text: str) -> list[str]:
        cut = [text[start:end] for start, end in self.token_offsets(text)[: self.max_tokens]]
        return [word.casefold() for word in cut]

    def _direction(self, word: str, width: int) -> Vectors:
        seed = int.from_bytes(blake2b((self.salt + word).encode("utf-8", "replace"), digest_size=8).digest())
        return _unit(np.random.default_rng(seed).standard_normal(width).astype(np.float32))


def _unit(vector: Vectors) -> Vectors:
    unit: Vectors = (vector / np.linalg.norm(vector)).astype(np.float32)
    return unit
