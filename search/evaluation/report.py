"""An evaluation as tables for a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from search.evaluation.metrics import METRICS, TURN_METRICS, Figure
from search.evaluation.results import Difference, Evaluation, Run, figures

HEADINGS = ("", "questions", "turn\nR@5", "\nR@10", "\nMRR@10", "session\nR@5", "\nR@10")
# Wide enough for a difference with its interval, however narrow the terminal.
WIDTH = 100


def report(evaluation: Evaluation, changes: Sequence[Difference]) -> str:
    """Return everything as text: a table for each run, then one of differences for each comparison."""
    console = Console(width=WIDTH, highlight=False, markup=False, emoji=False)
    with console.capture() as capture:
        console.print(_headline(evaluation))
        for notice in evaluation.data["notices"]:
            console.print(Text(notice, style="yellow"))
        for run in evaluation.runs:
            console.print()
            console.print(Text(run.title, style="bold"), Text(_latency(run), style="dim"))
            for reason, count in run.fallbacks.items():
                console.print(Text(f"{count:,} questions answered another way: {reason}", style="yellow"))
            console.print(_run_table(run))
        for change in changes:
            console.print()
            console.print(Text(change.title, style="bold"), Text(f"{change.questions:,} questions", style="dim"))
            console.print(_difference_table(change))
        console.print()
        console.print(
            Text(
                "R@k: evidence among the first k, in percent; turns for categories 1 to 4, sessions for all."
                " In brackets: 95% intervals (bootstrap over questions).",
                style="dim",
            )
        )
    return "\n".join(line.rstrip() for line in capture.get().splitlines())


def _headline(evaluation: Evaluation) -> Text:
    conversations = evaluation.data["conversations"]
    total = {
        name: sum(one[name] for one in conversations) for name in ("sessions", "turns", "questions", "turn_questions")
    }
    return Text(
        f"{evaluation.data['path']}\n{len(conversations)} conversations, {total['sessions']:,} sessions,"
        f" {total['turns']:,} turns, {total['questions']:,} questions with evidence"
        f" ({total['turn_questions']:,} of categories 1 to 4)"
    )


def _latency(run: Run) -> str:
    answered = ", ".join(f"{name} {count:,}" for name, count in run.strategies.items())
    return f"{run.latency(50):.1f} ms in the median, {run.latency(95):.1f} ms at p95; answered by {answered}"


def _run_table(run: Run) -> Table:
    table = _table(HEADINGS)
    for place, section in enumerate(run.sections()):
        if place:
            table.add_row()
        for name, asked in section.items():
            found = figures(asked)
            table.add_row(name, f"{len(asked):,}", *(_mean(metric, found[metric]) for metric in METRICS))
            if not place:
                table.add_row("", "", *(_interval(metric, found[metric]) for metric in METRICS), style="dim")
    return table


def _difference_table(change: Difference) -> Table:
    table = _table(HEADINGS[:1] + HEADINGS[2:])
    table.add_row("difference", *(_mean(metric, change.figures[metric], sign="+") for metric in METRICS))
    table.add_row("", *(_interval(metric, change.figures[metric], sign="+") for metric in METRICS), style="dim")
    return table


def _table(headings: Sequence[str]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in headings:
        table.add_column(heading, justify="right" if heading else "left", no_wrap=True)
    return table


def _mean(metric: str, figure: Figure | None, sign: str = "") -> str:
    return "-" if figure is None else _number(metric, figure.value, sign)


def _interval(metric: str, figure: Figure | None, sign: str = "") -> str:
    if figure is None:
        return ""
    return f"[{_number(metric, figure.low, sign)}, {_number(metric, figure.high, sign)}]"


def _number(metric: str, value: float, sign: str) -> str:
    is_rank = metric in TURN_METRICS and metric.startswith("MRR")
    return format(value, f"{sign}.3f") if is_rank else format(100 * value, f"{sign}.1f")
