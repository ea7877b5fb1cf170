"""`memweb doctor`: what is wrong, and what to do about it."""

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from memweb.operations.diagnosis import diagnose


class Command(BaseCommand):
    help = "Say what is wrong and what to do about it; exit code 1 when something is."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--deep", action="store_true", help="also read the whole database and its index")
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    def handle(self, *args: Any, **options: Any) -> None:
        findings = diagnose(deep=options["deep"])
        is_sound = all(finding.is_sound for finding in findings)
        if options["json"]:
            rows = [{**asdict(finding), "ok": finding.is_sound} for finding in findings]
            self.stdout.write(json.dumps({"ok": is_sound, "findings": rows}, indent=2))
        else:
            width = max(len(finding.subject) for finding in findings)
            for finding in findings:
                mark = "ok     " if finding.is_sound else self.style.ERROR("problem")
                self.stdout.write(f"{mark} {finding.subject:{width}}  {finding.state}")
                if finding.remedy:
                    self.stdout.write(f"{'':7} {'':{width}}  -> {finding.remedy}")
        if not is_sound:
            sys.exit(1)
