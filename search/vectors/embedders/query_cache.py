"""Remembers what the latest queries were embedded to."""

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from threading import Lock

from search.vectors.embedding import Embedded

SIZE = 256


class QueryCache:
    """Embeds each text once, however many threads ask for it at the same time; keeps the SIZE latest."""

    def __init__(self, embed: Callable[[str], Embedded], size: int = SIZE) -> None:
        self._embed = embed
        self._size = size
        self._lock = Lock()
        self._answers: OrderedDict[str, Future[Embedded]] = OrderedDict()

    def __call__(self, text: str) -> Embedded:
        """Return the embedded text, read-only. What the embedding raises reaches all who wait, and is not kept."""
        with self._lock:
            answer = self._answers.get(text)
            is_new = answer is None
            if answer is None:
                answer = self._answers[text] = Future()
                while len(self._answers) > self._size:
                    self._answers.popitem(last=False)
            self._answers.move_to_end(text)
        if is_new:
            self._fill(text, answer)
        return answer.result()

    def _fill(self, text: str, answer: Future[Embedded]) -> None:
        try:
            embedded = self._embed(text)
        except BaseException as error:
            with self._lock:
                if self._answers.get(text) is answer:
                    del self._answers[text]
            answer.set_exception(error)
            raise
        for array in (embedded.vectors, *(embedded.states or ())):
            array.flags.writeable = False
        answer.set_result(embedded)
