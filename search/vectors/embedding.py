"""What turns texts into vectors: the interface of all embedders, and the one that the settings choose."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Protocol

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
States = NDArray[np.int8]


class EmbedderUnavailable(Exception):
    """Texts cannot be embedded now; the message says why and what to do, in one line for people."""


@dataclass(frozen=True, slots=True)
class Embedded:
    """What embedding made of n texts.

    `vectors` has the shape (n, dimension), float32, every row of length 1. `states` holds for each text an int8 array
    (tokens, state_width): its token states times 127, each of length 1 before rounding. It is None when the embedder
    has none (`state_width` 0).
    """

    vectors: Vectors
    states: list[States] | None


class Embedder(Protocol):
    """A model that embeds texts. Equal texts give equal vectors, whatever they are embedded together with."""

    @property
    def name(self) -> str:
        """The model and its version; vectors of another name or dimension must not be compared with these."""

    @property
    def dimension(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """Tokens of a text, as `count_tokens` counts them, that are read; what follows is left out."""

    @property
    def state_width(self) -> int:
        """Numbers of each token state; 0 for an embedder without them."""

    def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Return vectors and token states in the order of the texts. Raises EmbedderUnavailable."""

    def embed_query(self, text: str) -> Embedded:
        """Return one vector (n = 1), from a cache when the text was asked lately; its token states are those of the
        words alone, without the tokens that the model adds. Raises EmbedderUnavailable."""

    def count_tokens(self, text: str) -> int:
        """Return the tokens of the whole text, uncut, without those that the model adds."""

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Return where each token of the whole text begins and ends, in characters."""


_lock = Lock()
_loaded: dict[tuple[object, ...], Embedder] = {}


def embedder_name() -> str | None:
    """Return the name of the chosen embedder without loading it; None when embedding is switched off."""
    from search.vectors.embedders import chosen_name

    return chosen_name()


def current_embedder() -> Embedder:
    """Return the embedder that the settings choose, loaded once for each process. Raises EmbedderUnavailable.

    A failure is not remembered, so that search by meaning begins as soon as, say, a missing file is there.
    """
    from search.vectors.embedders import load_chosen

    with _lock:
        key = _key(settings.EMBEDDER)
        if key not in _loaded:
            _loaded[key] = load_chosen()
        return _loaded[key]


def embedder_named(name: str) -> Embedder:
    """Return the embedder of this name, loaded once for each process, whatever the settings choose.

    Raises EmbedderUnavailable.
    """
    from search.vectors.embedders import load_named

    with _lock:
        key = _key(f"name {name}")
        if key not in _loaded:
            _loaded[key] = load_named(name)
        return _loaded[key]


def _key(choice: str) -> tuple[object, ...]:
    # A process that was forked off needs an embedder of its own: the threads of the first one are not in it.
    return os.getpid(), choice, settings.EMBEDDING_SERVICE, settings.MODEL_DIR
