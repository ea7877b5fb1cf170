"""The vector process of `memweb up`: embeds what is new and keeps the vector index, beside the web server."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings

from search.vectors.chroma_client import VectorProcess
from search.vectors.embedding import embedder_name
from search.vectors.nearest import register_broad_index

PURPOSE = "memweb up"


@contextmanager
def vector_process() -> Iterator[None]:
    """Let searches by meaning ask a vector process while the block runs; without an embedder none is started.

    It starts in the background. Until it is ready, and whenever it is not, stored vectors are compared one by one.
    """
    if embedder_name() is None:
        yield
        return
    process = VectorProcess(settings.DATA_DIR, PURPOSE, embeds=True)
    register_broad_index(process.nearest)
    process.start()
    try:
        yield
    finally:
        register_broad_index(None)
        process.stop()
