"""`memweb import`: bring memories in, as often as you like."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

from memweb.sources import imports
from memweb.sources.detection import AUTO, READERS
from memweb.sources.records import SourceError
from memweb.sources.report import ImportReport


class Command(BaseCommand):
    help = (
        "Import memories: a claude-mem database, its folder, its JSON export, or a git repository. Importing again adds"
        " only what is new, and never touches what you edited here."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("paths", nargs="+", metavar="PATH", help="file or folder; recognised by what is in it")
        parser.add_argument("--source", choices=list(READERS), default=AUTO, help="read PATH as this format")
        parser.add_argument("--project", metavar="NAME", help="put everything into this project")
        parser.add_argument(
            "--include-noise", action="store_true", help="also import what is skipped as noise, marked as noise"
        )
        parser.add_argument("--dry-run", action="store_true", help="say what would be imported, change nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = imports.ImportOptions(
            options["source"], options["project"], options["include_noise"], options["dry_run"]
        )
        reports, failures = [], []
        if not all(path.strip() for path in options["paths"]):
            raise CommandError("PATH is empty: name a file or folder (an unset variable of the shell, perhaps)")
        for path in options["paths"]:
            try:
                with progress_bar(Path(path).name) as progress:
                    report = imports.import_path(path, wanted, progress)
            except SourceError as error:
                failures.append({"path": path, "error": str(error)})
                continue
            reports.append(report)
            if not options["json"]:
                self.print_report(report)
        if options["json"]:
            self.stdout.write(json.dumps({"reports": [report.as_json() for report in reports], "failures": failures}))
        if failures:
            raise CommandError("\n".join(failure["error"] for failure in failures))

    def print_report(self, report: ImportReport) -> None:
        self.stdout.write(report.as_text())


class RowsPerSecond(ProgressColumn):
    """Speed in rows per second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:,.0f} rows/s" if speed else "")


@contextmanager
def progress_bar(name: str) -> Iterator[imports.Progress | None]:
    """Show a bar on stderr while the block runs; none when stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = [
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        RowsPerSecond(),
        TimeRemainingColumn(),
    ]
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
