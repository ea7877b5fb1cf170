"""`memweb search`: find memories from the command line."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from search.formatter import ResultFormatter
from search.orchestrator import SearchOrchestrator
from search.request import Problem, normalize_params
from search.texts import whole_characters


class Command(BaseCommand):
    help = "Search memories. The query may use the language of the search page, see docs/search-syntax.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("query", nargs="*", help="words, phrases, filters; nothing lists the newest memories")
        parser.add_argument("--mode", default="auto", help="auto, keyword, semantic or hybrid")
        parser.add_argument("--project", action="append", default=[], help="exact name; may be repeated")
        parser.add_argument("--kind", action="append", default=[], help="observation, summary, prompt, drawer")
        parser.add_argument("--type", action="append", default=[], dest="types", help="such as bugfix")
        parser.add_argument("--concept", action="append", default=[], help="such as gotcha")
        parser.add_argument("--file", action="append", default=[], help="path, base name, directory/ or glob")
        parser.add_argument("--since", help="date, time, epoch or 7d, 3w, 6m, 1y")
        parser.add_argument("--until", help="as --since; a day is included whole")
        parser.add_argument("--order", help="relevance, newest or oldest")
        parser.add_argument("--limit", default="20", help="results to print, at most 200")
        parser.add_argument("--cursor", help="continue where an earlier result ended")
        parser.add_argument("--explain", action="store_true", help="say why each result is where it is")
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument("--markdown", action="store_true", help="print Markdown")

    def handle(self, *args: Any, **options: Any) -> None:
        given = {
            "query": " ".join(options["query"]),
            "mode": options["mode"],
            "project": options["project"],
            "kind": options["kind"],
            "type": options["types"],
            "concept": options["concept"],
            "file": options["file"],
            "since": options["since"],
            "until": options["until"],
            "order": options["order"],
            "limit": options["limit"],
            "cursor": options["cursor"],
        }
        zone = timezone.get_current_timezone()
        normalized = normalize_params({name: value for name, value in given.items() if value}, zone)
        if normalized.problems:
            raise CommandError("; ".join(map(option_problem, normalized.problems)))
        result = SearchOrchestrator(zone).search(normalized.request)
        formatter = ResultFormatter()
        if options["json"]:
            text = formatter.to_json(result)
        elif options["markdown"]:
            text = formatter.to_markdown(result)
        else:
            text = formatter.to_table(result, explain=options["explain"])
        self.stdout.write(whole_characters(text))


def option_problem(problem: Problem) -> str:
    """Return what is wrong with an option, by the name that was typed, on one line."""
    name = "until" if problem.field == "date_end" else problem.field
    return f"--{name}: {' '.join(problem.message.split())}"
