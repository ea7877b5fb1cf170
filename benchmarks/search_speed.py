"""Keyword search over collections of growing size: p50 and p95 of whole searches, and what the page adds to them.

    python -m benchmarks search [--rows 2000 20000 200000] [--keep FOLDER]

Each collection is generated, imported and searched in a process and data folder of its own. With --keep the folders
stay and are used again. Each database file is read once beforehand, as on a server that has been in use. Figures are
milliseconds on this machine; compare the columns, not the machines.
"""

import argparse
import json
import os
import random
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

START = datetime(2026, 1, 20, 9, tzinfo=UTC)
COMMON = ("error", "login", "cache", "deploy")
RUNS = 40

SCHEMA = """
CREATE TABLE sdk_sessions(id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT UNIQUE, project TEXT,
    started_at TEXT, started_at_epoch INTEGER, status TEXT DEFAULT 'completed');
CREATE TABLE observations(id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, type TEXT, title TEXT,
    narrative TEXT, facts TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, prompt_number INTEGER,
    created_at TEXT, created_at_epoch INTEGER);
"""


def write_source(path: Path, rows: int) -> None:
    """Write a claude-mem database of `rows` observations with 66 words each.

    Four words are in nine of ten rows, 5,000 others in about one of a hundred, one in every thousandth row and one in
    a single row; one project holds 90% of the rows, one 1%.
    """
    choose = random.Random(1)  # noqa: S311 - the same rows in every run
    words = [f"w{number}" for number in range(5000)] + list(COMMON) * 200
    database = sqlite3.connect(path)
    database.executescript(SCHEMA)
    for session in range(rows // 100 + 1):
        moment = START + timedelta(seconds=session * 100)
        values = (f"content-{session}", f"mem-{session}", "big", moment.isoformat(), int(moment.timestamp() * 1000))
        database.execute(
            "INSERT INTO sdk_sessions(content_session_id, memory_session_id, project, started_at, started_at_epoch)"
            " VALUES (?, ?, ?, ?, ?)",
            values,
        )
    for number in range(rows):
        project = "big" if number % 100 < 90 else "mid" if number % 100 < 99 else "tiny"
        moment = START + timedelta(seconds=number)
        narrative = " ".join(choose.choices(words, k=60))
        if number % 1000 == 500:
            narrative += " thousandth parseHttpResponse src/auth/session.py"
        if number == rows // 2:
            narrative += " needleword"
        database.execute(
            "INSERT INTO observations(memory_session_id, project, type, title, narrative, facts, concepts, files_read,"
            " files_modified, prompt_number, created_at, created_at_epoch) VALUES (?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                f"mem-{number // 100}",
                project,
                ("discovery", "bugfix", "feature")[number % 3],
                " ".join(choose.choices(words, k=6)),
                narrative,
                "[]",
                '["how-it-works"]',
                f'["src/module{number % 200}.py"]',
                "[]",
                1,
                moment.isoformat(),
                int(moment.timestamp() * 1000),
            ),
        )
    database.commit()
    database.close()


def queries(rows: int) -> dict[str, list[str]]:
    """Return the searches to time, by name; each list is walked through so that nothing is answered from a cache."""
    numbers = random.Random(2)  # noqa: S311 - the same searches in every run
    pair = [f"w{numbers.randrange(5000)} w{numbers.randrange(5000)}" for _ in range(RUNS)]
    return {
        "one row": ["needleword"],
        "identifier": ["parseHttpResponse", "src/auth/session.py"],
        "two rare words": pair,
        "rare word and common word": [f"{two.split()[0]} error" for two in pair],
        "rare word, typed half": [two[:-1] for two in pair],
        "misspelt word": ["needlewrod"],
        "four common words": [" ".join(COMMON)],
        "four common words, tiny project": [" ".join(COMMON) + " project:tiny"],
        "four common words, newest": [" ".join(COMMON) + " "],
        "no query": [""],
        "project and type, no words": ["project:tiny type:bugfix"],
        "one day": [f"error after:{START:%Y-%m-%d} before:{START:%Y-%m-%d}"],
    }


def measure(rows: int) -> dict[str, list[float]]:
    """Return the milliseconds of each search, of the page without its search, and the memory of the process in MB."""
    import django

    django.setup()
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client

    from search.orchestrator import SearchOrchestrator
    from search.request import Order, SearchRequest

    settings.ALLOWED_HOSTS = ["testserver"]
    found: dict[str, list[float]] = {}
    search = SearchOrchestrator().search
    for name, texts in queries(rows).items():
        order = Order.NEWEST if name.endswith("newest") else None
        times = []
        for run in range(RUNS):
            started = time.perf_counter()
            search(SearchRequest(query=texts[run % len(texts)], order=order))
            times.append((time.perf_counter() - started) * 1000)
        found[name] = times
    client = Client()
    user, _ = get_user_model().objects.get_or_create(username="benchmark")
    client.force_login(user)
    overhead = []
    for _ in range(RUNS):
        started = time.perf_counter()
        client.get("/", {"q": "parseHttpResponse"})
        whole = time.perf_counter() - started
        started = time.perf_counter()
        search(SearchRequest(query="parseHttpResponse"))
        overhead.append((whole - (time.perf_counter() - started)) * 1000)
    found["page without its search"] = overhead
    found["memory, MB"] = [resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]
    return found


def prepare(folder: Path, rows: int, write: Callable[[Path, int], None] = write_source) -> dict[str, str]:
    """Make and import the collection in a data folder when it is not there yet; return the environment to use it in."""
    folder.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "MEMWEB_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "memweb.settings"}
    memweb = [sys.executable, "manage.py"]
    source = folder / "source.db"
    commands = [["migrate"], ["collectstatic", "--no-input"]]
    if not (folder / "memweb.sqlite3").exists():
        write(source, rows)
        commands += [["import", str(source)], ["index", "optimize"]]
    for command in commands:
        subprocess.run([*memweb, *command], env=environment, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    source.unlink(missing_ok=True)
    read_once(folder / "memweb.sqlite3")
    return environment


def read_once(path: Path) -> None:
    """Bring a file into the operating system's cache, where a server that was asked before would find it."""
    with path.open("rb") as file:
        while file.read(1 << 20):
            pass


def run_in_folder(folder: Path, rows: int) -> dict[str, list[float]]:
    """Import and measure words alone, in a process of its own, so that its memory is its own too."""
    environment = {**prepare(folder, rows), "MEMWEB_EMBEDDER": "off"}
    code = f"import json; from benchmarks.search_speed import measure; print(json.dumps(measure({rows})))"
    done = subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True)  # noqa: S603
    return json.loads(done.stdout.splitlines()[-1])


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks search", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 20_000])
    parser.add_argument("--keep", type=Path, help="folder for the collections, used again next time")
    options = parser.parse_args(arguments)
    results = {}
    with tempfile.TemporaryDirectory(prefix="memweb-bench-") as temporary:
        for rows in options.rows:
            results[rows] = run_in_folder((options.keep or Path(temporary)) / str(rows), rows)
    columns = "".join(f" {rows:>9,} p50 | p95 |" for rows in options.rows)
    sys.stdout.write(f"| search, ms |{columns}\n|---|{'---|---|' * len(options.rows)}\n")
    for name in results[options.rows[0]]:
        cells = "".join(
            f" {_p(results[rows][name], 50):.1f} | {_p(results[rows][name], 95):.1f} |" for rows in options.rows
        )
        sys.stdout.write(f"| {name} |{cells}\n")


def _p(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1] if len(values) > 1 else values[0]
