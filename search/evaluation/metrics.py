"""Recall, reciprocal rank, and how sure their means are.

For one question: recall@k = |evidence among the first k| / |evidence|; MRR@10 = 1 / rank of the first evidence, 0 when
it is not among the first ten. At the level of turns for categories 1 to 4, at the level of sessions (distinct, in the
order of their first turn) for all five. Figures are means over questions; intervals are those of the percentile
bootstrap (Efron 1979) over questions.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

METRICS = ("turn R@5", "turn R@10", "MRR@10", "session R@5", "session R@10")
TURN_METRICS = METRICS[:3]
# Adversarial questions ask for what was never said, so no turn answers them; the session they are about is known.
ADVERSARIAL = 5
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", ADVERSARIAL: "adversarial"}
RESAMPLES = 2000
SEED = 0

Values = dict[str, float | None]


@dataclass(frozen=True, slots=True)
class Figure:
    """A mean over questions with its 95% interval, all from 0 to 1 (differences from -1)."""

    value: float
    low: float
    high: float


def score(
    turns: Sequence[str],
    sessions: Sequence[str],
    evidence: AbstractSet[str],
    evidence_sessions: AbstractSet[str],
    category: int,
) -> Values:
    """Return every metric of one question; None where a metric is not for its category. Names must be distinct."""
    values: list[float | None] = [None, None, None]
    if category != ADVERSARIAL:
        rank = next((place for place, turn in enumerate(turns[:10], 1) if turn in evidence), None)
        values = [recall(turns, evidence, 5), recall(turns, evidence, 10), 1 / rank if rank else 0.0]
    values += [recall(sessions, evidence_sessions, 5), recall(sessions, evidence_sessions, 10)]
    return dict(zip(METRICS, values, strict=True))


def recall(ranking: Sequence[str], evidence: AbstractSet[str], k: int) -> float:
    """Return which part of the evidence is among the first k of a ranking."""
    return len(evidence & set(ranking[:k])) / len(evidence)


def figure(values: Sequence[float | None]) -> Figure | None:
    """Return mean and interval of the values there are; None when there are none.

    The same number of values is always resampled in the same way.
    """
    known = np.array([value for value in values if value is not None], dtype=np.float64)
    if not len(known):
        return None
    drawn = np.random.default_rng(SEED).integers(0, len(known), (RESAMPLES, len(known)))
    low, high = np.percentile(known[drawn].mean(axis=1), [2.5, 97.5])
    return Figure(float(known.mean()), float(low), float(high))


def percentile(values: Sequence[float], percent: float) -> float:
    """Return a percentile; 0 for no values."""
    return float(np.percentile(values, percent)) if len(values) else 0.0
