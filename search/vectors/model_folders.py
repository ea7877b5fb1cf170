"""Where the settings let the files of a model lie."""

import sys
from pathlib import Path

from django.conf import settings

from search.vectors.embedding import EmbedderUnavailable
from search.vectors.model_files import ModelFiles, faults


def model_folders(model: ModelFiles) -> list[Path]:
    """Return the folders that are looked through, first choice first; `memweb model fetch` writes into the first.

    A folder named by MEMWEB_MODEL_DIR is the only one: what was provided by hand is not silently replaced. Otherwise
    it is the data folder, then the one that `make install` fills beside the virtual environment's packages.
    """
    if settings.MODEL_DIR:
        return [settings.MODEL_DIR]
    return [folder / "models" / model.name for folder in (settings.DATA_DIR, Path(sys.prefix))]


def find_model(model: ModelFiles) -> Path | None:
    """Return the first folder in which every file of the model is what it should be."""
    return next((folder for folder in model_folders(model) if not faults(model, folder)), None)


def describe_missing(model: ModelFiles) -> tuple[Path, list[str]]:
    """Return the folder with the most of the model in it, where somebody tried, and what is wrong there."""
    found = {folder: faults(model, folder) for folder in model_folders(model)}
    folder = min(found, key=lambda one: sum("missing" in fault for fault in found[one]))
    return folder, found[folder]


def sound_folder(model: ModelFiles) -> Path:
    """Return the folder that `find_model` finds. Raises EmbedderUnavailable."""
    folder = find_model(model)
    if folder is None:
        where, wrong = describe_missing(model)
        raise EmbedderUnavailable(
            f"the model {model.name} cannot be used: {', '.join(wrong)} in {where}; run `memweb model fetch`"
        )
    return folder
