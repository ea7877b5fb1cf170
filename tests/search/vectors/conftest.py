"""Fixtures of the tests of vectors."""

from pathlib import Path

import pytest

from tests.search.vectors.data_folder import DataFolder, make_data_folder, make_template


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with an empty database."""
    return make_template(tmp_path_factory.mktemp("template"))


@pytest.fixture
def folder(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    """A data folder of its own that processes started by the test use."""
    folder = make_data_folder(template, tmp_path / "data")
    folder.use(monkeypatch)
    return folder
