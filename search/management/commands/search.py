"""`memweb search`: find memories from the command line."""

import logging
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from search.formatter import ResultFormatter
from search.management.filters import add_filters, given_filters, problems_of_options
from search.orchestrator import SearchOrchestrator
from search.request import normalize_params
from search.texts import whole_characters


class Command(BaseCommand):
    help = "Search memories. The query may use the language of the search page, see docs/search-syntax.md."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("query", nargs="*", help="words, phrases, filters; nothing lists the newest memories")
        parser.add_argument("--mode", default="auto", help="auto, keyword, semantic or hybrid")
        add_filters(parser)
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
            **given_filters(options),
            "order": options["order"],
            "limit": options["limit"],
            "cursor": options["cursor"],
        }
        zone = timezone.get_current_timezone()
        normalized = normalize_params({name: value for name, value in given.items() if value}, zone)
        if normalized.problems:
            raise CommandError(problems_of_options(normalized.problems))
        with _told_once():
            result = SearchOrchestrator(zone).search(normalized.request)
        formatter = ResultFormatter()
        if options["json"]:
            text = formatter.to_json(result)
        elif options["markdown"]:
            text = formatter.to_markdown(result)
        else:
            text = formatter.to_table(result, explain=options["explain"])
        self.stdout.write(whole_characters(text))


@contextmanager
def _told_once() -> Iterator[None]:
    """Keep warnings of search out of the log: what it does without is told with the result."""
    logger = logging.getLogger("search")
    before = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(before)
