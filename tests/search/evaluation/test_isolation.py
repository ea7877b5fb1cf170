"""The folder and the environment that measuring happens in."""

from pathlib import Path

import pytest
from django.conf import LazySettings

from search.evaluation.conversations import EvaluationError
from search.evaluation.isolation import claim_folder, environment, folder_for


def test_environment_leads_to_nothing_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("DATABASE_URL", "CHROMA_URL", "CHROMA_TOKEN", "MEMWEB_SECRET_KEY", "MEMWEB_DATA_DIR"):
        monkeypatch.setenv(name, "the user's")
    monkeypatch.setenv("MEMWEB_EMBEDDER", "off")
    found = environment(tmp_path)
    assert "the user's" not in found.values()
    assert found["MEMWEB_DATA_DIR"] == str(tmp_path)
    assert found["DJANGO_SETTINGS_MODULE"] == "memweb.settings"
    assert found["MEMWEB_EMBEDDER"] == "off"


def test_folder_is_claimed_once_for_the_same_data(tmp_path: Path) -> None:
    folder = tmp_path / "kept" / "turns"
    claim_folder(folder, "digest")
    assert folder.stat().st_mode & 0o777 == 0o700
    (folder / "memweb.sqlite3").touch()
    claim_folder(folder, "digest")
    with pytest.raises(EvaluationError, match="holds an index of other data"):
        claim_folder(folder, "another")


def test_empty_folder_is_claimed(tmp_path: Path) -> None:
    claim_folder(tmp_path, "digest")
    assert [path.name for path in tmp_path.iterdir()] == ["evaluation"]


def test_folder_of_somebody_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "memweb.sqlite3").write_bytes(b"memories")
    with pytest.raises(EvaluationError, match="holds something else than an evaluation"):
        claim_folder(tmp_path, "digest")
    with pytest.raises(EvaluationError, match="holds something else than an evaluation"):
        claim_folder(tmp_path / "memweb.sqlite3", "digest")
    assert [path.name for path in tmp_path.iterdir()] == ["memweb.sqlite3"]


def test_models_of_the_user_are_lent(tmp_path: Path, settings: LazySettings) -> None:
    settings.DATA_DIR = tmp_path / "data"
    (tmp_path / "data" / "models").mkdir(parents=True)
    claim_folder(tmp_path / "kept", "digest")
    claim_folder(tmp_path / "kept", "digest")
    assert (tmp_path / "kept" / "models").resolve() == tmp_path / "data" / "models"


def test_folder_goes_away_unless_it_is_kept(tmp_path: Path) -> None:
    with folder_for(None) as folder:
        (folder / "file").touch()
    assert not folder.exists()
    with folder_for(tmp_path) as kept:
        assert kept == tmp_path
    assert tmp_path.exists()
