"""An embedding service with the interface of OpenAI's: POST <address>/embeddings."""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from typing import IO, Any
from urllib.error import HTTPError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from memweb.environment import EmbeddingService
from search.vectors.embedders.vectors_only import VectorsOnlyEmbedder
from search.vectors.embedding import EmbedderUnavailable
from search.vectors.failures import network_trouble

BATCH = 64
MAX_TOKENS = 512
MAX_ANSWER = 64 * 1024 * 1024  # bytes; a batch of 64 vectors of 4,096 numbers takes some 6 MB
TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a service is waited for, in seconds: for each answer, before each further try, and, when all tries have
    failed, before it is asked again at all."""

    timeout: float
    pauses: tuple[float, ...]
    rest: float = 0


FOR_DOCUMENTS = Patience(60, (0.5, 2, 8))
FOR_QUERIES = Patience(5, (0.2,), rest=30)  # somebody waits for the page, and search by keyword is there


class _NoRedirects(HTTPRedirectHandler):
    """Refuses to follow: texts and key are meant for the address that was given, for no other."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


def service_embedder(
    service: EmbeddingService, documents: Patience = FOR_DOCUMENTS, queries: Patience = FOR_QUERIES
) -> VectorsOnlyEmbedder:
    """Return an embedder that asks the service, which is not called before there is something to embed."""
    client = _Client(service)
    return VectorsOnlyEmbedder(
        f"http:{service.model}",
        service.dimension,
        MAX_TOKENS,
        lambda texts: [row for batch in _batches(texts) for row in client.embed(batch, documents)],
        lambda text: client.embed([text], queries),
    )


def _batches(texts: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(texts), BATCH):
        yield texts[start : start + BATCH]


class _Client:
    def __init__(self, service: EmbeddingService) -> None:
        self._service = service
        self._opener = build_opener(_NoRedirects)
        self._asked_again_at = 0.0  # on the monotonic clock

    def embed(self, texts: list[str], patience: Patience) -> list[list[float]]:
        """Return a row of numbers for each text. Raises EmbedderUnavailable."""
        if patience.rest and time.monotonic() < self._asked_again_at:
            raise EmbedderUnavailable(
                f"the embedding service {self._service.url} failed and is asked again within {patience.rest:g} seconds"
            )
        pauses = list(patience.pauses)
        while True:
            try:
                return self._ask(texts, patience.timeout)
            except (OSError, HTTPException) as error:  # URLError and timeouts are OSErrors
                if isinstance(error, HTTPError):
                    error.close()
                if not pauses or (isinstance(error, HTTPError) and error.code not in TRY_AGAIN):
                    self._asked_again_at = time.monotonic() + patience.rest
                    raise EmbedderUnavailable(f"the embedding service {self._service.url} {_failure(error)}") from error
            time.sleep(pauses.pop(0))

    def _ask(self, texts: list[str], timeout: float) -> list[list[float]]:
        headers = {"Content-Type": "application/json", "Accept": "application/json", "User-Agent": "memweb"}
        if self._service.key:
            headers["Authorization"] = f"Bearer {self._service.key}"
        body = {"model": self._service.model, "input": texts, "encoding_format": "float"}
        request = Request(  # noqa: S310 - the settings take only http and https
            f"{self._service.url}/embeddings", json.dumps(body).encode(), headers, method="POST"
        )
        with self._opener.open(request, timeout=timeout) as answer:
            return self._rows(answer.read(MAX_ANSWER), len(texts))

    def _rows(self, answer: bytes, count: int) -> list[list[float]]:
        """Return the rows in the order of the texts, which is that of their `index`, not that of the list."""
        try:
            data: list[dict[str, Any]] = json.loads(answer)["data"]
            rows = {int(one["index"]): one["embedding"] for one in data}
            return [rows[index] for index in range(count)]
        except (ValueError, KeyError, TypeError) as error:
            raise EmbedderUnavailable(
                f"the embedding service {self._service.url} gave no vector for each of {count} texts"
            ) from error


def _failure(error: Exception) -> str:
    if isinstance(error, HTTPError):
        return f"answered {error.code} {error.reason}"
    return network_trouble(error)
