"""The search page with its facets and histogram: p50 and p95 of whole pages over a collection of many sorts.

    python -m benchmarks facets [--rows 200000] [--keep FOLDER]

As in `search`, the collection is generated, imported and asked in a process and data folder of its own, and its file is
read once beforehand. Figures are milliseconds from request to answer, without the network; where other programs are at
work, what the processor spent tells more than the clock.
"""

import argparse
import json
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.search_speed import prepare

START = datetime(2025, 3, 1, 8, tzinfo=UTC)
DAYS = 600
RUNS = 20
TYPES = ("discovery", "bugfix", "feature", "change", "decision", "refactor", "security_alert", "chore")
SCHEMA = """
CREATE TABLE sdk_sessions(id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT UNIQUE, project TEXT,
    platform_source TEXT, started_at TEXT, started_at_epoch INTEGER, status TEXT DEFAULT 'completed');
CREATE TABLE observations(id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, type TEXT, title TEXT,
    narrative TEXT, facts TEXT, concepts TEXT, files_read TEXT, files_modified TEXT, prompt_number INTEGER,
    created_at TEXT, created_at_epoch INTEGER);
CREATE TABLE session_summaries(id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT,
    investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT,
    prompt_number INTEGER, created_at TEXT, created_at_epoch INTEGER);
CREATE TABLE user_prompts(id INTEGER PRIMARY KEY, content_session_id TEXT, prompt_number INTEGER, prompt_text TEXT,
    created_at TEXT, created_at_epoch INTEGER);
"""


def write_source(path: Path, rows: int) -> None:
    """Write a claude-mem database of `rows` memories: seven of ten observations, one summary, two prompts.

    40 projects and 60 concepts of very different size, 4,000 files in 120 directories, 20 months.
    """
    choose = random.Random(3)  # noqa: S311 - the same rows in every run
    words = [f"w{number}" for number in range(5000)] + ["error", "login", "cache", "deploy"] * 60
    paths = [f"{('src', 'tests', 'docs', 'deploy')[n % 4]}/area{n % 30}/part{n % 7}/file{n}.py" for n in range(4000)]
    sizes = [1 / (n + 1) for n in range(60)]
    database = sqlite3.connect(path)
    database.executescript(SCHEMA)
    for number in range(rows):
        session, place = divmod(number, 50)
        moment = START + timedelta(days=DAYS * number / rows)
        times = (moment.isoformat(), int(moment.timestamp() * 1000))
        if not place:
            project = choose.choices([f"project-{n}" for n in range(40)], sizes[:40])[0]
            platform = ("claude", "codex", "gemini-cli")[choose.choice((0, 0, 0, 1, 2))]
            values = (f"content-{session}", f"mem-{session}", project, platform, *times)
            database.execute(
                "INSERT INTO sdk_sessions(content_session_id, memory_session_id, project, platform_source, started_at,"
                " started_at_epoch) VALUES (?, ?, ?, ?, ?, ?)",
                values,
            )
        text = " ".join(choose.choices(words, k=60))
        if number % 1000 == 500:
            text += " thousandth"
        files = json.dumps(choose.choices(paths, k=2))
        match number % 10:
            case 0 | 1:
                database.execute(
                    "INSERT INTO user_prompts(content_session_id, prompt_number, prompt_text, created_at,"
                    " created_at_epoch) VALUES (?, ?, ?, ?, ?)",
                    (f"content-{session}", place, text, *times),
                )
            case 2:
                database.execute(
                    "INSERT INTO session_summaries(memory_session_id, project, request, learned, files_read,"
                    " created_at, created_at_epoch) VALUES (?, ?, ?, ?, ?, ?, ?)",
                    (f"mem-{session}", project, text[:60], text, files, *times),
                )
            case _:
                concepts = sorted(set(choose.choices([f"concept-{n}" for n in range(60)], sizes, k=2)))
                database.execute(
                    "INSERT INTO observations(memory_session_id, project, type, title, narrative, facts, concepts,"
                    " files_read, created_at, created_at_epoch) VALUES (?, ?, ?, ?, ?, '[]', ?, ?, ?, ?)",
                    (
                        f"mem-{session}",
                        project,
                        choose.choices(TYPES, [8, 6, 4, 4, 2, 2, 1, 1])[0],
                        text[:50],
                        text,
                        json.dumps(concepts),
                        files,
                        *times,
                    ),
                )
    database.commit()
    database.close()


PAGES = {
    "no query": [""],
    "one kind, no words": ["kind:observation"],
    "one project, no words": ["project:project-3"],
    "one month": ["after:2025-09 before:2025-09"],
    "a rare word": [f"w{n}" for n in range(100, 100 + RUNS)],
    "two rare words": [f"w{n} w{n + 7}" for n in range(100, 100 + RUNS)],
    "every thousandth": ["thousandth"],
    "a common word": ["error", "login", "cache", "deploy"],
    "a common word and a type": ["error type:bugfix", "login type:feature"],
    "a common word, three filters": ["error type:bugfix,feature project:project-1,project-2 concept:concept-1"],
    "a common word, one month": ["error after:2025-09 before:2025-09"],
    "a file": ["file:src/area0/part0/file0.py"],
    "a directory": ["file:src/area0/"],
    "without a type": ["-type:bugfix"],
}


def measure() -> dict[str, list[tuple[float, float]]]:
    """Return the milliseconds of each page, by the clock and of the processor."""
    import django

    django.setup()
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client

    settings.ALLOWED_HOSTS = ["testserver"]
    client = Client()
    client.force_login(get_user_model().objects.get_or_create(username="benchmark")[0])
    client.cookies["memweb_tz"] = "Europe/Berlin"
    found: dict[str, list[tuple[float, float]]] = {}
    for name, texts in PAGES.items():
        client.get("/", {"q": texts[0]})
        times = []
        for run in range(RUNS):
            clock, processor = time.perf_counter(), time.process_time()
            response = client.get("/", {"q": texts[run % len(texts)]})
            times.append(((time.perf_counter() - clock) * 1000, (time.process_time() - processor) * 1000))
            if response.status_code != 200:
                raise RuntimeError(f"{name}: {response.status_code}")
        found[name] = times
    return found


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks facets", description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--keep", type=Path, help="folder for the collection, used again next time")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="memweb-bench-") as temporary:
        folder = (options.keep or Path(temporary)) / f"facets-{options.rows}"
        environment = {**prepare(folder, options.rows, write_source), "MEMWEB_EMBEDDER": "off"}
        code = "import json; from benchmarks.facet_speed import measure; print(json.dumps(measure()))"
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)  # noqa: S603
    results: dict[str, list[tuple[float, float]]] = json.loads(done.stdout.splitlines()[-1])
    sys.stdout.write(f"| page over {options.rows:,} memories, ms | p50 | p95 | processor, p95 |\n|---|---|---|---|\n")
    for name, times in results.items():
        clock, processor = (statistics.quantiles(some, n=100, method="inclusive") for some in zip(*times, strict=True))
        sys.stdout.write(f"| {name} | {clock[49]:.0f} | {clock[94]:.0f} | {processor[94]:.0f} |\n")
