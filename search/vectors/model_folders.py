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


def sound_folder(model: ModelFiles) -> Path:
    """Return the first folder in which every file of the model is what it should be. Raises EmbedderUnavailable."""
    found = {folder: faults(model, folder) for folder in model_folders(model)}
    for folder, wrong in found.items():
        if not wrong:
            return folder
    # The folder to speak of is the one with the most of the model in it: there somebody tried.
    folder = min(found, key=lambda one: sum("missing" in fault for fault in found[one]))
    raise EmbedderUnavailable(
        f"the model {model.name} cannot be used: {', '.join(found[folder])} in {folder}; run `memweb model fetch`"
    )
