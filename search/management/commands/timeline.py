"""`memweb timeline`: what happened around a memory or a moment, from the command line."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from search.management.filters import add_filters, given_filters, problems_of_options
from search.request import normalize_params
from search.texts import whole_characters
from search.timeline import AnchorError, GoneError, MissingError, TimelineBuilder
from search.timeline.anchors import FORMS
from search.timeline.builder import DEFAULT_DEPTH, MAX_DEPTH
from search.timeline.formatter import TimelineFormatter
from search.timeline.parameters import DepthError, read_depth


class Command(BaseCommand):
    help = f"Show what happened around an anchor: {FORMS}."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("anchor", nargs="+", help="a memory, a moment, “now”, or words")
        for side in ("before", "after"):
            parser.add_argument(
                f"--{side}",
                default=str(DEFAULT_DEPTH),
                help=f"memories {side} the anchor, 0 to {MAX_DEPTH} (default {DEFAULT_DEPTH})",
            )
        add_filters(parser)
        parser.add_argument(
            "--all-projects", action="store_true", help="also what happened outside the project of the memory"
        )
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument("--markdown", action="store_true", help="print Markdown")

    def handle(self, *args: Any, **options: Any) -> None:
        zone = timezone.get_current_timezone()
        given = {name: value for name, value in given_filters(options).items() if value}
        normalized = normalize_params(given, zone)
        if normalized.problems:
            raise CommandError(problems_of_options(normalized.problems))
        try:
            timeline = TimelineBuilder(zone).timeline(
                " ".join(options["anchor"]),
                read_depth("--before", options["before"]),
                read_depth("--after", options["after"]),
                normalized.request,
                all_projects=options["all_projects"],
            )
        except (AnchorError, DepthError, MissingError, GoneError) as error:
            nearest = getattr(error, "nearest", None)
            hint = f" The nearest moment known is {nearest:%Y-%m-%dT%H:%M:%SZ}." if nearest else ""
            raise CommandError(f"{error}{hint}") from None
        formatter = TimelineFormatter(zone)
        if options["json"]:
            text = formatter.to_json(timeline)
        elif options["markdown"]:
            text = formatter.to_markdown(timeline)
        else:
            text = formatter.to_table(timeline)
        self.stdout.write(whole_characters(text))
