"""The vector process of `memweb up`: embeds what is new and keeps the vector index, beside the web server."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from django.conf import settings
from django.db import connection
from django.db.utils import DatabaseError

from search.vectors.chroma_client import VectorProcess
from search.vectors.embedding import EmbedderUnavailable, embedder_name, load_in_background
from search.vectors.nearest import register_broad_index, warm_up

logger = logging.getLogger(__name__)

PURPOSE = "memweb up"
# So long a page waits for a model that is being loaded; then it is answered by words.
PATIENCE = 0.5


@contextmanager
def vector_process() -> Iterator[None]:
    """Let searches by meaning ask a vector process while the block runs; without an embedder none is started.

    It starts in the background, and meanwhile this process loads what embeds questions. Until it is ready, and whenever
    it is not, stored vectors are compared one by one.
    """
    if embedder_name() is None:
        yield
        return
    process = VectorProcess(settings.DATA_DIR, PURPOSE, embeds=True)
    register_broad_index(process.nearest)
    load_in_background(PATIENCE)
    process.start()
    Thread(target=_warm_up, name="warm-up", daemon=True).start()
    try:
        yield
    finally:
        register_broad_index(None)
        load_in_background(None)
        process.stop()


def _warm_up() -> None:
    """Load model and vectors, so that the first question need not wait for them."""
    try:
        warm_up()
    except (EmbedderUnavailable, DatabaseError) as error:
        logger.warning("search by meaning is not possible yet: %s", error)
    finally:
        connection.close()
