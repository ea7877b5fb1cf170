"""The models that `make install` fetches, for tests that need a real one."""

import os
import sys
from functools import lru_cache
from pathlib import Path

import pytest

from search.vectors.embedders.bge_small import BgeSmall
from search.vectors.embedders.multilingual import MultilingualE5
from search.vectors.model_files import BGE_SMALL, MULTILINGUAL, ModelFiles, faults


def folder_of(model: ModelFiles) -> Path:
    """Return the folder with the model's files; the test is skipped when they are nowhere."""
    folders = [Path(sys.prefix) / "models" / model.name]
    if "MEMWEB_MODEL_DIR" in os.environ:
        folders = [Path(os.environ["MEMWEB_MODEL_DIR"])]
    for folder in folders:
        if not faults(model, folder):
            return folder
    pytest.skip(
        f"the model {model.name} is not in {folders[0]}; there it comes with:"
        f" MEMWEB_EMBEDDER={model.name} {sys.executable} -m search.vectors.model_files {sys.prefix}/models"
    )


def bge_small() -> BgeSmall:
    """Return the default embedder, loaded once."""
    return _loaded_bge_small(folder_of(BGE_SMALL))


def multilingual() -> MultilingualE5:
    """Return the embedder for many languages, loaded once."""
    return _loaded_multilingual(folder_of(MULTILINGUAL))


@lru_cache(maxsize=1)
def _loaded_bge_small(folder: Path) -> BgeSmall:
    return BgeSmall(folder, threads=2)


@lru_cache(maxsize=1)
def _loaded_multilingual(folder: Path) -> MultilingualE5:
    return MultilingualE5(folder, threads=2)
