"""Several scores of the same candidates -> one: convex combination of normalised scores, or reciprocal ranks."""

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


def unit_range(scores: Scores) -> Scores:
    """Return scores between 0 and 1 (min-max); what is unknown (nan) counts as their mean, equal ones as 0."""
    known = scores[~np.isnan(scores)]
    if not len(known) or known.max() <= known.min():
        return np.zeros(len(scores))
    return (np.where(np.isnan(scores), known.mean(), scores) - known.min()) / (known.max() - known.min())


def reciprocal_ranks(scores: Scores, k: int = 60) -> Scores:
    """Return 1 / (k + rank) for each score, the highest has rank 1 (Cormack, Clarke and Buettcher 2009).

    Equal scores share the better rank; what is unknown (nan) counts nothing.
    """
    known = ~np.isnan(scores)
    result = np.zeros(len(scores))
    values, places = np.unique(-scores[known], return_inverse=True)
    ranks = np.concatenate(([0], np.cumsum(np.bincount(places, minlength=len(values)))))[:-1] + 1
    result[known] = 1.0 / (k + ranks[places])
    return result
