"""The network of multilingual-e5-small as an ONNX graph over the 4-bit weights of its file.

onnxruntime multiplies such weights as they are (MatMulNBits), so nothing is unpacked. What it multiplies them with is
rounded in blocks of one row, so a text's vector depends on nothing but the text.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.vectors.embedders.e5_file import BLOCK, E5File
from search.vectors.embedders.onnx_format import model, node, tensor

EXTENSIONS = "com.microsoft"
INPUT, OUTPUT = "embeddings", "states"


def build_graph(file: E5File) -> bytes:
    """Return the model: embeddings of words and positions, (1, tokens, width), to states of the same shape."""
    tensors: list[bytes] = []
    nodes = list(_nodes(file, tensors))
    shape = [1, "tokens", file.width]
    return model(nodes, tensors, {INPUT: shape}, {OUTPUT: shape}, {"": 17, EXTENSIONS: 1})


def _nodes(file: E5File, tensors: list[bytes]) -> Iterator[bytes]:
    def floats(name: str) -> str:
        tensors.append(tensor(name, file.floats(name)))
        return name

    def multiply(source: str, name: str, width: int, output: str, with_bias: bool) -> bytes:
        packed, scales = _packed(file.blocks(f"{name}.w", width))
        tensors.extend([tensor(f"{name}.w", packed), tensor(f"{name}.scales", scales)])
        # accuracy_level 4: products of 8-bit integers.
        sizes = {"K": width, "N": len(packed), "bits": 4, "block_size": BLOCK, "accuracy_level": 4}
        inputs = [source, f"{name}.w", f"{name}.scales", *(["", "", floats(f"{name}.b")] if with_bias else [])]
        return node("MatMulNBits", inputs, output, EXTENSIONS, sizes)

    def normalize_sum(one: str, other: str, name: str, bias: str, output: str) -> bytes:
        inputs = [one, other, floats(f"{name}.w"), floats(f"{name}.b"), floats(bias)]
        return node("SkipLayerNormalization", inputs, output, EXTENSIONS, {"epsilon": file.epsilon})

    state = "state"
    yield node(
        "LayerNormalization",
        [INPUT, floats("emb.ln.w"), floats("emb.ln.b")],
        state,
        attributes={"axis": 2, "epsilon": file.epsilon},
    )
    for number in range(file.layers):
        at = f"l{number}"
        for part in "qkv":
            yield multiply(state, f"{at}.{part}", file.width, f"{at}.{part}", with_bias=True)
        yield node(
            "MultiHeadAttention",
            [f"{at}.{part}" for part in "qkv"],
            f"{at}.attended",
            EXTENSIONS,
            {"num_heads": file.heads},
        )
        yield multiply(f"{at}.attended", f"{at}.ao", file.width, f"{at}.ao", with_bias=False)
        yield normalize_sum(f"{at}.ao", state, f"{at}.aln", f"{at}.ao.b", f"{at}.middle")
        yield multiply(f"{at}.middle", f"{at}.fi", file.width, f"{at}.fi", with_bias=False)
        yield node("BiasGelu", [f"{at}.fi", floats(f"{at}.fi.b")], f"{at}.gelu", EXTENSIONS)
        yield multiply(f"{at}.gelu", f"{at}.fo", file.inner, f"{at}.fo", with_bias=False)
        state = OUTPUT if number == file.layers - 1 else f"{at}.state"
        yield normalize_sum(f"{at}.fo", f"{at}.middle", f"{at}.oln", f"{at}.fo.b", state)


def _packed(blocks: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.float32]]:
    """Return weights and scales as MatMulNBits wants them: weights 2 i and 2 i + 1 share byte i."""
    nibbles = blocks["nibbles"]
    weights = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1)
    return weights[..., 0::2] | weights[..., 1::2] << 4, blocks["scale"].astype(np.float32)


def unpacked(blocks: NDArray[Any]) -> NDArray[np.float32]:
    """Return the weights of rows of blocks as numbers, (rows, width)."""
    nibbles = blocks["nibbles"]
    weights = np.concatenate([nibbles & 15, nibbles >> 4], axis=-1).astype(np.float32) - 8
    return (weights * blocks["scale"].astype(np.float32)[..., np.newaxis]).reshape(len(blocks), -1)
