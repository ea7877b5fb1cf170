"""`memweb evaluate`: measure how well search finds, on questions with known answers."""

import sys
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import Progress as Bars

from search.evaluation.comparing import comparisons
from search.evaluation.conversations import EvaluationError
from search.evaluation.evaluating import evaluate
from search.evaluation.isolation import Measurement, Progress
from search.evaluation.report import report
from search.evaluation.results import load_runs, save_evaluation
from search.formatter import to_json
from search.request import DEFAULT_LIMIT, MAX_LIMIT, Mode


class Command(BaseCommand):
    help = (
        "Measure how well search finds, on conversations with questions in the format of LoCoMo. An index of its own is"
        " made in a folder of its own; your memories are neither read nor changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", metavar="PATH", help="JSON file, or folder of JSON files")
        parser.add_argument(
            "--mode",
            action="append",
            default=[],
            choices=[str(mode) for mode in Mode],
            help="only this; may be repeated",
        )
        parser.add_argument(
            "--unfiltered", action="store_true", help="also ask the whole collection, and say what that loses"
        )
        parser.add_argument(
            "--with-notes", action="store_true", help="also measure with the data's observations and summaries indexed"
        )
        parser.add_argument(
            "--conversation", action="append", default=[], metavar="NAME", help="only this; may be repeated"
        )
        parser.add_argument("--questions", type=_count, metavar="N", help="at most N questions of each conversation")
        parser.add_argument(
            "--limit", type=_limit, default=MAX_LIMIT, metavar="N", help="hits asked for when the first 20 are too few"
        )
        parser.add_argument("--keep", metavar="DIR", help="keep the index in this folder, and use it when it is there")
        parser.add_argument("--save", metavar="FILE", help="write figures and every question's values as JSON")
        parser.add_argument("--compare", metavar="FILE", help="say how the figures differ from those saved in FILE")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        wanted = Measurement(
            path=str(Path(options["path"]).expanduser().resolve()),
            names=options["conversation"],
            questions=options["questions"],
            with_notes=options["with_notes"],
            modes=list(dict.fromkeys(options["mode"])),
            unfiltered=options["unfiltered"],
            limit=options["limit"],
        )
        try:
            earlier = load_runs(Path(options["compare"]).expanduser()) if options["compare"] else []
            with progress_bars() as progress:
                evaluation = evaluate(wanted, Path(options["keep"]) if options["keep"] else None, progress)
            changes = comparisons(evaluation.runs, earlier)
            if options["save"]:
                save_evaluation(evaluation, Path(options["save"]).expanduser())
        except EvaluationError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            self.stdout.write(to_json({**evaluation.to_dict(), "differences": [one.to_dict() for one in changes]}))
        else:
            self.stdout.write(report(evaluation, changes))


@contextmanager
def progress_bars() -> Iterator[Progress]:
    """Show a bar for each step on stderr while the block runs; none when stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda step, done, total: None
        return
    with Bars(console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, Any] = {}

        def show(step: str, done: int, total: int) -> None:
            if step not in tasks:
                tasks[step] = bars.add_task(step)
            bars.update(tasks[step], completed=done, total=total)

        yield show


def _count(text: str) -> int:
    return _number(text, 1, 1_000_000)


def _limit(text: str) -> int:
    return _number(text, DEFAULT_LIMIT, MAX_LIMIT)


def _number(text: str, low: int, high: int) -> int:
    if not text.isascii() or not text.isdigit() or not low <= int(text) <= high:
        raise ArgumentTypeError(f"{text!r} is not a whole number from {low} to {high}")
    return int(text)
