"""`search_memories` of memweb beside that of MemPalace, on the same texts: milliseconds in the median and at p95.

    python -m benchmarks mempalace --python INTERPRETER [--rows 1000] [--repeat 30]

INTERPRETER is a Python in whose environment the package `mempalace` is installed; it brings its own chromadb. Its model
would have to be downloaded, so memweb's stands in for it there (nearly the same size): what is compared is all around
the model. Both hold the same passages in one project and answer the same questions, each in a process of its own.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
WORDS = 60
VOCABULARY = """
    server client login session token cookie cache database index query migration worker queue retry timeout
    lock thread deploy release branch commit merge review test fixture browser page form button layout theme
    colour font image upload download file folder path archive backup restore log metric alert dashboard
    invoice payment order customer address email message channel notification schedule calendar time zone
    currency price discount report export import
"""
RESULTS = 5
STRATEGIES = ("vector", "union")
# What chromadb looks for before it downloads its model; only two of the files are read.
CHROMA_FILES = ("config.json", "special_tokens_map.json", "tokenizer_config.json", "vocab.txt")

Search = Callable[..., dict[str, Any]]


def passages(rows: int) -> list[str]:
    """Return texts of 60 words of a small vocabulary."""
    choose = random.Random(1)  # noqa: S311 - the same texts in every run
    return [" ".join(choose.choices(VOCABULARY.split(), k=WORDS)) for _ in range(rows)]


def questions(number: int) -> list[str]:
    choose = random.Random(2)  # noqa: S311
    pairs = [choose.sample(VOCABULARY.split(), 2) for _ in range(number)]
    return [f"why does the {one} fail when the {other} is slow" for one, other in pairs]


def time_memweb(rows: int, repeat: int) -> dict[str, list[float]]:
    """Fill this process's data folder and return the milliseconds of each search, by candidate strategy."""
    import django

    django.setup()
    from django.core.management import call_command

    from memweb.memories.models import Drawer, Project
    from search.evaluation.embedding import embed_everything
    from search.palace import search_memories

    call_command("migrate", verbosity=0)
    project = Project.objects.create(name="benchmark")
    Drawer.objects.bulk_create(
        Drawer(project=project, text=text, chunk_index=place, time_quality="unknown")
        for place, text in enumerate(passages(rows))
    )
    embed_everything(lambda done, total: None)
    return _timed(search_memories, repeat)


def time_mempalace(rows: int, repeat: int) -> dict[str, list[float]]:
    """Fill a palace below the home folder and return the milliseconds of each search, by candidate strategy."""
    from mempalace.palace import get_collection  # type: ignore[import-not-found]
    from mempalace.searcher import search_memories  # type: ignore[import-not-found]

    palace = str(Path.home() / "palace")
    collection = get_collection(palace)
    texts = passages(rows)
    for start in range(0, rows, 100):
        part = texts[start : start + 100]
        collection.upsert(
            ids=[f"drawer_{start + place}" for place in range(len(part))],
            documents=part,
            metadatas=[
                {"wing": "benchmark", "room": "general", "source_file": f"{start + place}.md", "chunk_index": 0}
                for place in range(len(part))
            ],
        )

    def search(query: str, **options: Any) -> dict[str, Any]:
        return search_memories(query, palace, **options)

    return _timed(search, repeat)


def _timed(search: Search, repeat: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for strategy in STRATEGIES:
        found[strategy] = []
        search("warm up", n_results=RESULTS, candidate_strategy=strategy)
        for question in questions(repeat):
            started = time.perf_counter()
            answer = search(question, n_results=RESULTS, candidate_strategy=strategy)
            found[strategy].append((time.perf_counter() - started) * 1000)
            if len(answer.get("results", ())) != RESULTS:
                sys.exit(f"{strategy}, {question}: {len(answer.get('results', ()))} results, {answer.get('error')}")
    return found


def lend_model(home: Path, model: Path) -> None:
    """Put memweb's model where chromadb looks for its own."""
    folder = home / ".cache" / "chroma" / "onnx_models" / "all-MiniLM-L6-v2" / "onnx"
    folder.mkdir(parents=True)
    shutil.copy(model / "model_quantized.onnx", folder / "model.onnx")
    shutil.copy(model / "tokenizer.json", folder / "tokenizer.json")
    for name in CHROMA_FILES:
        (folder / name).write_text("{}", encoding="utf-8")


def run(interpreter: str, function: str, rows: int, repeat: int, environment: dict[str, str]) -> dict[str, list[float]]:
    code = f"import json; from benchmarks.mempalace_speed import *; print(json.dumps({function}({rows}, {repeat})))"
    done = subprocess.run(  # noqa: S603
        [interpreter, "-c", code], env={**os.environ, **environment}, cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    if done.returncode:
        sys.exit(f"{function} failed")
    return json.loads(done.stdout.splitlines()[-1])


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks mempalace", description=__doc__)
    parser.add_argument("--python", required=True, help="a Python that has the package mempalace")
    parser.add_argument("--rows", type=int, default=1_000)
    parser.add_argument("--repeat", type=int, default=30)
    parser.add_argument("--model", type=Path, default=Path(sys.prefix) / "models" / "bge-small", help="its folder")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="memweb-bench-") as folder:
        home = Path(folder) / "home"
        lend_model(home, options.model)
        ours = {"MEMWEB_DATA_DIR": str(Path(folder) / "data"), "DJANGO_SETTINGS_MODULE": "memweb.settings"}
        memweb = run(sys.executable, "time_memweb", options.rows, options.repeat, ours)
        palace = run(options.python, "time_mempalace", options.rows, options.repeat, {"HOME": str(home)})
    sys.stdout.write("| search_memories, ms | memweb p50 | p95 | MemPalace p50 | p95 | times faster |\n")
    sys.stdout.write("|---|---|---|---|---|---|\n")
    for strategy in STRATEGIES:
        (fast, fast95), (slow, slow95) = (
            (statistics.median(times), statistics.quantiles(times, n=100, method="inclusive")[94])
            for times in (memweb[strategy], palace[strategy])
        )
        sys.stdout.write(
            f"| {strategy}, {options.rows:,} passages | {fast:.1f} | {fast95:.1f} | {slow:.1f} | {slow95:.1f}"
            f" | {slow / fast:.1f} |\n"
        )
