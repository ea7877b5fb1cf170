"""Fixtures of the tests of vectors."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from search.vectors import chroma_client
from tests.search.vectors.data_folder import ROWS, DataFolder, make_data_folder, make_template, wait_until_equal


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with an empty database."""
    return make_template(tmp_path_factory.mktemp("template"))


@pytest.fixture
def folder(template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    """A data folder of its own that processes started by the test use."""
    monkeypatch.setattr(chroma_client, "SHORTEST_PAUSE", 0.05)  # a process that was killed need not be missed long
    folder = make_data_folder(template, tmp_path / "data")
    folder.use(monkeypatch)
    return folder


@pytest.fixture(scope="session")
def sound(template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DataFolder]:
    """A data folder with a sound index, to be copied; past 2,000 vectors the graph is on the disk."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        folder = make_data_folder(template, tmp_path_factory.mktemp("sound") / "data")
        folder.use(monkeypatch)
        folder.store(ROWS)
        with folder.process() as process:
            wait_until_equal(process, folder)
        yield folder
