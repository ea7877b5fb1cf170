"""Search by words and meaning over collections of growing size: its parts, whole searches, and pages; p50 and p95.

    python -m benchmarks meaning [--rows 2000 20000 100000] [--keep FOLDER] [--chroma] [--real]

The rows are those of `benchmarks search`; vectors and token states are random unless --real has them made by the model,
which takes an hour for 100,000 rows; questions are always embedded by the model. A few questions warm each measurement
up. With --chroma a vector process answers questions without a filter, as beside `memweb up`; else all vectors are
compared. Figures are milliseconds on this machine.
"""

import argparse
import json
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.search_speed import START, prepare

RUNS = 40
WARM_UP = 5
TOKENS = 40
SCOPES = {
    "project leaves 90%": " project:big",
    "type leaves 33%": " type:bugfix",
    "project leaves 9%": " project:mid",
    "project leaves 1%": " project:tiny",
    "file leaves 0.5%": " file:src/module7.py",
}
SHARES = (50, 5, 0.1)


def scopes(rows: int) -> dict[str, str]:
    """Return what is added to a question to search all rows, the newest shares of them, and those with a label."""
    times = {
        f"time leaves {share}%": f" after:{START + timedelta(seconds=rows * (1 - share / 100)):%Y-%m-%dT%H:%M:%SZ}"
        for share in SHARES
    }
    return {"no filter": "", **times, **SCOPES}


def write_vectors() -> None:
    """Give every observation a random vector and random token states, as the indexer would have stored them."""
    import django

    django.setup()
    import numpy as np
    from django.db import connection, transaction

    from search.vectors.embedding import embedder_name
    from search.vectors.texts import stored_name

    choose = np.random.default_rng(1)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM search_embedding")
        if cursor.fetchone()[0]:
            return
        cursor.execute(
            "INSERT INTO search_embeddingmodel(name, dimension, state_width, is_searched, removals, created_at)"
            " VALUES (%s, 384, 64, 1, 0, datetime('now'))",
            [stored_name(embedder_name() or "")],
        )
        model = cursor.lastrowid
        cursor.execute("SELECT id FROM memories_observation ORDER BY id")
        ids = [id for (id,) in cursor.fetchall()]
        for start in range(0, len(ids), 5_000):
            part = ids[start : start + 5_000]
            vectors = choose.standard_normal((len(part), 384)).astype(np.float32)
            vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype("<f2")
            states = choose.integers(-60, 60, (len(part), TOKENS * 64), dtype=np.int8)
            cursor.executemany(
                "INSERT INTO search_embedding(model_id, kind, memory_id, chunk, text_hash, vector)"
                " VALUES (%s, 'o', %s, 0, x'00', %s)",
                [(model, id, vector.tobytes()) for id, vector in zip(part, vectors, strict=True)],
            )
            cursor.execute("SELECT max(id) FROM search_embedding")
            first = cursor.fetchone()[0] - len(part) + 1
            cursor.executemany(
                "INSERT INTO search_tokenstates(embedding_id, states) VALUES (%s, %s)",
                [(first + place, row.tobytes()) for place, row in enumerate(states)],
            )
        cursor.execute("DELETE FROM search_embeddingtask")


def embed() -> None:
    """Have the model embed every observation that is not embedded yet, as beside `memweb up`."""
    import django

    django.setup()
    from search.vectors.embedding import current_embedder
    from search.vectors.indexer import Indexer

    Indexer(current_embedder()).run()


def measure(rows: int, use_chroma: bool) -> dict[str, list[float]]:
    """Return the milliseconds of each part and of whole searches, and the memory of the process in MB."""
    import django

    django.setup()
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client

    from memweb.operations.vector_process import vector_process
    from search.orchestrator import SearchOrchestrator
    from search.request import SearchRequest
    from search.vectors.embedding import current_embedder
    from search.vectors.index_state import read_state
    from search.vectors.nearest import nearest

    settings.ALLOWED_HOSTS = ["testserver"]
    choose = random.Random(3)  # noqa: S311 - the same questions in every run
    questions = [f"why does w{choose.randrange(5000)} fail when w{choose.randrange(5000)} is slow" for _ in range(RUNS)]
    found: dict[str, list[float]] = {}
    with ExitStack() as stack:
        if use_chroma:
            earlier = read_state(settings.DATA_DIR)
            stack.enter_context(vector_process())
            wait_for_chroma(earlier.process_id if earlier else None)
        embedder = current_embedder()
        embedder.embed_query("warm up")
        found["embed a question"] = timed(embedder.embed_query, questions)
        vectors = [embedder.embed_query(question).vectors[0] for question in questions]
        nearest(vectors[0], 100)
        found["100 nearest of all"] = timed(lambda vector: nearest(vector, 100), vectors)
        search = SearchOrchestrator().search
        for name, scope in scopes(rows).items():
            texts = [question.replace("slow", f"slow{number}") + scope for number, question in enumerate(questions)]
            for text in texts[:WARM_UP]:
                search(SearchRequest(query=text.replace("slow", "warm")))
            found[name] = timed(lambda text: search(SearchRequest(query=text)), texts)
        client = Client()
        user, _ = get_user_model().objects.get_or_create(username="benchmark")
        client.force_login(user)
        client.get("/", {"q": "warm up"})
        found["whole page, no filter"] = timed(lambda text: client.get("/", {"q": text}), questions)
    found["memory, MB"] = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]
    return found


def wait_for_chroma(earlier_process: int | None) -> None:
    """Return when the vector process, which is not the one of an earlier run, holds every vector."""
    from django.conf import settings

    from search.vectors.index_state import Phase, read_state

    while True:
        state = read_state(settings.DATA_DIR)
        is_ready = state is not None and state.phase is Phase.READY and state.missing == state.ghosts == 0
        if state and is_ready and state.process_id != earlier_process:
            return
        time.sleep(0.5)


def timed(ask: Callable[[Any], object], values: Sequence[Any]) -> list[float]:
    """Return the milliseconds that asking takes for each value."""
    times = []
    for value in values:
        started = time.perf_counter()
        ask(value)
        times.append((time.perf_counter() - started) * 1000)
    return times


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks meaning", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 20_000])
    parser.add_argument("--keep", type=Path, help="folder for the collections, used again next time")
    parser.add_argument("--chroma", action="store_true", help="let Chroma answer questions without a filter")
    parser.add_argument("--real", action="store_true", help="let the model embed the rows")
    options = parser.parse_args(arguments)
    results = {}
    with tempfile.TemporaryDirectory(prefix="memweb-bench-") as temporary:
        for rows in options.rows:
            folder = (options.keep or Path(temporary)) / f"{'embedded' if options.real else 'meaning'}-{rows}"
            environment = prepare(folder, rows)
            call("embed()" if options.real else "write_vectors()", environment)
            results[rows] = json.loads(call(f"print(json.dumps(measure({rows}, {options.chroma})))", environment))
    columns = "".join(f" {rows:>9,} p50 | p95 |" for rows in options.rows)
    sys.stdout.write(f"| search by meaning, ms |{columns}\n|---|{'---|---|' * len(options.rows)}\n")
    for name in results[options.rows[0]]:
        cells = "".join(
            f" {_p(results[rows][name], 50):.1f} | {_p(results[rows][name], 95):.1f} |" for rows in options.rows
        )
        sys.stdout.write(f"| {name} |{cells}\n")


def call(code: str, environment: dict[str, str]) -> str:
    """Run code of this module in a process of its own and return its last line."""
    program = f"import json; from benchmarks.meaning_speed import embed, measure, write_vectors; {code}"
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", program], env=environment, check=True, capture_output=True, text=True
    )
    return (done.stdout.splitlines() or [""])[-1]


def _p(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1] if len(values) > 1 else values[0]
