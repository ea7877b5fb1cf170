"""The embedders, one module each; nothing heavy is imported before one is loaded."""

from importlib.util import find_spec
from typing import cast

from django.conf import settings

from memweb.environment import EmbeddingService
from search.vectors.embedding import Embedder, EmbedderUnavailable
from search.vectors.model_files import BGE_SMALL, MODELS, MULTILINGUAL
from search.vectors.model_folders import sound_folder

_MODULES = {"fastembed": "fastembed", "sentence-transformers": "sentence_transformers"}
# Names of embedders that the settings call otherwise.
_CHOICES = {"bge-small-en-v1.5-int8": "bge-small", "multilingual-e5-small-q4": "multilingual"}


def chosen_name() -> str | None:
    """Return the name that the embedder of the settings will have; None when embedding is switched off."""
    match settings.EMBEDDER:
        case "off":
            return None
        case "http":
            return f"http:{_service().model}"
    return next((name for name, choice in _CHOICES.items() if choice == settings.EMBEDDER), settings.EMBEDDER)


def chosen_problem() -> str | None:
    """Return why the embedder of the settings cannot be used, as far as that shows without loading it; None: it can."""
    library = settings.EMBEDDER.partition(":")[0]
    try:
        if files := MODELS.get(library):
            sound_folder(files)
        elif library in _MODULES and find_spec(_MODULES[library]) is None:
            return f"MEMWEB_EMBEDDER={settings.EMBEDDER} needs memweb's extra {library}, which is not installed"
    except EmbedderUnavailable as error:
        return str(error)
    return None


def load_chosen() -> Embedder:
    """Load the embedder of the settings. Raises EmbedderUnavailable."""
    if settings.EMBEDDER == "off":
        raise EmbedderUnavailable("search by meaning is switched off (MEMWEB_EMBEDDER=off)")
    return _load(settings.EMBEDDER)


def load_named(name: str) -> Embedder:
    """Load the embedder that has this name, whatever the settings choose. Raises EmbedderUnavailable."""
    if name.startswith("http:") and name != chosen_name():
        raise EmbedderUnavailable(f"the address of the service with {name[5:]} is not known any more")
    return _load(_CHOICES.get(name, name))


def _load(choice: str) -> Embedder:
    library, _, model = choice.partition(":")
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
    raise EmbedderUnavailable(f"there is no embedder {choice}")


def _service() -> EmbeddingService:
    # memweb/environment.py refuses to start with one and without the other.
    return cast(EmbeddingService, settings.EMBEDDING_SERVICE)
