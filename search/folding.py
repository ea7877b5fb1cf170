"""Filters beside the query text -> the same filters in the text, the one place that says what a page shows."""

from dataclasses import replace
from datetime import datetime, tzinfo

from search.query import And, Field, FieldName, edited_text, normalize, parse
from search.request import FILTERS, SearchRequest
from search.times import end_text, span_texts, start_text


def as_text(request: SearchRequest, zone: tzinfo) -> SearchRequest:
    """Return a request that finds the same and has its filters in the query text, where the text can hold them.

    Times that are not whole minutes stay beside it: nobody would have typed them.
    """
    times = [*_times(request, zone)] if _is_whole(request.date_start) and _is_whole(request.date_end) else []
    given = [*request.filter_fields(), *times]
    if not given:
        return request
    tree = normalize(And((request.parsed.tree, *given)))
    text = edited_text(tree, request.parsed)
    read = parse(text)
    changes: dict[str, object] = {**dict.fromkeys(FILTERS.values(), ()), "query": text}
    if times:
        changes |= {"date_start": None, "date_end": None}
    folded = replace(request, **changes)  # type: ignore[arg-type]
    # A text has its limits: what would not be read as it was given stays where it is.
    is_same = not set(read.notes) - set(request.parsed.notes) and _members(folded) == _members(request, times)
    return folded if is_same else request


def _times(request: SearchRequest, zone: tzinfo) -> list[Field]:
    start, end = request.date_start, request.date_end
    if start and end:
        texts = span_texts(start, end, zone)
        return [Field(name, (text,)) for name, text in zip((FieldName.AFTER, FieldName.BEFORE), texts, strict=True)]
    if start:
        return [Field(FieldName.AFTER, (start_text(start, zone),))]
    return [Field(FieldName.BEFORE, (end_text(end, zone),))] if end else []


def _members(request: SearchRequest, more: list[Field] | None = None) -> set[object]:
    """Return what must hold of a hit, in whatever order it is written."""
    tree = normalize(And((request.tree, *(more or ()))))
    return set(tree.nodes) if isinstance(tree, And) else {tree}


def _is_whole(moment: datetime | None) -> bool:
    return moment is None or not (moment.second or moment.microsecond)
