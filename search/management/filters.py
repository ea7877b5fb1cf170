"""Options of the command line that filter memories, the same for every command."""

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from typing import Any

from search.request import Problem


def add_filters(parser: ArgumentParser) -> None:
    """Add the options to a command."""
    parser.add_argument("--project", action="append", default=[], help="exact name; may be repeated")
    parser.add_argument("--kind", action="append", default=[], help="observation, summary, prompt, drawer")
    parser.add_argument("--type", action="append", default=[], dest="types", help="such as bugfix")
    parser.add_argument("--concept", action="append", default=[], help="such as gotcha")
    parser.add_argument("--file", action="append", default=[], help="path, base name, directory/ or glob")
    parser.add_argument("--since", help="date, time, epoch or 7d, 3w, 6m, 1y")
    parser.add_argument("--until", help="as --since; a day is included whole")


def given_filters(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options as parameters of a search request."""
    names = {"project": "project", "kind": "kind", "types": "type", "concept": "concept", "file": "file"}
    return {name: options[option] for option, name in names.items()} | {
        name: options[name] for name in ("since", "until")
    }


def problems_of_options(problems: Iterable[Problem]) -> str:
    """Return what is wrong with options, by the names that were typed, on one line."""
    names = {"date_end": "until"}
    return "; ".join(f"--{names.get(one.field, one.field)}: {' '.join(one.message.split())}" for one in problems)
