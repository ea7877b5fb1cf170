"""Searches as tests write them."""

from datetime import UTC, tzinfo
from typing import Any

from bs4 import BeautifulSoup

from search.orchestrator import SearchOrchestrator
from search.request import normalize_params
from search.results import SearchResult


def search_for(query: str = "", zone: tzinfo = UTC, **params: Any) -> SearchResult:
    """Return the result of a search; parameters are given as to the page, and all must make sense."""
    normalized = normalize_params({"q": query, **params}, zone)
    assert normalized.problems == ()
    return SearchOrchestrator(zone).search(normalized.request)


def found(query: str = "", zone: tzinfo = UTC, **params: Any) -> list[str]:
    """Return the names of the memories that have everything a search asks for, in order."""
    result = search_for(query, zone, **params)
    return [] if result.is_relaxed else [str(hit.ref) for hit in result.hits]


def found_rows(query: str = "", **params: Any) -> list[int]:
    """Return the row numbers, in their source, of the observations that a search finds, in order."""
    return [int(hit.memory.source_row.split("/")[1]) for hit in search_for(query, **params).hits]


def shown_refs(html: bytes) -> list[str]:
    """Return the names of the memories that a page lists, in order."""
    return [str(hit["data-ref"]) for hit in BeautifulSoup(html, "html.parser").select("li.hit")]
