"""Which runs are worth comparing, and what the comparison is called."""

from collections.abc import Sequence

from search.evaluation.conversations import EvaluationError
from search.evaluation.results import Difference, Run, Scope, difference


def comparisons(runs: Sequence[Run], earlier: Sequence[Run]) -> list[Difference]:
    """Return what the whole collection loses, what notes add, and what changed since an earlier evaluation.

    Raises EvaluationError when there is an earlier evaluation that has nothing in common with this one.
    """
    by_key = {run.key: run for run in runs}
    changes = []
    for run in runs:
        filtered = by_key.get((run.mode, Scope.CONVERSATION, run.with_notes))
        if run.scope is Scope.COLLECTION and filtered:
            changes.append(difference(f"{run.title}: against each conversation by itself", filtered, run))
    for run in runs:
        plain = by_key.get((run.mode, run.scope, False))
        if run.with_notes and plain:
            changes.append(difference(f"{run.title}: against without notes", plain, run))
    since = since_earlier(runs, earlier)
    if earlier and not since:
        raise EvaluationError("the saved evaluation has no question, mode and scope in common with this one")
    return [*changes, *since]


def since_earlier(runs: Sequence[Run], earlier: Sequence[Run]) -> list[Difference]:
    """Return the differences from earlier runs that were asked the same questions in the same way."""
    by_key = {run.key: run for run in earlier}
    found = [difference(f"{run.title}: against saved", by_key[run.key], run) for run in runs if run.key in by_key]
    return [change for change in found if change.questions]
