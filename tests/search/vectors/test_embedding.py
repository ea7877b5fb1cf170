"""The embedder that the settings choose."""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pytest_django import Settings

from memweb.environment import EmbeddingService
from search.vectors.embedding import EmbedderUnavailable, current_embedder, embedder_name, embedder_named
from search.vectors.model_files import BGE_SMALL
from tests.real_models import folder_of


def test_switched_off_is_calm() -> None:
    assert embedder_name() is None
    with pytest.raises(EmbedderUnavailable, match=r"^search by meaning is switched off \(MEMWEB_EMBEDDER=off\)$"):
        current_embedder()


@pytest.mark.parametrize(
    ("setting", "name"),
    [
        ("bge-small", "bge-small-en-v1.5-int8"),
        ("multilingual", "multilingual-e5-small-q4"),
        ("fastembed:a/b", "fastembed:a/b"),
        ("sentence-transformers:a/b", "sentence-transformers:a/b"),
        ("http", "http:served"),
    ],
)
def test_name_is_known_without_the_model(settings: Settings, tmp_path: Path, setting: str, name: str) -> None:
    settings.EMBEDDER = setting
    settings.EMBEDDING_SERVICE = EmbeddingService("http://127.0.0.1:9", "served", 3, "")
    settings.MODEL_DIR = tmp_path
    assert embedder_name() == name


@pytest.mark.parametrize("setting", ["bge-small", "multilingual"])
def test_missing_model_is_told_with_what_to_do(settings: Settings, tmp_path: Path, setting: str) -> None:
    settings.EMBEDDER, settings.MODEL_DIR = setting, tmp_path
    with pytest.raises(EmbedderUnavailable) as missing:
        current_embedder()
    message = str(missing.value)
    assert message.startswith(f"the model {setting} cannot be used: ")
    assert message.endswith(f" is missing in {tmp_path}; run `memweb model fetch`")


def test_altered_model_is_not_loaded(settings: Settings, tmp_path: Path) -> None:
    sound = folder_of(BGE_SMALL)
    (tmp_path / "tokenizer.json").symlink_to(sound / "tokenizer.json")
    (tmp_path / "model_quantized.onnx").write_bytes((sound / "model_quantized.onnx").read_bytes()[:-1])
    settings.EMBEDDER, settings.MODEL_DIR = "bge-small", tmp_path
    with pytest.raises(EmbedderUnavailable, match=r"^the model bge-small .*: model_quantized.onnx was altered in "):
        current_embedder()


def test_model_that_comes_later_is_used_without_a_restart(settings: Settings, tmp_path: Path) -> None:
    sound = folder_of(BGE_SMALL)
    settings.EMBEDDER, settings.MODEL_DIR = "bge-small", tmp_path / "models"
    with pytest.raises(EmbedderUnavailable):
        current_embedder()
    settings.MODEL_DIR.symlink_to(sound)
    assert current_embedder().name == embedder_name()


def test_model_is_loaded_once_for_all_threads(settings: Settings) -> None:
    settings.EMBEDDER, settings.MODEL_DIR = "bge-small", folder_of(BGE_SMALL)
    with ThreadPoolExecutor(4) as pool:
        loaded = list(pool.map(lambda _: current_embedder(), range(8)))
    assert len(set(map(id, loaded))) == 1
    assert (loaded[0].name, loaded[0].dimension) == ("bge-small-en-v1.5-int8", 384)


def test_model_is_looked_for_in_the_data_folder_and_beside_the_environment(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from search.vectors.model_folders import find_model, model_folders

    sound = folder_of(BGE_SMALL)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    settings.DATA_DIR = tmp_path / "data"
    folders = [tmp_path / "data" / "models" / "bge-small", tmp_path / "venv" / "models" / "bge-small"]
    assert model_folders(BGE_SMALL) == folders
    assert find_model(BGE_SMALL) is None
    for folder in reversed(folders):
        folder.parent.mkdir(parents=True)
        folder.symlink_to(sound)
        assert find_model(BGE_SMALL) == folder
    settings.MODEL_DIR = tmp_path / "mine"
    assert model_folders(BGE_SMALL) == [tmp_path / "mine"]


def test_embedder_is_loaded_by_its_name_whatever_is_chosen(settings: Settings) -> None:
    settings.EMBEDDER, settings.MODEL_DIR = "multilingual", folder_of(BGE_SMALL)
    embedder = embedder_named("bge-small-en-v1.5-int8")
    assert embedder.name == "bge-small-en-v1.5-int8"
    assert embedder_named("bge-small-en-v1.5-int8") is embedder


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("fake", "there is no embedder fake"),
        ("", "there is no embedder "),
        ("http:model", "the address of the service with model is not known any more"),
    ],
)
def test_embedder_that_cannot_be_loaded_by_name_says_so(name: str, problem: str) -> None:
    with pytest.raises(EmbedderUnavailable) as caught:
        embedder_named(name)
    assert str(caught.value) == problem
