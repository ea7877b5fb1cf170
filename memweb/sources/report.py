"""What an import did, in numbers and examples: for the terminal, for scripts and for the admin."""

from dataclasses import dataclass, field
from typing import Any

LONGEST_EXAMPLE = 160
KINDS = ("session", "observation", "summary", "prompt", "drawer")
OUTCOMES = ("imported", "unchanged", "updated", "duplicate", "skipped")
SECTIONS = {
    "skipped": "Skipped",
    "duplicate": "Equal rows, imported once",
    "noise": "Imported as noise, hidden from ordinary search",
    "time": "Times",
    "cell": "Cells that were not clean lists",
    "private": "Private passages",
    "kept": "Kept as edited here",
    "session": "Sessions",
}


@dataclass(slots=True)
class Finding:
    """How often something was met, and the first example of it."""

    count: int
    example: str


@dataclass(slots=True)
class Tally:
    """Counts by kind and outcome, findings by section, kind and reason, and warnings about the source as a whole."""

    counts: dict[str, dict[str, int]] = field(default_factory=dict)
    findings: dict[tuple[str, str, str], Finding] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)

    def count(self, kind: str, outcome: str, number: int = 1) -> None:
        outcomes = self.counts.setdefault(kind, {})
        outcomes[outcome] = outcomes.get(outcome, 0) + number

    def note(self, section: str, kind: str, reason: str, example: str, number: int = 1) -> None:
        finding = self.findings.get((section, kind, reason))
        if finding is None:
            self.findings[section, kind, reason] = Finding(number, shorten(example))
        else:
            finding.count += number

    def skip(self, kind: str, reason: str, example: str) -> None:
        """Count a row that is not imported."""
        self.count(kind, "skipped")
        self.note("skipped", kind, reason, example)

    def warn(self, text: str) -> None:
        if text not in self.warnings:
            self.warnings.append(text)

    def add(self, other: "Tally") -> None:
        """Take over everything that another tally holds."""
        for kind, outcomes in other.counts.items():
            for outcome, number in outcomes.items():
                self.count(kind, outcome, number)
        for (section, kind, reason), finding in other.findings.items():
            self.note(section, kind, reason, finding.example, finding.count)
        for text in other.warnings:
            self.warn(text)

    def number(self, outcome: str, kind: str | None = None) -> int:
        """Return how many rows had an outcome, of one kind or of all."""
        return sum(outcomes.get(outcome, 0) for name, outcomes in self.counts.items() if kind in (None, name))

    def found(self, section: str, kind: str | None = None) -> int:
        """Return how often anything of a section was met."""
        return sum(
            finding.count for (name, of, _), finding in self.findings.items() if name == section and kind in (None, of)
        )


@dataclass(slots=True)
class ImportReport:
    """One import of one source. `batch_id` is None after a dry run."""

    format: str
    location: str
    dry_run: bool = False
    batch_id: int | None = None
    seconds: float = 0.0
    tally: Tally = field(default_factory=Tally)

    @property
    def imported(self) -> int:
        return self.tally.number("imported")

    @property
    def warnings(self) -> list[str]:
        return self.tally.warnings

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain values; the same shape is kept with the import batch."""
        findings: dict[str, list[dict[str, Any]]] = {section: [] for section in SECTIONS}
        for (section, kind, reason), finding in self.tally.findings.items():
            findings[section].append(
                {"kind": kind, "reason": reason, "count": finding.count, "example": finding.example}
            )
        return {
            "format": self.format,
            "location": self.location,
            "dry_run": self.dry_run,
            "batch": self.batch_id,
            "seconds": round(self.seconds, 3),
            "totals": {outcome: self.tally.number(outcome) for outcome in OUTCOMES},
            "counts": {
                kind: {outcome: self.tally.number(outcome, kind) for outcome in OUTCOMES}
                for kind in KINDS
                if kind in self.tally.counts
            },
            "findings": {section: found for section, found in findings.items() if found},
            "warnings": self.tally.warnings,
        }

    def as_text(self) -> str:
        """Return the report for a terminal."""
        what = "would import (dry run)" if self.dry_run else "imported"
        lines = [f"{self.format}: {self.location}"]
        if not self.tally.counts:
            lines.append("  nothing to import")
        else:
            lines.append("  " + f"{'':12}" + "".join(f"{outcome:>11}" for outcome in OUTCOMES))
        for kind in KINDS:
            if kind in self.tally.counts:
                numbers = "".join(f"{self.tally.number(outcome, kind):>11,}" for outcome in OUTCOMES)
                lines.append(f"  {kind:12}{numbers}")
        for section, title in SECTIONS.items():
            found = [(key[1], key[2], item) for key, item in self.tally.findings.items() if key[0] == section]
            if found:
                lines.append(f"  {title}:")
                lines += [f"    {item.count:,} x {kind}: {why}; e.g. {item.example}" for kind, why, item in found]
        lines += [f"  warning: {warning}" for warning in self.tally.warnings]
        rate = f", {sum(map(self.tally.number, OUTCOMES)) / self.seconds:,.0f} rows/s" if self.seconds else ""
        lines.append(f"  {what}: {self.imported:,} rows in {self.seconds:.1f} s{rate}")
        return "\n".join(lines)


def shorten(text: str) -> str:
    """Return an example as one printable line; control characters cannot reach a terminal through it."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * LONGEST_EXAMPLE]).split())
    return line if len(line) <= LONGEST_EXAMPLE else line[: LONGEST_EXAMPLE - 1] + "…"
