"""`memweb index`: look after the keyword index."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import Progress

from memweb.memories.kinds import Kind
from search.formatter import to_json
from search.keyword.maintenance import check_index, index_status, optimize_index, rebuild_index


class Command(BaseCommand):
    help = "Show, check, rebuild or optimize the keyword index."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "action",
            choices=["status", "check", "rebuild", "optimize"],
            help="status: counts; check: compare every entry with its row; rebuild: make anew; optimize: compact",
        )
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        getattr(self, f"_{options['action']}")(options["json"])

    def _status(self, as_json: bool) -> None:
        statuses = index_status()
        if as_json:
            rows = [
                {
                    "kind": str(one.kind),
                    "table": one.table,
                    "rows": one.rows,
                    "indexed": one.indexed,
                    "faults": list(one.faults),
                }
                for one in statuses
            ]
            self.stdout.write(to_json(rows))
        for one in statuses if not as_json else []:
            state = (
                "ok" if one.is_healthy else "; ".join(one.faults) or "rows and index differ; run `memweb index rebuild`"
            )
            indexed = "unreadable" if one.indexed is None else f"{one.indexed:,}"
            self.stdout.write(f"{one.table:22} {one.rows:>10,} rows {indexed:>10} indexed  {state}")
        if not all(one.is_healthy for one in statuses):
            raise CommandError("the keyword index needs a rebuild: run `memweb index rebuild`")

    def _check(self, as_json: bool) -> None:
        found = check_index()
        if as_json:
            self.stdout.write(to_json({str(kind): fault for kind, fault in found.items()}))
        for kind, fault in found.items() if not as_json else []:
            self.stdout.write(f"{kind.plural:18} {fault or 'ok'}")
        if any(found.values()):
            raise CommandError("the keyword index is damaged: run `memweb index rebuild`")

    def _rebuild(self, as_json: bool) -> None:
        with Progress(console=Console(stderr=True), transient=True) as bars:
            tasks: dict[Kind, Any] = {}

            def show(kind: Kind, done: int, total: int) -> None:
                if kind not in tasks:
                    tasks[kind] = bars.add_task(kind.plural, total=total)
                bars.update(tasks[kind], completed=done)

            rebuilt = rebuild_index(progress=show)
        if as_json:
            self.stdout.write(to_json({str(kind): count for kind, count in rebuilt.items()}))
        else:
            for kind, count in rebuilt.items():
                self.stdout.write(f"{kind.plural:18} {count:>10,} indexed")

    def _optimize(self, as_json: bool) -> None:
        optimize_index()
        self.stdout.write(to_json({"optimized": True}) if as_json else "The keyword index is compact.")
