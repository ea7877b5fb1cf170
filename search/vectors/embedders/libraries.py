"""Any model of fastembed or sentence-transformers; both are optional extras and load models from a hub."""

import importlib
import logging
from typing import Any

import numpy as np

from search.vectors.embedders.vectors_only import VectorsOnlyEmbedder
from search.vectors.embedding import EmbedderUnavailable

logger = logging.getLogger(__name__)

# Neither library tells the window of every model in one way; this one is that of most, and chunks longer than it help
# no model much.
MAX_TOKENS = 512


def fastembed_embedder(model: str) -> VectorsOnlyEmbedder:
    """Return a model of fastembed. Raises EmbedderUnavailable when library or model cannot be loaded."""
    library = _import("fastembed", "fastembed")
    loaded = _load(f"fastembed:{model}", lambda: library.TextEmbedding(model_name=model))
    return _embedder(
        f"fastembed:{model}",
        lambda texts: np.array(list(loaded.passage_embed(texts))),
        lambda text: np.array(list(loaded.query_embed(text))),
    )


def sentence_transformers_embedder(model: str) -> VectorsOnlyEmbedder:
    """Return a model of sentence-transformers. Raises EmbedderUnavailable when library or model cannot be loaded."""
    library = _import("sentence_transformers", "sentence-transformers")
    loaded = _load(f"sentence-transformers:{model}", lambda: library.SentenceTransformer(model))
    return _embedder(
        f"sentence-transformers:{model}",
        lambda texts: loaded.encode_document(texts, show_progress_bar=False, convert_to_numpy=True),
        lambda text: loaded.encode_query([text], show_progress_bar=False, convert_to_numpy=True),
    )


def _import(module: str, extra: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise EmbedderUnavailable(
            f"MEMWEB_EMBEDDER={extra}:... needs memweb's extra {extra}:"
            f" .venv/bin/python -m pip install --editable '.[{extra}]'"
        ) from error


def _load(name: str, load: Any) -> Any:
    try:
        return load()
    except Exception as error:  # each library, and each of what they build on, has errors of its own
        logger.warning("The model %s cannot be loaded: %s", name, " ".join(str(error).split()))
        raise EmbedderUnavailable(
            f"the model {name} cannot be loaded; look for a slip in its name, and whether its hub is within reach"
        ) from error


def _embedder(name: str, documents: Any, query: Any) -> VectorsOnlyEmbedder:
    # The first vector tells the dimension, in every version of both libraries.
    dimension = int(np.asarray(_load(name, lambda: query("dimension"))).shape[-1])
    return VectorsOnlyEmbedder(name, dimension, MAX_TOKENS, documents, query)
