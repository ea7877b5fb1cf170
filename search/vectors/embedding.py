"""What turns texts into vectors: the interface of all embedders, and the one that the settings choose."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from threading import Lock, Thread
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

    def reads(self, text: str) -> bool:
        """Return whether a text has words that the model was trained on, most of what stands in it at least.

        Of others, such as signs or foreign scripts, it makes vectors too, which say nothing.
        """

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        """Return where each token of the whole text begins and ends, in characters."""


_lock = Lock()
_loaded: dict[tuple[object, ...], Future[Embedder]] = {}
_patience: list[float | None] = [None]


def load_in_background(patience: float | None) -> None:
    """Let this process load embedders in threads of their own, which are waited for at most so many seconds.

    For a server, whose pages should not wait for a model. None: whoever needs an embedder loads it and waits.
    """
    _patience[0] = patience


def embedder_name() -> str | None:
    """Return the name of the chosen embedder without loading it; None when embedding is switched off."""
    from search.vectors.embedders import chosen_name

    return chosen_name()


def current_embedder(*, waits: bool = False) -> Embedder:
    """Return the embedder that the settings choose, loaded once for each process. Raises EmbedderUnavailable.

    `waits`: for as long as loading takes, even where `load_in_background` sets a limit.

    A failure is not remembered, so that search by meaning begins as soon as, say, a missing file is there.
    """
    from search.vectors.embedders import load_chosen

    return _obtain(settings.EMBEDDER, embedder_name() or settings.EMBEDDER, load_chosen, waits=waits)


def embedder_named(name: str, *, waits: bool = False) -> Embedder:
    """Return the embedder of this name, loaded once for each process, whatever the settings choose.

    `waits` as for `current_embedder`. Raises EmbedderUnavailable.
    """
    from search.vectors.embedders import load_named

    return _obtain(f"name {name}", name, lambda: load_named(name), waits=waits)


def _obtain(choice: str, name: str, load: Callable[[], Embedder], *, waits: bool) -> Embedder:
    """Return what was loaded before, else load it; a thread that comes meanwhile waits for that."""
    key = _key(choice)
    patience = None if waits else _patience[0]
    with _lock:
        future = _loaded.get(key)
        is_new = future is None
        if future is None:
            future = _loaded[key] = Future()
    if is_new:
        if patience is None:
            _fill(key, future, load)
        else:
            Thread(target=_fill, args=(key, future, load), name=f"load {name}", daemon=True).start()
    try:
        return future.result(patience)
    except FutureTimeout:
        raise EmbedderUnavailable(f"the model {name} is still being loaded") from None


def _fill(key: tuple[object, ...], future: Future[Embedder], load: Callable[[], Embedder]) -> None:
    try:
        future.set_result(load())
    except BaseException as error:
        with _lock:
            if _loaded.get(key) is future:
                del _loaded[key]
        future.set_exception(error)


def _key(choice: str) -> tuple[object, ...]:
    # A process that was forked off needs an embedder of its own: the threads of the first one are not in it.
    return os.getpid(), choice, settings.EMBEDDING_SERVICE, settings.MODEL_DIR
