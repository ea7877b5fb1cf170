"""search_memories: the search of MemPalace's callers, with the names, the result and the errors that they know."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, cast

from django.db import DatabaseError

from memweb.memories.kinds import Kind
from memweb.memories.models import Drawer
from search.orchestrator import SearchOrchestrator
from search.query import And, Word, parse
from search.request import MAX_LIMIT, MAX_QUERY, Mode, SearchRequest, normalize_params
from search.results import Hit, SearchResult, iso_time

CANDIDATE_STRATEGIES = ("vector", "union")
UNKNOWN, NO_FILE = "unknown", "?"
# So many hits are looked at for each that is wanted, before those of another kind or too far are left out.
_LOOKED_AT, _LOOKED_AT_LEAST = 3, 20
_PAGES = 5

_CALLERS_NAMES = {"limit": "n_results", "projects": "wing", "rooms": "room"}


def search_memories(
    query: str,
    wing: str | None = None,
    room: str | None = None,
    n_results: int = 5,
    max_distance: float | None = 0.0,
    vector_disabled: bool = False,
    candidate_strategy: str = "vector",
) -> dict[str, Any]:
    """Return the drawers that answer a query best, as MemPalace's `search_memories` does.

    `wing` is the name of a project. `max_distance` is a cosine distance in (0, 2]; 0 means no limit. "vector" ranks
    what comes near in meaning, by words too; "union" also what has the words. When words alone answer, because
    `vector_disabled` asks for it or vectors cannot be used, `fallback` and `fallback_reason` say so.

    The query is plain text: signs that search pages understand mean nothing here. Never raises for what is given: a
    value that makes no sense gives {"error": sentence, "results": []}.
    """
    try:
        request = _request(query, wing, room, n_results, max_distance, vector_disabled, candidate_strategy)
    except ValueError as error:
        return _error(str(error))
    answer: dict[str, Any] = {
        "query": query,
        "filters": {"wing": _name(wing, "wing"), "room": _name(room, "room")},
        "total_before_filter": 0,
        "results": [],
    }
    if not _words(request.query):
        return answer
    orchestrator = SearchOrchestrator()
    try:
        result = orchestrator.search(request, with_facets=False)
        by_words = result.strategy not in ("hybrid", "chroma")
        wanted = (
            hit
            for hit in _hits(orchestrator, request, result)
            if by_words or (_is_near(hit, max_distance or 0.0) and (candidate_strategy == "union" or _is_semantic(hit)))
        )
        answer["results"] = [
            _entry(hit, by_words=by_words) for hit, _ in zip(wanted, range(int(n_results)), strict=False)
        ]
    except DatabaseError as error:
        return _error(f"Search error: {error}")
    answer["total_before_filter"] = result.total
    if by_words and (vector_disabled or result.fallback):
        answer["fallback"] = "bm25_only_via_sqlite"
        answer["fallback_reason"] = result.fallback.reason if result.fallback else "vector_search_disabled"
    return answer


def _request(
    query: object,
    wing: object,
    room: object,
    n_results: object,
    max_distance: object,
    vector_disabled: object,
    candidate_strategy: object,
) -> SearchRequest:
    """Return the request; raise ValueError with a sentence for the caller."""
    if not isinstance(query, str) or not query.strip():
        raise ValueError("query must be a non-empty string")
    if candidate_strategy not in CANDIDATE_STRATEGIES:
        raise ValueError(f"candidate_strategy must be one of {CANDIDATE_STRATEGIES}, got {candidate_strategy!r}")
    if not isinstance(vector_disabled, bool):
        raise ValueError("vector_disabled must be True or False")
    if isinstance(n_results, bool) or not isinstance(n_results, int):
        raise ValueError("n_results must be a whole number")
    if isinstance(max_distance, bool) or not isinstance(max_distance, int | float | None):
        raise ValueError("max_distance must be a number")
    names = {"projects": _name(wing, "wing"), "rooms": _name(room, "room")}
    normalized = normalize_params(
        {
            "query": _plain(query),
            "mode": str(Mode.KEYWORD if vector_disabled else Mode.HYBRID),
            "kinds": [str(Kind.DRAWER)],
            "limit": str(n_results),
            "max_distance": str(max_distance or 0),
            **{field: [name] for field, name in names.items() if name is not None},
        }
    )
    for problem in normalized.problems:
        raise ValueError(f"{_CALLERS_NAMES.get(problem.field, problem.field)}: {problem.message}")
    looked_at = min(MAX_LIMIT, max(_LOOKED_AT_LEAST, _LOOKED_AT * n_results))
    # How far a hit is decides here, whatever words it has.
    return replace(normalized.request, limit=looked_at, max_distance=None)


def _name(value: object, field: str) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str):
        raise ValueError(f"{field} must be a string")
    return value.strip() or None


def _plain(query: str) -> str:
    """Return a query that means the words of a text, whatever signs stand in it."""
    chunks = query[:MAX_QUERY].split()
    text = " ".join(chunk if parse(chunk).tree == Word(chunk) else _words(chunk) for chunk in chunks)
    tree = parse(text).tree
    nodes = tree.nodes if isinstance(tree, And) else (tree,)
    if not all(isinstance(node, Word) for node in nodes):
        text = _words(text).lower()  # OR between two words, say
    return text + " "  # the last word is not still being typed


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text))


def _hits(orchestrator: SearchOrchestrator, request: SearchRequest, result: SearchResult) -> Iterator[Hit]:
    """Yield hits for as long as they are asked for and there are more."""
    for _ in range(_PAGES):
        yield from result.hits
        if not result.next:
            return
        result = orchestrator.search(replace(request, cursor=result.next), with_facets=False)


def _is_near(hit: Hit, max_distance: float) -> bool:
    return not max_distance or (hit.explain.distance is not None and hit.explain.distance <= max_distance)


def _is_semantic(hit: Hit) -> bool:
    return hit.explain.vector_rank is not None


def _entry(hit: Hit, *, by_words: bool) -> dict[str, Any]:
    memory, explain = cast(Drawer, hit.memory), hit.explain
    boost = explain.closet_boost or 0.0
    distance = None if by_words else explain.distance
    if by_words:
        matched_via = "bm25_sqlite"
    elif not _is_semantic(hit):
        matched_via = "bm25_backend"
    else:
        matched_via = "drawer+closet" if boost else "drawer"
    return {
        "text": memory.text,
        "wing": memory.project.name or UNKNOWN,
        "room": memory.room or UNKNOWN,
        "source_file": PurePosixPath(hit.files[0]).name or NO_FILE if hit.files else NO_FILE,
        "created_at": iso_time(memory.created_at) or UNKNOWN,
        "similarity": None if distance is None else round(max(0.0, 1 - distance), 3),
        "distance": distance,
        "effective_distance": None if distance is None else round(min(2.0, max(0.0, distance - boost)), 4),
        "closet_boost": round(boost, 3),
        "matched_via": matched_via,
        "bm25_score": round(explain.bm25 or 0.0, 3),
        "ref": str(hit.ref),
        "score": None if hit.score is None else round(hit.score, 4),
    }


def _error(message: str) -> dict[str, Any]:
    return {"error": message, "results": []}
