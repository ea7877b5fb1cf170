"""Whole pages over collections of growing size: milliseconds of the server in the median and at p95, and their size.

    python -m benchmarks pages [--rows 2000 200000] [--keep FOLDER]

The collections are those of `benchmarks search`, without vectors, each with one session of 6,000 memories. Every page
is asked for as by a browser that is signed in, each time at another place; a few requests warm it up. Figures are of
this machine; compare the columns, not the machines.
"""

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from benchmarks.search_speed import prepare

RUNS = 30
WARM_UP = 3
LONG_SESSION = 6_000


def addresses(rows: int, session: int, long_session: int) -> dict[str, Iterator[str]]:
    """Return the addresses of each page, ever other ones."""
    choose = random.Random(4)  # noqa: S311 - the same pages in every run

    def row() -> int:
        return choose.randrange(1, rows)

    def each(make: Callable[[], str]) -> Iterator[str]:
        while True:
            yield make()

    return {
        "results: no query": each(lambda: "/"),
        "results: rare word": each(lambda: f"/?q=w{choose.randrange(5000)}"),
        "results: four common words": each(lambda: "/?q=error+login+cache+deploy"),
        "results: filters": each(lambda: "/?q=error+project:tiny+type:bugfix"),
        "results: newest of a file": each(lambda: f"/?q=file:src/module{choose.randrange(200)}.py"),
        "memory": each(lambda: f"/m/o{row()}/"),
        "timeline: memory": each(lambda: f"/timeline/?anchor=o{row()}"),
        "timeline: moment": each(lambda: f"/timeline/?anchor={1768899600 + row()}"),
        "timeline: type": each(lambda: f"/timeline/?anchor=o{row()}&q=type:bugfix"),
        "timeline: rare word": each(lambda: f"/timeline/?anchor=o{row()}&q=w{choose.randrange(5000)}"),
        "sessions": each(lambda: "/sessions/"),
        "session": each(lambda: f"/sessions/{choose.randrange(1, session)}/"),
        "session of 6,000": each(lambda: f"/sessions/{long_session}/"),
        "projects": each(lambda: "/projects/"),
        "files": each(lambda: "/files/?path=src/"),
        "concepts": each(lambda: "/concepts/"),
    }


def add_long_session() -> int:
    """Return the id of a session of 6,000 memories, made when it is not there yet."""
    from django.db import transaction

    from memweb.memories.models import Project, Session, UserPrompt

    found = Session.objects.filter(content_session_id="benchmark-long").first()
    if found is not None:
        return int(found.pk)
    start = datetime(2026, 1, 22, 9, tzinfo=UTC)
    with transaction.atomic():
        project = Project.objects.get(name="big")
        session = Session.objects.create(content_session_id="benchmark-long", project=project, started_at=start)
        UserPrompt.objects.bulk_create(
            [
                UserPrompt(
                    project=project,
                    session=session,
                    text=f"prompt {number} " + "what was asked in many words " * 60,
                    created_at=start + timedelta(seconds=number),
                )
                for number in range(LONG_SESSION)
            ]
        )
    return int(session.pk)


def measure(rows: int) -> dict[str, tuple[list[float], float]]:
    """Return the milliseconds and the kilobytes of each page."""
    import django

    django.setup()
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.test import Client

    settings.ALLOWED_HOSTS = ["testserver"]
    client = Client()
    user, _ = get_user_model().objects.get_or_create(username="benchmark")
    client.force_login(user)
    found = {}
    for name, some in addresses(rows, rows // 100, add_long_session()).items():
        times, size = [], 0
        for run in range(WARM_UP + RUNS):
            address = next(some)
            started = time.perf_counter()
            response = client.get(address)
            passed = (time.perf_counter() - started) * 1000
            if response.status_code != 200:
                raise SystemExit(f"{address} answers {response.status_code}")
            size = max(size, len(response.content))
            if run >= WARM_UP:
                times.append(passed)
        found[name] = (times, size / 1024)
    return found


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks pages", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[2_000, 200_000])
    parser.add_argument("--keep", type=Path, help="folder for the collections, used again next time")
    options = parser.parse_args(arguments)
    results = {}
    with tempfile.TemporaryDirectory(prefix="memweb-bench-") as temporary:
        for rows in options.rows:
            folder = (options.keep or Path(temporary)) / str(rows)
            environment = {**prepare(folder, rows), "MEMWEB_EMBEDDER": "off"}
            code = f"import json; from benchmarks.page_speed import measure; print(json.dumps(measure({rows})))"
            done = subprocess.run(  # noqa: S603
                [sys.executable, "-c", code], env=environment, check=True, capture_output=True, text=True
            )
            results[rows] = json.loads(done.stdout.splitlines()[-1])
    columns = "".join(f" {rows:>9,} p50 | p95 | kB |" for rows in options.rows)
    sys.stdout.write(f"| page, ms |{columns}\n|---|{'---|---|---|' * len(options.rows)}\n")
    for name in results[options.rows[0]]:
        cells = "".join(_cells(*results[rows][name]) for rows in options.rows)
        sys.stdout.write(f"| {name} |{cells}\n")


def _cells(times: list[float], size: float) -> str:
    quantiles = statistics.quantiles(times, n=100, method="inclusive")
    return f" {quantiles[49]:.0f} | {quantiles[94]:.0f} | {size:.0f} |"
