"""The door to evaluation: one call that reads data, measures in isolation and returns what was found."""

from dataclasses import replace
from pathlib import Path

from search.evaluation.conversations import Conversation, EvaluationError, digest
from search.evaluation.isolation import Measurement, Progress, claim_folder, folder_for, measure_isolated
from search.evaluation.metrics import ADVERSARIAL
from search.evaluation.results import Evaluation


def evaluate(wanted: Measurement, kept: Path | None, progress: Progress) -> Evaluation:
    """Measure without notes and, when they are wanted, once more with them, in an index of its own.

    Raises EvaluationError with a message for people.
    """
    conversations = wanted.conversations()
    if not any(conversation.questions for conversation in conversations):
        raise EvaluationError(f"{wanted.path} has no question whose evidence is a turn of its conversation")
    evaluation = Evaluation(
        {
            "path": wanted.path,
            "conversations": [_counts(conversation) for conversation in conversations],
            "limit": wanted.limit,
            "embedder": "",
            "notices": [],
        }
    )
    with folder_for(kept) as folder:
        for with_notes in [False, True] if wanted.with_notes else [False]:
            own = folder / ("with-notes" if with_notes else "turns")
            claim_folder(own, digest(conversations, with_notes=with_notes))
            measured = measure_isolated(replace(wanted, with_notes=with_notes), own, progress)
            evaluation.runs += measured.runs
            evaluation.data["embedder"] = measured.embedder
            evaluation.data["notices"] = list(dict.fromkeys([*evaluation.data["notices"], *measured.notices]))
    return evaluation


def _counts(conversation: Conversation) -> dict[str, str | int]:
    return {
        "name": conversation.name,
        "sessions": len(conversation.talks),
        "turns": len(conversation.turns),
        "questions": len(conversation.questions),
        "turn_questions": sum(question.category != ADVERSARIAL for question in conversation.questions),
    }
