"""Embedders that give a vector for each text and nothing else: those of other libraries and of services."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from search.vectors.embedders.query_cache import QueryCache
from search.vectors.embedders.tokens import estimated_offsets, has_words, plain
from search.vectors.embedding import Embedded, EmbedderUnavailable, Vectors


class VectorsOnlyEmbedder:
    """Checks what comes back and makes it of length 1. Their tokens are not known here and are estimated."""

    state_width = 0

    def __init__(
        self,
        name: str,
        dimension: int,
        max_tokens: int,
        embed_documents: Callable[[list[str]], ArrayLike],
        embed_query: Callable[[str], ArrayLike],
    ) -> None:
        """The two functions return rows of numbers, one row for each text."""
        self.name = name
        self.dimension = dimension
        self.max_tokens = max_tokens
        self._documents = embed_documents
        self._query = QueryCache(lambda text: Embedded(self._checked(embed_query(plain(text)), 1), None))

    def embed_documents(self, texts: Sequence[str]) -> Embedded:
        if not texts:
            return Embedded(np.zeros((0, self.dimension), np.float32), None)
        return Embedded(self._checked(self._documents([plain(text) for text in texts]), len(texts)), None)

    def embed_query(self, text: str) -> Embedded:
        return self._query(text)

    def count_tokens(self, text: str) -> int:
        return len(estimated_offsets(text))

    def reads(self, text: str) -> bool:
        return has_words(text)

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        return estimated_offsets(text)

    def _checked(self, rows: ArrayLike, count: int) -> Vectors:
        try:
            vectors = np.asarray(rows, dtype=np.float32)
        except (TypeError, ValueError) as error:
            raise EmbedderUnavailable(f"{self.name} gave something else than rows of numbers") from error
        if vectors.ndim != 2 or len(vectors) != count:
            raise EmbedderUnavailable(f"{self.name} gave {len(vectors)} vectors for {count} texts")
        if vectors.shape[1] != self.dimension:
            raise EmbedderUnavailable(f"{self.name} gave vectors of {vectors.shape[1]} numbers, not {self.dimension}")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not lengths.all():
            raise EmbedderUnavailable(f"{self.name} gave a vector that has no direction")
        unit: Vectors = vectors / lengths
        return unit
