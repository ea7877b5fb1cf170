"""Texts embedded for each second, beside onnxruntime alone on the same tokens. The aim is at least 90% of that speed.

    python -m benchmarks embedding [--texts 200] [--repeat 3] [--model FOLDER]

onnxruntime alone gets tokens that are ready and gives away what it computes; memweb counts from text to vector and
token states. All sides take turns of a few texts, so that a busy machine slows all of them. A ratio over 1 says that
memweb is faster, or takes less of the processor, than that side.
"""

import argparse
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

TURN = 20  # texts


def generated_texts(words: Sequence[str], count: int) -> list[str]:
    """Return texts of 5 to 95 words, 50 on average: some 300 characters."""
    generator = random.Random(1)  # noqa: S311
    return [" ".join(generator.choices(words, k=generator.randint(5, 95))) for _ in range(count)]


def ways_of_onnxruntime(path: Path, cores: int) -> dict[str, Callable[[list[list[int]]], object]]:
    """Return ways to compute the states of lists of tokens."""
    import onnxruntime

    def session(threads: int) -> Any:
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.inter_op_num_threads = 1
        return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def feed(batch: list[list[int]]) -> dict[str, Any]:
        tokens = np.zeros((len(batch), max(map(len, batch))), np.int64)
        mask = np.zeros_like(tokens)
        for row, one in enumerate(batch):
            tokens[row, : len(one)], mask[row, : len(one)] = one, 1
        return {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}

    def by_length(ids: list[list[int]]) -> list[list[list[int]]]:
        ids = sorted(ids, key=len)
        return [ids[start : start + 8] for start in range(0, len(ids), 8)]

    narrow, wide, pool = session(1), session(cores), ThreadPoolExecutor(cores)
    return {
        "onnxruntime, one text a pass, one thread a pass": lambda ids: list(
            pool.map(lambda one: narrow.run(None, feed([one])), ids)
        ),
        f"onnxruntime, one text a pass, {cores} threads a pass": lambda ids: [
            wide.run(None, feed([one])) for one in ids
        ],
        f"onnxruntime, 8 texts a pass by length, {cores} threads a pass": lambda ids: [
            wide.run(None, feed(batch)) for batch in by_length(ids)
        ],
        "onnxruntime, one text a pass, one thread in all": lambda ids: [narrow.run(None, feed([one])) for one in ids],
    }


@dataclass(slots=True)
class Spent:
    """Seconds of all turns of one side."""

    wall: float = 0
    processor: float = 0

    def add(self, run: Callable[[], object]) -> None:
        wall, processor = time.perf_counter(), time.process_time()
        run()
        self.wall += time.perf_counter() - wall
        self.processor += time.process_time() - processor


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--model", type=Path, default=Path(sys.prefix) / "models" / "bge-small", help="its folder")
    options = parser.parse_args(arguments)

    from search.vectors.embedders.bge_small import BgeSmall
    from search.vectors.embedders.workers import usable_cores
    from search.vectors.model_files import BGE_SMALL, faults

    out = sys.stdout.write
    if faults(BGE_SMALL, options.model):
        out(f"the model is not in {options.model}; `make install` fetches it, --model names another folder\n")
        return
    embedder, cores = BgeSmall(options.model), usable_cores()
    words = [word for word in embedder.words() if word.isascii() and word.isalpha() and len(word) > 2]
    texts = generated_texts(words, options.texts)
    ids = [embedder.token_ids(text) for text in texts]
    ways = ways_of_onnxruntime(options.model / "model_quantized.onnx", cores)
    spent = {name: Spent() for name in ("memweb", *ways)}
    for _ in range(options.repeat):
        for start in range(0, len(texts), TURN):
            turn = slice(start, start + TURN)
            spent["memweb"].add(lambda turn=turn: embedder.embed_documents(texts[turn]))
            for name, way in ways.items():
                spent[name].add(lambda way=way, turn=turn: way(ids[turn]))
    out(f"{len(texts)} texts of {statistics.mean(map(len, ids)):.0f} tokens, {cores} cores\n")
    out(f"{'':60}{'texts/s':>9}{'ratio':>8}{'cpu ratio':>12}\n")
    ours = spent["memweb"]
    for name, side in spent.items():
        out(
            f"{name:60}{len(texts) * options.repeat / side.wall:>9.1f}{side.wall / ours.wall:>8.2f}"
            f"{side.processor / ours.processor:>12.2f}\n"
        )
    queries = [" ".join(text.split()[:8]) for text in texts[:50]]
    taken = []
    for query in queries:
        start = time.perf_counter()
        embedder.embed_query(query)
        taken.append((time.perf_counter() - start) * 1000)
    out(f"a new query of 8 words: {statistics.median(taken):.1f} ms, p95 {np.percentile(taken, 95):.1f} ms\n")


if __name__ == "__main__":
    main(sys.argv[1:])
