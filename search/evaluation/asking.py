"""Asks questions of the index through SearchOrchestrator, as every surface does, and scores what it answers."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from search.evaluation.conversations import Conversation, Question
from search.evaluation.metrics import score
from search.evaluation.reader import Referent, evidence_names, referents
from search.evaluation.results import Asked, Run, Scope
from search.orchestrator import SearchOrchestrator
from search.request import DEFAULT_LIMIT, Mode, SearchRequest
from search.results import SearchResult

# Ranks that a metric looks at.
DEEPEST = 10

# Called with questions done and questions in all.
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Turns and sessions in the order found, each once."""

    turns: list[str]
    sessions: list[str]

    @property
    def is_deep_enough(self) -> bool:
        return len(self.turns) >= DEEPEST and len(self.sessions) >= DEEPEST


def ask_all(
    conversations: Sequence[Conversation],
    mode: Mode,
    scope: Scope,
    limit: int,
    *,
    with_notes: bool = False,
    progress: Progress | None = None,
) -> Run:
    """Ask every question of the conversations, of its own conversation's project or of everything."""
    known = referents(conversations)
    orchestrator = SearchOrchestrator()
    orchestrator.search(SearchRequest(query="first search", mode=mode))  # loads what later searches find loaded
    total = sum(len(conversation.questions) for conversation in conversations)
    run = Run(mode=str(mode), scope=scope, with_notes=with_notes)
    for conversation in conversations:
        projects = (conversation.name,) if scope is Scope.CONVERSATION else ()
        for question in conversation.questions:
            request = SearchRequest(query=question.text, mode=mode, projects=projects)
            started = time.perf_counter()
            result = orchestrator.search(request, with_facets=False)
            took = (time.perf_counter() - started) * 1000
            run.note_answer(result.strategy, result.fallback.reason if result.fallback else "")
            ranking = ranking_of(result, known)
            if result.next and limit > DEFAULT_LIMIT and not ranking.is_deep_enough:
                # The time of an ordinary search is measured; a longer list of the same only when a metric needs it.
                ranking = ranking_of(orchestrator.search(replace(request, limit=limit), with_facets=False), known)
            run.asked.append(_asked(conversation, question, ranking, known, took))
            if progress:
                progress(len(run.asked), total)
    return run


def ranking_of(result: SearchResult, known: Mapping[str, Referent]) -> Ranking:
    """Return what the hits of a result stand for; hits of other sources stand for nothing."""
    found = [known[row] for hit in result.hits if (row := hit.memory.source_row) in known]
    turns = dict.fromkeys(turn for referent in found for turn in referent.turns)
    return Ranking(list(turns), list(dict.fromkeys(referent.session for referent in found)))


def _asked(
    conversation: Conversation, question: Question, ranking: Ranking, known: Mapping[str, Referent], took: float
) -> Asked:
    evidence = set(evidence_names(conversation, question.evidence))
    sessions = {known[turn].session for turn in evidence}
    values = score(ranking.turns, ranking.sessions, evidence, sessions, question.category)
    return Asked(question.id, conversation.name, question.category, values, took)
