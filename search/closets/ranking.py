"""What closets lift: the drawers that the lines nearest to a question point at, among its candidates."""

import json
import logging
from collections.abc import Callable, Iterable, Sequence

import numpy as np
from django.db.utils import DatabaseError

from memweb.memories.kinds import Kind
from search.analysis import index_terms
from search.analysis.stems import stem
from search.closets.groups import GROUPS, LINES, POINTERS
from search.closets.upkeep import stored_name
from search.fusion.question import Term
from search.keyword.limits import rows_within
from search.keyword.rows import Key
from search.vectors.embedding import Vectors

logger = logging.getLogger(__name__)

# By the rank of the line, as MemPalace's callers know it.
RANK_BOOSTS = (0.40, 0.25, 0.15, 0.08, 0.04)
READ_SECONDS = 0.1
# Lines that are far and hold no word of the question are passed over; so many are looked at for each that counts.
_LOOKED_AT = 5

_POINTERS = f"SELECT p.line_id, p.drawer_id FROM json_each(%s) AS k CROSS JOIN {POINTERS} AS p ON p.drawer_id = k.value"
_LINES = (
    f"SELECT l.id, l.vector, l.text FROM json_each(%s) AS k CROSS JOIN {LINES} AS l ON l.id = k.value"
    f" CROSS JOIN {GROUPS} AS g ON g.key = l.group_id AND g.model = %s WHERE length(l.vector) = %s"
)


def closet_boosts(
    vector: Vectors,
    terms: Sequence[Term],
    candidates: Iterable[Key],
    *,
    embedder: str,
    is_weak: Callable[[float], bool],
    limit: int = len(RANK_BOOSTS),
) -> dict[Key, float]:
    """Return how much closets lift candidates, 0.04 to 0.40; those that they do not lift are left out.

    Lines that point at candidates are ranked by their cosine with the question's vector, which `embedder` made. The
    `limit` best count that come near, by `is_weak` or by a term that they hold. Two statements, however many lines
    there are; without closets nothing is lifted.
    """
    drawers = [id for kind, id in candidates if kind is Kind.DRAWER]
    if not drawers:
        return {}
    try:
        pointed = rows_within(READ_SECONDS, _POINTERS, [json.dumps(drawers)]).rows
        if not pointed:
            return {}
        ids = json.dumps(sorted({line for line, _ in pointed}))
        lines = rows_within(READ_SECONDS, _LINES, [ids, stored_name(embedder), 2 * len(vector)]).rows
    except DatabaseError as error:
        logger.warning("closets cannot be read: %s", error)
        return {}
    if not lines:
        return {}
    vectors = np.frombuffer(b"".join(line[1] for line in lines), "<f2").reshape(len(lines), -1)
    similarities = vectors.astype(np.float32) @ vector
    best: list[int] = []
    for place in np.argsort(-similarities, kind="stable")[: limit * _LOOKED_AT].tolist():
        if len(best) < limit and (not is_weak(float(similarities[place])) or _holds_any(lines[place][2], terms)):
            best.append(lines[place][0])
    boosts = dict(zip(best, RANK_BOOSTS, strict=False))
    found: dict[Key, float] = {}
    for line, drawer in pointed:
        if line in boosts:
            key = Kind.DRAWER, drawer
            found[key] = max(found.get(key, 0.0), boosts[line])
    return found


def _holds_any(text: str, terms: Sequence[Term]) -> bool:
    atoms = f" {index_terms('', [text]).body} "
    stems = {stem(atom) for atom in atoms.split()}
    return any((term.stem in stems) if term.stem else (term.phrase in atoms) for term in terms)
