"""Why a hit stands where it does, ready to be shown: a bar of the parts of its score, and the numbers behind them."""

from dataclasses import dataclass

from search.analysis import clean
from search.results import Explanation, Hit

WIDTH = 240
_CLASSES = {
    "words": "is-words",
    "BM25": "is-words",
    "meaning": "is-meaning",
    "word by word": "is-late",
    "closet": "is-closet",
    "bonuses": "is-bonus",
    "missing words": "is-missing",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the score: its number, and where it stands in the bar (a negative one stands nowhere)."""

    label: str
    number: str
    css_class: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class WhyView:
    """The explanation of one hit."""

    score: str
    parts: list[Part]
    bar_label: str
    bar_width: int
    terms: list[tuple[str, str]]
    rows: list[tuple[str, str]]


def why_view(hit: Hit) -> WhyView | None:
    """Return the explanation of a hit; None when it was not ranked and nothing was looked for in it."""
    rows = list(_rows(hit.explain))
    if hit.score is None and not rows:
        return None
    parts = _parts(hit.explain.parts)
    # Rounded parts may be a hundredth off the rounded score; what is shown adds up.
    whole = sum(round(value, 2) for _, value in hit.explain.parts) if parts else hit.score
    score = "" if hit.score is None or whole is None else f"{whole:.2f}"
    said = ", ".join(f"{part.label} {part.number}" for part in parts)
    return WhyView(
        score=score,
        parts=parts,
        bar_label=f"Score {score}: {said}" if parts else "",
        bar_width=WIDTH,
        terms=[(clean(term), f"{value:.2f}") for term, value in hit.explain.terms],
        rows=rows,
    )


def _parts(parts: tuple[tuple[str, float], ...]) -> list[Part]:
    whole = sum(max(value, 0.0) for _, value in parts)
    found, x = [], 0.0
    for label, value in parts:
        width = WIDTH * max(value, 0.0) / whole if whole else 0.0
        number = f"{value:.2f}".replace("-", "−")
        found.append(Part(label, number, _CLASSES.get(label, ""), round(x, 1), round(width, 1)))
        x += width
    return found


def _rows(explain: Explanation) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    if explain.keyword_rank is not None:
        rows.append(("Rank by words", str(explain.keyword_rank)))
    if explain.bm25 is not None:
        rows.append(("BM25", f"{explain.bm25:.2f}"))
    if explain.vector_rank is not None:
        rows.append(("Rank by meaning", str(explain.vector_rank)))
    if explain.similarity is not None:
        rows.append(("Similarity", f"{explain.similarity:.2f}"))
    if explain.max_similarity is not None:
        rows.append(("Word by word", f"{explain.max_similarity:.2f}"))
    if explain.closet_boost is not None:
        rows.append(("Lifted by its closet", f"{explain.closet_boost:.2f}"))
    if explain.bonuses:
        rows.append(("Bonus for", ", ".join(explain.bonuses)))
    if explain.words and not explain.terms:
        rows.append(("Words found", ", ".join(clean(word) for word in explain.words)))
    if explain.matched_via:
        rows.append(("Found in", explain.matched_via))
    return rows
