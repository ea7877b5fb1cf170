"""MaxSim: how well each word of a question is met by the best word of a memory (Khattab and Zaharia 2020, ColBERT)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

SCALE = 127.0


def max_similarities(query: NDArray[np.int8], documents: Sequence[NDArray[np.int8]]) -> NDArray[np.float32]:
    """Return for each document the mean, over the tokens of the query, of the best cosine among its own tokens.

    `query` is (tokens, width), each document (its tokens, the same width), all int8 of unit vectors times 127.
    A document without tokens scores nan.
    """
    scores = np.full(len(documents), np.nan, np.float32)
    if not len(query):
        return scores
    wanted = query.astype(np.float32).T / SCALE
    # One small product after another: a large one would wait for all cores, which costs more than it saves.
    for place, states in enumerate(documents):
        if len(states):
            scores[place] = (states.astype(np.float32) @ wanted).max(axis=0).mean() / SCALE
    return scores
