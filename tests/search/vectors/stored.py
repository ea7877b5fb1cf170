"""Stored vectors for tests, written without an indexer."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from memweb.memories.models import Memory
from search.models import Embedding, EmbeddingModel, TokenStates


def make_model(name: str = "fake/1", dimension: int = 4, *, searched: bool = True, **values: Any) -> EmbeddingModel:
    """Return a model, searched unless said otherwise."""
    return EmbeddingModel.objects.create(name=name, dimension=dimension, is_searched=searched, **values)


def store(
    model: EmbeddingModel,
    memory: Memory,
    *vectors: Sequence[float],
    states: Sequence[Sequence[Sequence[int]]] = (),
    first_chunk: int = 0,
) -> list[Embedding]:
    """Store a vector for each chunk of a memory, and token states where given; return the rows."""
    rows = []
    for place, vector in enumerate(vectors):
        chunk = first_chunk + place
        row = Embedding.objects.create(
            model=model,
            kind=memory.kind.letter,
            memory_id=memory.pk,
            chunk=chunk,
            text_hash=f"{memory.ref}.{chunk}".encode().ljust(16),
            vector=np.array(vector, "<f2").tobytes(),
        )
        if place < len(states):
            TokenStates.objects.create(embedding=row, states=np.array(states[place], np.int8).tobytes())
        rows.append(row)
    return rows
