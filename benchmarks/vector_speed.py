"""The stored vectors of collections of growing size: nearest memories, with and without a filter; what reading costs.

    python -m benchmarks vectors [--rows 2000 20000 100000] [--dimension 384] [--repeat 30]

Vectors are random, one for each memory. Figures are milliseconds in the median and at p95, each with a ratio to numpy
alone, which multiplies the same matrix in memory with the same vector and does nothing else; both take turns, so that a
busy machine slows both.
"""

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PARTS = (None, 0.5, 0.05, 0.001)
WANTED = 200
EDITED = 100


def write_vectors(rows: int, dimension: int) -> int:
    """Store random vectors as memories of one kind would have them; return the id of their model."""
    from django.db import connection, transaction

    from search.models import EmbeddingModel

    model = EmbeddingModel.objects.create(name="random", dimension=dimension, is_searched=True)
    random = np.random.default_rng(1)
    with transaction.atomic(), connection.cursor() as cursor:
        for start in range(0, rows, 5000):
            count = min(5000, rows - start)
            vectors = random.standard_normal((count, dimension), np.float32)
            vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("<f2")
            cursor.executemany(
                "INSERT INTO search_embedding (model_id, kind, memory_id, chunk, text_hash, vector)"
                " VALUES (%s, 'o', %s, 0, zeroblob(16), %s)",
                ((model.pk, start + place + 1, vector.tobytes()) for place, vector in enumerate(vectors)),
            )
    return model.pk


def add_and_remove(model: int) -> None:
    """Change EDITED memories, as an indexer would: new rows for old ones."""
    from django.db import connection, transaction

    from search.vectors.stored import remove_rows

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT id FROM search_embedding ORDER BY id LIMIT %s", [EDITED])
        ids = [id for (id,) in cursor.fetchall()]
        cursor.execute(
            "INSERT INTO search_embedding (model_id, kind, memory_id, chunk, text_hash, vector)"
            " SELECT model_id, kind, memory_id, 1, text_hash, vector FROM search_embedding ORDER BY id LIMIT %s",
            [EDITED],
        )
        remove_rows(cursor, ids)


def timed(run: Callable[[], Any]) -> float:
    """Return the milliseconds that a call takes."""
    started = time.perf_counter()
    run()
    return (time.perf_counter() - started) * 1000


def figures(times: list[float]) -> str:
    return f"{statistics.median(times):>10.2f}{sorted(times)[int(len(times) * 0.95)]:>10.2f}"


def measure(rows: int, dimension: int, repeat: int) -> Iterator[str]:
    """Yield a line for each thing that is measured."""
    from django.db import connection

    from memweb.memories.kinds import Kind
    from search.vectors.matrix import VectorMatrix, read_state
    from search.vectors.nearest import nearest, similarities

    model = write_vectors(rows, dimension)

    def opened() -> VectorMatrix:
        state = read_state()
        if state is None:
            raise SystemExit("no model is searched")
        matrix = VectorMatrix(state)
        matrix.refresh(state)
        return matrix

    first = timed(opened)
    yield f"{'read all rows into the file':34}{first:>10.2f}{'':10}   {rows / first * 1000:,.0f} rows/s"
    yield f"{'open the file':34}{figures([timed(opened) for _ in range(5)])}"
    random = np.random.default_rng(2)
    plain = random.standard_normal((rows, dimension), np.float32)
    plain /= np.linalg.norm(plain, axis=1, keepdims=True)
    nearest(plain[0], 1)
    for part in PARTS:
        count = rows if part is None else max(1, int(rows * part))
        times, numpy_times = [], []
        for _ in range(repeat):
            vector = plain[random.integers(rows)]
            chosen = np.sort(random.choice(rows, count, replace=False)) + 1
            allowed = None if part is None else {Kind.OBSERVATION: chosen}
            times.append(timed(lambda v=vector, a=allowed: nearest(v, WANTED, a)))  # type: ignore[misc]
            numpy_times.append(timed(lambda v=vector: plain @ v))  # type: ignore[misc]
        name = f"nearest {WANTED} of all" if part is None else f"nearest {WANTED} of {part:.1%}"
        ratio = statistics.median(times) / statistics.median(numpy_times)
        yield f"{name:34}{figures(times)}{ratio:>10.2f}"
    keys = [(Kind.OBSERVATION, int(id)) for id in random.choice(rows, min(rows, 400), replace=False)]
    times = [timed(lambda: similarities(plain[0], keys)) for _ in range(repeat)]
    yield f"{f'similarities of {len(keys)}':34}{figures(times)}"
    times = []
    for _ in range(5):
        add_and_remove(model)
        times.append(timed(lambda: nearest(plain[0], WANTED)))
    yield f"{f'nearest after {EDITED} edits':34}{figures(times)}"
    connection.close()


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 20_000, 100_000])
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--repeat", type=int, default=30)
    options = parser.parse_args(arguments)
    out = sys.stdout.write
    with tempfile.TemporaryDirectory(prefix="memweb-bench-") as name:
        os.environ.update(MEMWEB_DATA_DIR=name, MEMWEB_EMBEDDER="off", DJANGO_SETTINGS_MODULE="memweb.settings")
        sys.path.insert(0, str(ROOT))
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connection

        for rows in options.rows:
            connection.close()
            for path in Path(connection.settings_dict["NAME"]).parent.glob("memweb.sqlite3*"):
                path.unlink()
            call_command("migrate", verbosity=0)
            out(f"{f'{rows:,} vectors':34}{'median':>10}{'p95':>10}{'to numpy':>10}\n")
            for line in measure(rows, options.dimension, options.repeat):
                out(line + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
