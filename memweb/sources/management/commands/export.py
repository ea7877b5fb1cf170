"""`memweb export`: memories leave in a format that other programs read."""

import json
import os
from argparse import ArgumentParser
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from memweb.sources.exporting import export_claude_mem


class Command(BaseCommand):
    help = "Write all memories that are not in the trash as JSON, to a file or to standard output."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--format", choices=["claude-mem"], default="claude-mem", help="format of the export")
        parser.add_argument("-o", "--output", metavar="FILE", help="file to write; replaced only when all is written")
        parser.add_argument("--json", action="store_true", help="print what was written as JSON (with --output)")

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["output"]:
            self.stdout.ending = ""
            export_claude_mem(self.stdout)
            return
        path = Path(options["output"]).expanduser()
        partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
        try:
            # Memories are private: only their owner may read the file.
            descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                totals = export_claude_mem(file)
            partial.replace(path)
        except OSError as error:
            raise CommandError(f"--output: {path} cannot be written: {error.strerror or error}") from error
        finally:
            with suppress(OSError):  # where it could not even be looked for, it is not
                partial.unlink()
        if options["json"]:
            self.stdout.write(json.dumps({"path": str(path), "totals": totals}))
        else:
            counts = ", ".join(f"{total:,} {name}" for name, total in totals.items())
            self.stdout.write(f"wrote {path}: {counts}")
