"""Writes the few parts of the ONNX format that a graph of our own needs.

The format is protocol buffers, with fields numbered as in onnx.proto. The package `onnx` would do the same, with 20 MB
to install for the one optional model that needs it.
"""

import struct
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

IR_VERSION = 8
FLOAT, UINT8 = 1, 2
Attribute = int | float


def node(
    operator: str,
    inputs: Sequence[str],
    output: str,
    domain: str = "",
    attributes: Mapping[str, Attribute] | None = None,
) -> bytes:
    """Return a NodeProto with one output; an input named "" is left out."""
    fields = [_text(1, name) for name in inputs]
    fields += [_text(2, output), _text(3, output), _text(4, operator), _text(7, domain)]
    fields += [_message(5, _attribute(name, value)) for name, value in (attributes or {}).items()]
    return b"".join(fields)


def tensor(name: str, values: NDArray[np.float32] | NDArray[np.uint8]) -> bytes:
    """Return a TensorProto of floats or bytes."""
    kind = UINT8 if values.dtype == np.uint8 else FLOAT
    dimensions = b"".join(_integer(1, size) for size in values.shape)
    content = np.ascontiguousarray(values, "u1" if kind == UINT8 else "<f4").tobytes()
    return dimensions + _integer(2, kind) + _text(8, name) + _message(9, content)


def model(
    nodes: Iterable[bytes],
    tensors: Iterable[bytes],
    given: Mapping[str, Sequence[int | str]],
    wanted: Mapping[str, Sequence[int | str]],
    operators: Mapping[str, int],
) -> bytes:
    """Return a ModelProto. `given` and `wanted` are inputs and outputs with their shapes, all floats; `operators` are
    the versions of the operator sets."""
    graph = b"".join(
        [
            *(_message(1, one) for one in nodes),
            _text(2, "graph"),
            *(_message(5, one) for one in tensors),
            *(_message(11, _value(name, shape)) for name, shape in given.items()),
            *(_message(12, _value(name, shape)) for name, shape in wanted.items()),
        ]
    )
    sets = b"".join(_message(8, _text(1, domain) + _integer(2, version)) for domain, version in operators.items())
    return _integer(1, IR_VERSION) + _message(7, graph) + sets


def _attribute(name: str, value: Attribute) -> bytes:
    if isinstance(value, int):
        return _text(1, name) + _integer(3, value) + _integer(20, 2)
    return _text(1, name) + _key(2, 5) + struct.pack("<f", value) + _integer(20, 1)


def _value(name: str, shape: Sequence[int | str]) -> bytes:
    sizes = b"".join(_message(1, _integer(1, size) if isinstance(size, int) else _text(2, size)) for size in shape)
    return _text(1, name) + _message(2, _message(1, _integer(1, FLOAT) + _message(2, sizes)))


def _key(field: int, wire_type: int) -> bytes:
    return _varint(field << 3 | wire_type)


def _integer(field: int, value: int) -> bytes:
    return _key(field, 0) + _varint(value)


def _text(field: int, text: str) -> bytes:
    return _message(field, text.encode())


def _message(field: int, content: bytes) -> bytes:
    return _key(field, 2) + _varint(len(content)) + content


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
