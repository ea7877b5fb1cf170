"""Makes search/vectors/projection64.npy: the matrix that reduces token states of bge-small from 384 numbers to 64.

    .venv/bin/python scripts/make_projection.py [OUTPUT]

It holds the leading directions (principal components, not centred) of token states of texts that say nothing of
anybody's memories: docstrings of Python's standard library and lines of words of the model's vocabulary. So it never
has to be made again for other memories, and stored token states stay comparable. Docstrings change with Python; the
file in the repository was made with Python 3.11. The module turtle needs tkinter.
"""

import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from search.vectors.embedders.bge_small import PROJECTION, BgeSmall, unit  # noqa: E402 - the path comes first
from search.vectors.embedders.workers import Workers  # noqa: E402
from search.vectors.model_files import BGE_SMALL, faults  # noqa: E402

TEXTS_OF_EACH = 600
WIDTH = 64
MODULES = (
    "argparse logging json datetime pathlib subprocess threading unittest decimal random collections asyncio tarfile"
    " zipfile shutil tempfile string textwrap typing functools itertools statistics fractions socket ssl mailbox csv"
    " configparser calendar heapq bisect queue smtplib ftplib gettext locale cmd shlex turtle"
)


def docstrings() -> list[str]:
    """Return TEXTS_OF_EACH docstrings, evenly taken of all that are longer than a phrase, in alphabetical order."""
    found = set()
    for name in MODULES.split():
        for value in _documented(importlib.import_module(name)):
            text = inspect.getdoc(value) or ""
            if len(text) > 40:
                found.add(text[:400])
    texts = sorted(found)
    return texts[:: max(1, len(texts) // TEXTS_OF_EACH)][:TEXTS_OF_EACH]


def _documented(module: object) -> Iterator[object]:
    for value in vars(module).values():
        if callable(value):
            yield value
        if inspect.isclass(value):
            yield from (member for member in vars(value).values() if callable(member))


def lines_of_words(vocabulary: list[str]) -> list[str]:
    """Return TEXTS_OF_EACH lines of eight words that are far from each other in the alphabet."""
    words = [word for word in vocabulary if re.fullmatch("[a-z]{3,}", word)][::4]
    return [" ".join(words[start :: len(words) // 8][:8]) for start in range(TEXTS_OF_EACH)]


def leading_directions(states: NDArray[np.float32]) -> NDArray[np.float16]:
    """Return the WIDTH leading eigenvectors of the second moments, (dimension, WIDTH), each with a sign of its own."""
    directions = np.linalg.eigh(states.T @ states / len(states))[1][:, ::-1][:, :WIDTH]
    # An eigenvector may point either way; its largest number decides, so that the file comes out the same again.
    largest = np.take_along_axis(directions, abs(directions).argmax(axis=0)[np.newaxis], axis=0)
    return (directions * np.sign(largest)).astype(np.float16)


def main(arguments: list[str]) -> None:
    folder = Path(sys.prefix) / "models" / BGE_SMALL.name
    if faults(BGE_SMALL, folder):
        sys.exit(f"the model is not in {folder}: run make install")
    model = BgeSmall(folder)
    texts = [*docstrings(), *lines_of_words(model.words())]
    states = np.concatenate(Workers().map(lambda text: unit(model.full_states(text)), texts))
    target = Path(arguments[0]) if arguments else PROJECTION
    np.save(target, leading_directions(states))
    sys.stdout.write(f"{target}: from {len(states):,} token states of {len(texts):,} texts\n")


if __name__ == "__main__":
    main(sys.argv[1:])
