"""Gives every memory of an evaluation its vectors before questions are asked by meaning."""

from collections.abc import Callable

from search.closets.upkeep import ClosetKeeper
from search.vectors.coverage import coverage
from search.vectors.embedding import current_embedder
from search.vectors.indexer import Done, Indexer

# Called with memories done and memories in all.
Progress = Callable[[int, int], None]


def embed_everything(progress: Progress) -> str:
    """Embed what has no vectors yet and return the name of the embedder. Raises EmbedderUnavailable."""
    embedder = current_embedder()
    before = coverage()

    def show(done: Done) -> None:
        progress(min(before.embedded + done.memories, before.total), before.total)

    Indexer(embedder, show).run()
    ClosetKeeper(embedder).run()
    return embedder.name
