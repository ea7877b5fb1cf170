"""The vector process, `python -m search.vectors.chroma_process`: the only place where Chroma is imported.

Chroma's native code can end the process that it runs in. So it runs in this one, which serves nobody directly: the
process that started it asks over a pipe, and lives on when this one dies.
"""

import ctypes
import faulthandler
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any

# Chroma reads these when it is imported.
os.environ["ANONYMIZED_TELEMETRY"] = "False"
os.environ["CHROMA_OTEL_COLLECTION_ENDPOINT"] = ""

import chromadb
import django
import httpx
import numpy as np
from chromadb.api.fastapi import FastAPI
from chromadb.config import Settings
from chromadb.errors import AuthorizationError, ChromaAuthError, InvalidDimensionException, NotFoundError

from memweb.environment import ChromaServer
from search.vectors.embedding import Vectors
from search.vectors.failures import network_trouble
from search.vectors.index_folder import IndexFolder
from search.vectors.index_problems import IndexDamaged, IndexUnavailable, folder_problem
from search.vectors.index_state import Action
from search.vectors.vector_index import OUR_PREFIX, VectorIndex

logger = logging.getLogger(__name__)

PAGE = 5_000  # batches over 5,461 fail
QUERY_SECONDS = 2.0
WRITE_SECONDS = 30.0
# Written to disk after so many changes; what came later is compared one by one, and read again after a crash.
SYNC_THRESHOLD = 2_000
SECONDS_TO_END = 2


class ChromaIndex:
    """One collection, for vectors of length 1 by row id. Ids are the row ids as text."""

    def __init__(self, reading: Any, writing: Any, translated: Any) -> None:
        self._reading = reading
        self._writing = writing
        self._translated = translated

    def ids(self) -> set[int]:
        found: set[int] = set()
        with self._translated():
            while page := self._writing.get(include=[], limit=PAGE, offset=len(found))["ids"]:
                before = len(found)
                found.update(map(int, page))
                if len(found) - before != len(page):
                    raise IndexDamaged("it lists an id twice")
            if len(found) != self._writing.count():
                raise IndexDamaged("it counts otherwise than it lists")
        return found

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        with self._translated():
            for start in range(0, len(ids), PAGE):
                page = slice(start, start + PAGE)
                self._writing.upsert(ids=list(map(str, ids[page])), embeddings=vectors[page])

    def remove(self, ids: Sequence[int]) -> None:
        with self._translated():
            for start in range(0, len(ids), PAGE):
                self._writing.delete(ids=list(map(str, ids[start : start + PAGE])))

    def nearest(self, vectors: Vectors, limit: int) -> list[list[tuple[int, float]]]:
        if not len(vectors) or limit < 1:
            return [[] for _ in vectors]
        with self._translated():
            answer = self._reading.query(query_embeddings=vectors, n_results=limit, include=["distances"])
            return [
                [(int(id), 1 - float(distance)) for id, distance in zip(ids, distances, strict=True)]
                for ids, distances in zip(answer["ids"], answer["distances"], strict=True)
            ]

    def stored(self, ids: Sequence[int]) -> dict[int, Vectors]:
        if not ids:
            return {}
        with self._translated():
            answer = self._writing.get(ids=list(map(str, ids)), include=["embeddings"])
            vectors = np.asarray(answer["embeddings"], np.float32)
            return {int(id): vector for id, vector in zip(answer["ids"], vectors, strict=True)}


class LocalStore:
    """Chroma on this machine's disk."""

    def __init__(self, data_dir: Path) -> None:
        self._folder = IndexFolder(data_dir)
        self._client: Any = None
        self._crash_note: IO[str] | None = None
        self._opened: tuple[tuple[int, int] | None, ...] = ()

    @property
    def needs_new_process(self) -> bool:
        return self._client is not None

    def prepare(self, action: Action | None) -> str | None:
        """Do what was asked for while nobody has the folder open; return in words what was set aside."""
        if self._client is not None:
            return None
        if action is Action.REBUILD:
            self._folder.remove()
        aside = self._folder.make_ready()
        # Python's fault handler writes down where native code crashed, and the next process finds it.
        self._crash_note = self._folder.damage_note.open("w", encoding="utf-8")
        faulthandler.enable(self._crash_note)
        if action is Action.OPTIMIZE:
            self._folder.compact()
        self._folder.note_opening()
        return f"{aside.reason}; kept in {aside.path}" if aside else None

    def open(self, name: str, model: str, others: Sequence[str]) -> VectorIndex:
        with self._translated():
            if self._client is None:
                settings = Settings(anonymized_telemetry=False, is_persistent=True)
                self._client = chromadb.PersistentClient(str(self._folder.path), settings)
            for collection in self._client.list_collections():
                if collection.name != name and collection.name.startswith(OUR_PREFIX):
                    self._client.delete_collection(collection.name)
            collection = _collection(self._client, name, model, {"sync_threshold": SYNC_THRESHOLD})
        self._opened = self._folder.identity()
        return ChromaIndex(collection, collection, self._translated)

    def is_in_place(self) -> bool:
        return self._folder.identity() == self._opened

    def note_opened(self) -> None:
        self._folder.note_opened()

    def condemn(self, reason: str, detail: str) -> None:
        self._folder.note_damage(reason, detail)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Turn whatever Chroma raises, panics of its native code too, into what it means for the folder."""
        try:
            yield
        except (IndexDamaged, IndexUnavailable, SystemExit, KeyboardInterrupt, GeneratorExit):
            raise
        except BaseException as error:
            if problem := folder_problem(self._folder.path, error):
                raise IndexUnavailable(problem) from error
            raise IndexDamaged("Chroma cannot read it") from error


class RemoteStore:
    """A Chroma server."""

    needs_new_process = False

    def __init__(self, server: ChromaServer) -> None:
        self._server = server
        self._is_condemned = False

    def prepare(self, action: Action | None) -> str | None:
        self._is_condemned = self._is_condemned or action is Action.REBUILD
        return None

    def open(self, name: str, model: str, others: Sequence[str]) -> VectorIndex:
        with self._translated():
            # Chroma's client waits for ever while it connects; this does not.
            url = f"{self._server.url}/api/v2/heartbeat"
            httpx.get(url, timeout=QUERY_SECONDS, headers=self._headers).raise_for_status()
            try:
                reading, writing = self._connect(QUERY_SECONDS), self._connect(WRITE_SECONDS)
            except NotFoundError as error:
                raise IndexUnavailable(
                    f"the Chroma server has no database {self._server.database!r} of tenant {self._server.tenant!r}"
                ) from error
            present = {collection.name for collection in writing.list_collections()}
            for unused in present.intersection([*others, *([name] if self._is_condemned else [])]):
                writing.delete_collection(unused)
            self._is_condemned = False
            collection = _collection(writing, name, model, {})
            return ChromaIndex(reading.get_collection(name, embedding_function=None), collection, self._translated)

    def is_in_place(self) -> bool:
        return True  # a server answers for what it holds

    def note_opened(self) -> None:
        pass

    def condemn(self, reason: str, detail: str) -> None:
        self._is_condemned = True

    @property
    def _headers(self) -> dict[str, str]:
        token = self._server.token
        return {"Authorization": f"Bearer {token}", "X-Chroma-Token": token} if token else {}

    def _connect(self, seconds: float) -> Any:
        client = chromadb.HttpClient(
            host=self._server.host,
            port=self._server.port,
            ssl=self._server.is_secure,
            headers=self._headers,
            settings=Settings(anonymized_telemetry=False),
            tenant=self._server.tenant,
            database=self._server.database,
        )
        server = client._server  # type: ignore[attr-defined]  # there is no public way to limit the time
        if isinstance(server, FastAPI):
            server._session.timeout = httpx.Timeout(seconds)
        return client

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (IndexDamaged, IndexUnavailable):
            raise
        except httpx.HTTPStatusError as error:
            raise IndexUnavailable(
                f"{self._server.url} answers {error.response.status_code}: no Chroma server, or a wrong CHROMA_TOKEN"
            ) from error
        except httpx.TimeoutException as error:
            raise IndexUnavailable(f"the Chroma server {self._server.url} does not answer in time") from error
        except httpx.TransportError as error:
            raise IndexUnavailable(f"the Chroma server {self._server.url} {network_trouble(error)}") from error
        except (ChromaAuthError, AuthorizationError) as error:
            raise IndexUnavailable(f"the Chroma server {self._server.url} refuses CHROMA_TOKEN") from error
        except (NotFoundError, InvalidDimensionException) as error:
            raise IndexDamaged("its collection is gone from the server, or is of another dimension") from error
        except Exception as error:
            logger.warning("The Chroma server failed: %s", " ".join(str(error).split()))
            raise IndexUnavailable(f"the Chroma server {self._server.url} failed to answer") from error


def _collection(client: Any, name: str, model: str, hnsw: dict[str, int]) -> Any:
    return client.get_or_create_collection(
        name,
        embedding_function=None,  # the default one would download a model
        configuration={"hnsw": {"space": "cosine", **hnsw}},
        metadata={"model": model},
    )


def end_with_parent() -> None:
    """End this process as soon as the one that started it is gone, even while native code holds the interpreter."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    threading.Thread(target=_watch_parent, daemon=True).start()


def _watch_parent() -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os._exit(1)


def main(pipe: str, purpose: str, embeds: str) -> None:
    """Serve the process at the other end of the pipe until it closes it."""
    end_with_parent()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memweb.settings")
    django.setup()
    if embeds != "embed":
        logging.getLogger("search.vectors").setLevel(logging.ERROR)  # a command tells in its own words
    from django.conf import settings

    from search.vectors.vector_service import VectorService

    store = RemoteStore(settings.CHROMA) if settings.CHROMA else LocalStore(settings.DATA_DIR)
    service = VectorService(Connection(int(pipe)), settings.DATA_DIR, store, purpose, embeds=embeds == "embed")
    os._exit(service.serve())  # threads that are inside native code are not waited for


if __name__ == "__main__":
    main(*sys.argv[1:])
