"""Queries are embedded once, whoever asks."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest

from search.vectors.embedders.query_cache import QueryCache
from search.vectors.embedding import Embedded, EmbedderUnavailable


def embedded(text: str) -> Embedded:
    return Embedded(np.full((1, 2), len(text), np.float32), None)


def test_least_recently_asked_text_is_forgotten() -> None:
    asked: list[str] = []

    def embed(text: str) -> Embedded:
        asked.append(text)
        return embedded(text)

    cache = QueryCache(embed, size=2)
    for text in ["a", "b", "a", "c", "a", "b"]:
        cache(text)
    assert asked == ["a", "b", "c", "b"]


def test_threads_that_ask_at_the_same_time_share_one_embedding() -> None:
    started, go_on = Event(), Event()
    asked: list[str] = []

    def embed(text: str) -> Embedded:
        asked.append(text)
        started.set()
        assert go_on.wait(10)
        return embedded(text)

    cache = QueryCache(embed)
    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(cache, "text")
        assert started.wait(10)
        others = [pool.submit(cache, "text") for _ in range(3)]
        go_on.set()
        answers = {id(answer.result()) for answer in [first, *others]}
    assert (asked, len(answers)) == (["text"], 1)


def test_failure_is_not_remembered() -> None:
    failures = [EmbedderUnavailable("not now")]

    def embed(text: str) -> Embedded:
        if failures:
            raise failures.pop()
        return embedded(text)

    cache = QueryCache(embed)
    with pytest.raises(EmbedderUnavailable, match=r"^not now$"):
        cache("text")
    assert cache("text").vectors.tolist() == [[4, 4]]
