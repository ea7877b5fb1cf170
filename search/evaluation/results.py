"""What an evaluation found, as values that are saved, read again and compared."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Self

from search.evaluation.conversations import EvaluationError
from search.evaluation.metrics import CATEGORIES, METRICS, Figure, Values, figure, percentile

FORMAT = "memweb evaluation 1"


class Scope(StrEnum):
    """Where a question is asked: in its own conversation's project, or in everything."""

    CONVERSATION = "conversation"
    COLLECTION = "collection"


@dataclass(frozen=True, slots=True)
class Asked:
    """One question that was asked: its metrics, and the milliseconds of an ordinary search."""

    id: str
    conversation: str
    category: int
    values: Values
    ms: float


@dataclass(slots=True)
class Run:
    """All questions asked in one way. `strategies` and `fallbacks` count how they were answered, and why otherwise."""

    mode: str
    scope: Scope
    with_notes: bool = False
    asked: list[Asked] = field(default_factory=list)
    strategies: dict[str, int] = field(default_factory=dict)
    fallbacks: dict[str, int] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, str, bool]:
        return self.mode, self.scope, self.with_notes

    @property
    def title(self) -> str:
        place = "each conversation by itself" if self.scope is Scope.CONVERSATION else "the whole collection"
        return f"{self.mode}, {place}{', with notes' if self.with_notes else ''}"

    def note_answer(self, strategy: str, fallback: str) -> None:
        """Count how a question was answered."""
        self.strategies[strategy] = self.strategies.get(strategy, 0) + 1
        if fallback:
            self.fallbacks[fallback] = self.fallbacks.get(fallback, 0) + 1

    def latency(self, percent: float) -> float:
        """Return a percentile of the milliseconds of a search."""
        return percentile([one.ms for one in self.asked], percent)

    def sections(self) -> list[dict[str, list[Asked]]]:
        """Return the questions all together, by category and by conversation; without empty groups."""
        categories: dict[str, list[Asked]] = {f"{number} {name}": [] for number, name in CATEGORIES.items()}
        conversations: dict[str, list[Asked]] = {}
        for one in self.asked:
            categories[f"{one.category} {CATEGORIES[one.category]}"].append(one)
            conversations.setdefault(one.conversation, []).append(one)
        return [{"all": self.asked}, {name: asked for name, asked in categories.items() if asked}, conversations]

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON-ready data: figures for people, and the questions, from which they come."""
        return {
            "mode": self.mode,
            "scope": str(self.scope),
            "with_notes": self.with_notes,
            "latency_ms": {"p50": round(self.latency(50), 2), "p95": round(self.latency(95), 2)},
            "strategies": self.strategies,
            "fallbacks": self.fallbacks,
            **{
                name: {group: _group(asked) for group, asked in section.items()}
                for name, section in zip(("total", "categories", "conversations"), self.sections(), strict=True)
            },
            "questions": [asdict(one) for one in self.asked],
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Self:
        """Read what `to_dict` gave; raises KeyError, TypeError or ValueError for anything else."""
        return cls(
            mode=data["mode"],
            scope=Scope(data["scope"]),
            with_notes=bool(data["with_notes"]),
            asked=[_read_asked(one) for one in data["questions"]],
            strategies=dict(data["strategies"]),
            fallbacks=dict(data["fallbacks"]),
        )


@dataclass(frozen=True, slots=True)
class Difference:
    """How two runs differ on the questions that both were asked; figures are `after` minus `before`."""

    title: str
    questions: int
    figures: dict[str, Figure | None]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True)
class Evaluation:
    """One evaluation: what was measured, with what, and what came of it."""

    data: dict[str, Any]
    runs: list[Run] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON-ready data."""
        return {"format": FORMAT, **self.data, "runs": [run.to_dict() for run in self.runs]}


def figures(asked: Sequence[Asked]) -> dict[str, Figure | None]:
    """Return every metric over some questions."""
    return {name: figure([one.values[name] for one in asked]) for name in METRICS}


def difference(title: str, before: Run, after: Run) -> Difference:
    """Return what changed from one run to another, with intervals of the paired bootstrap."""
    earlier = {one.id: one for one in before.asked}
    pairs = [(earlier[one.id], one) for one in after.asked if one.id in earlier]
    changes = {name: figure([_change(old.values[name], new.values[name]) for old, new in pairs]) for name in METRICS}
    return Difference(title, len(pairs), changes)


def save_evaluation(evaluation: Evaluation, path: Path) -> None:
    """Write an evaluation, in place of an earlier one only when all is written. Raises EvaluationError."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        partial.write_text(json.dumps(evaluation.to_dict(), ensure_ascii=False, indent=1), encoding="utf-8")
        partial.replace(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise EvaluationError(f"{path} cannot be written: {error.strerror or error}") from error


def load_runs(path: Path) -> list[Run]:
    """Return the runs of a saved evaluation. Raises EvaluationError."""
    expected = "expected is a file that `memweb evaluate --save` wrote"
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror or error}; {expected}") from error
    except (ValueError, RecursionError) as error:
        raise EvaluationError(f"{path} is damaged or no JSON; {expected}") from error
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise EvaluationError(f"{path} is no saved evaluation; {expected}")
    try:
        return [Run.from_dict(run) for run in document["runs"]]
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise EvaluationError(f"{path} is damaged ({type(error).__name__}: {error}); {expected}") from error


def _group(asked: Sequence[Asked]) -> dict[str, Any]:
    found = {metric: asdict(one) if one else None for metric, one in figures(asked).items()}
    return {"questions": len(asked), **found}


def _read_asked(data: dict[str, Any]) -> Asked:
    values: Values = {name: None if (value := data["values"][name]) is None else float(value) for name in METRICS}
    return Asked(str(data["id"]), str(data["conversation"]), int(data["category"]), values, float(data["ms"]))


def _change(before: float | None, after: float | None) -> float | None:
    return None if before is None or after is None else after - before
