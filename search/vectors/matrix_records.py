"""What a row of stored vectors becomes in the matrix: a record, and a float32 vector of length 1."""

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from search.vectors.comparison import HIDDEN, kind_code
from search.vectors.embedding import Vectors

Records = NDArray[np.void]

# kind: a code of comparison.py, HIDDEN for a row without a vector, FOREIGN for a row that no indexer wrote.
# sum: CRC-32 of the rest of the record and of its vector, as both are in the files.
RECORD = np.dtype(
    [
        ("id", "<i8"),
        ("memory", "<i8"),
        ("hash", "u1", 16),
        ("chunk", "<u2"),
        ("kind", "u1"),
        ("unused", "u1"),
        ("sum", "<u4"),
    ]
)
FOREIGN = 1
COLUMNS = "id, kind, memory_id, chunk, text_hash, vector"
# A vector of length 1, rounded to float16, has a length this near to it.
_TOLERANCE = 0.05

# A value of each of COLUMNS, whatever type SQLite found in it.
Row = tuple[Any, ...]


def to_records(rows: Sequence[Row], dimension: int) -> tuple[Records, Vectors]:
    """Return the records of rows and their vectors (n, dimension), zeros for those without a sound one."""
    records = np.zeros(len(rows), RECORD)
    vectors = np.zeros((len(rows), dimension), np.float32)
    records["id"] = [row[0] for row in rows]
    records["hash"] = np.frombuffer(b"".join(padded(row[4]) for row in rows), np.uint8).reshape(-1, 16)
    kinds = np.array([_kind(row, dimension * 2) for row in rows], np.uint8)
    known = np.flatnonzero(kinds != FOREIGN).tolist()
    records["memory"][known] = [rows[place][2] for place in known]
    records["chunk"][known] = [rows[place][3] for place in known]
    filled = np.flatnonzero(kinds > FOREIGN)
    if len(filled):
        numbers = np.frombuffer(b"".join(rows[place][5] for place in filled.tolist()), "<f2").astype(np.float32)
        numbers = numbers.reshape(len(filled), dimension)
        lengths = np.linalg.norm(numbers, axis=1)
        sound = np.abs(lengths - 1) < _TOLERANCE  # False for nan
        kinds[filled[~sound]] = FOREIGN
        vectors[filled[sound]] = numbers[sound] / lengths[sound, np.newaxis]
    records["kind"] = kinds
    return records, vectors


def checksums(records: Records, vectors: Vectors) -> NDArray[np.uint32]:
    """Return what `sum` of each record must be."""
    rest = records.copy()
    rest["sum"] = 0
    heads = rest.view(np.uint8).reshape(len(rest), RECORD.itemsize)
    rows = np.ascontiguousarray(vectors, "<f4").view(np.uint8)
    return np.array([crc32(row.data, crc32(head.data)) for head, row in zip(heads, rows, strict=True)], np.uint32)


def padded(text_hash: Any) -> bytes:
    """Return a text hash as records hold it."""
    return bytes(text_hash)[:16].ljust(16, b"\0") if isinstance(text_hash, bytes) else bytes(16)


def _kind(row: Row, size: int) -> int:
    """Return the code of a row's kind; HIDDEN for one that has nothing to embed; FOREIGN for one that is not ours."""
    _, letter, memory, chunk, text_hash, vector = row
    is_ours = (
        isinstance(letter, str)
        and isinstance(memory, int)
        and memory > 0
        and isinstance(chunk, int)
        and 0 <= chunk < 2**16
        and isinstance(text_hash, bytes)
        and isinstance(vector, bytes)
        and len(vector) in (0, size)
    )
    code = kind_code(letter) if is_ours else HIDDEN
    if code == HIDDEN:
        return FOREIGN
    return code if vector else HIDDEN
