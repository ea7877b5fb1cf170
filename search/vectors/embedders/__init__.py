"""The embedders, one module each; nothing heavy is imported before one is loaded."""

from typing import cast

from django.conf import settings

from memweb.environment import EmbeddingService
from search.vectors.embedding import Embedder, EmbedderUnavailable
from search.vectors.model_files import BGE_SMALL, MULTILINGUAL
from search.vectors.model_folders import sound_folder


def chosen_name() -> str | None:
    """Return the name that the embedder of the settings will have; None when embedding is switched off."""
    match settings.EMBEDDER:
        case "off":
            return None
        case "bge-small":
            return "bge-small-en-v1.5-int8"
        case "multilingual":
            return "multilingual-e5-small-q4"
        case "http":
            return f"http:{_service().model}"
    return settings.EMBEDDER


def load_chosen() -> Embedder:
    """Load the embedder of the settings. Raises EmbedderUnavailable."""
    library, _, model = settings.EMBEDDER.partition(":")
    match library:
        case "bge-small":
            folder = sound_folder(BGE_SMALL)
            from search.vectors.embedders.bge_small import BgeSmall

            return BgeSmall(folder)
        case "multilingual":
            folder = sound_folder(MULTILINGUAL)
            from search.vectors.embedders.multilingual import MultilingualE5

            return MultilingualE5(folder)
        case "http":
            from search.vectors.embedders.service import service_embedder

            return service_embedder(_service())
        case "fastembed":
            from search.vectors.embedders.libraries import fastembed_embedder

            return fastembed_embedder(model)
        case "sentence-transformers":
            from search.vectors.embedders.libraries import sentence_transformers_embedder

            return sentence_transformers_embedder(model)
    raise EmbedderUnavailable("search by meaning is switched off (MEMWEB_EMBEDDER=off)")


def _service() -> EmbeddingService:
    # memweb/environment.py refuses to start with one and without the other.
    return cast(EmbeddingService, settings.EMBEDDING_SERVICE)
