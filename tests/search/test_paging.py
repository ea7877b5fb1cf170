"""Pages follow each other without a gap and without a repetition, whatever is written between them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import transaction
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import MEMORY_MODELS, Memory
from search.orchestrator import SearchOrchestrator
from search.request import Order, SearchRequest
from search.results import SearchResult
from tests.factories import START, make_drawer, make_observation, make_prompt, make_summary, moment, refs
from tests.search.searching import found, search_for, shown_refs

pytestmark = pytest.mark.django_db

MAKE = {
    Kind.DRAWER: make_drawer,
    Kind.OBSERVATION: make_observation,
    Kind.PROMPT: make_prompt,
    Kind.SUMMARY: make_summary,
}
DAMAGED = "this page address is damaged or belongs to another order of results; the first page is shown"


def pages(request: SearchRequest) -> list[SearchResult]:
    """Return all pages of a request, each asked for by the cursor of the one before."""
    found = [SearchOrchestrator().search(request, with_facets=False)]
    while found[-1].next:
        assert len(found) < 100
        found.append(SearchOrchestrator().search(replace(request, cursor=found[-1].next), with_facets=False))
    return found


def refs_of(results: Sequence[SearchResult]) -> list[str]:
    return [str(hit.ref) for result in results for hit in result.hits]


def in_order(memories: Sequence[Memory], order: Order) -> list[str]:
    """Return names in (time, kind, id) order; unknown times last in both directions."""
    known = sorted((m for m in memories if m.created_at), key=lambda m: (m.created_at, m.kind, m.pk))
    unknown = sorted((m for m in memories if not m.created_at), key=lambda m: (m.kind, m.pk))
    backwards = order is Order.NEWEST
    return refs([*(known[::-1] if backwards else known), *(unknown[::-1] if backwards else unknown)])


# Few times, so that many memories share one; some have none; microseconds differ from none at all.
times = st.sampled_from([None, START, START + timedelta(microseconds=1), START + timedelta(seconds=1), moment(-1)])
datasets = st.lists(
    st.tuples(st.sampled_from(Kind), times, st.sampled_from(["needle", "needle needle", "hay"])), max_size=12
)
time_orders = st.sampled_from([Order.NEWEST, Order.OLDEST])


@settings(max_examples=60, deadline=None)
@given(dataset=datasets, order=time_orders, limit=st.integers(1, 5), query=st.sampled_from(["", "needle", "kind:o,p"]))
def test_pages_by_time_are_the_one_big_page(
    dataset: list[tuple[Kind, datetime | None, str]], order: Order, limit: int, query: str
) -> None:
    with transaction.atomic():
        memories = [MAKE[kind](text, created_at=time) for kind, time, text in dataset]
        kinds = {Kind.OBSERVATION, Kind.PROMPT} if "kind" in query else set(Kind)
        wanted = [
            memory
            for memory, (_, _, text) in zip(memories, dataset, strict=True)
            if memory.kind in kinds and (query != "needle" or "needle" in text)
        ]
        results = pages(SearchRequest(query=query, order=order, limit=limit))
        assert refs_of(results) == in_order(wanted, order)
        assert [len(result.hits) for result in results[:-1]] == [limit] * (len(results) - 1)
        assert {result.total for result in results} == {len(wanted)}
        everything = SearchOrchestrator().search(SearchRequest(query=query, order=order, limit=200))
        assert refs_of([everything]) == in_order(wanted, order)
        for offset in range(0, len(wanted) + 2, 3):
            page = SearchOrchestrator().search(SearchRequest(query=query, order=order, limit=limit, offset=offset))
            assert refs_of([page]) == in_order(wanted, order)[offset : offset + limit]
        transaction.set_rollback(True)


changes = st.lists(
    st.tuples(st.sampled_from(["insert", "delete"]), st.integers(0, 30), st.sampled_from(Kind), times), max_size=4
)


@settings(max_examples=60, deadline=None)
@given(dataset=datasets, order=time_orders, limit=st.integers(1, 3), changed=st.lists(changes, min_size=1, max_size=4))
def test_nothing_is_skipped_or_repeated_while_rows_come_and_go(
    dataset: list[tuple[Kind, datetime | None, str]], order: Order, limit: int, changed: list[Any]
) -> None:
    with transaction.atomic():
        memories: list[Memory] = [MAKE[kind](text, created_at=time) for kind, time, text in dataset]
        request, stayed, seen = SearchRequest(order=order, limit=limit), set(refs(memories)), []
        cursor: str | None = ""
        for step in range(100):
            result = SearchOrchestrator().search(replace(request, cursor=cursor or ""), with_facets=False)
            seen += refs_of([result])
            cursor = result.next
            if not cursor:
                break
            for action, number, kind, time in changed[step] if step < len(changed) else []:
                if action == "insert":
                    MAKE[kind]("new", created_at=time)
                elif memories:
                    gone = memories.pop(number % len(memories))
                    stayed.discard(str(gone.ref))
                    gone.delete()
        assert cursor is None
        assert len(seen) == len(set(seen))
        assert stayed <= set(seen)
        assert [name for name in seen if name in stayed] == in_order(memories, order)
        transaction.set_rollback(True)


@settings(max_examples=40, deadline=None)
@given(dataset=datasets, limit=st.integers(1, 5))
def test_pages_by_relevance_are_the_one_big_page(dataset: list[tuple[Kind, datetime | None, str]], limit: int) -> None:
    with transaction.atomic():
        for kind, time, text in dataset:
            MAKE[kind](text, created_at=time)
        everything = SearchOrchestrator().search(SearchRequest(query="needle", limit=200))
        results = pages(SearchRequest(query="needle", limit=limit))
        assert refs_of(results) == refs_of([everything])
        assert len(refs_of(results)) == sum("needle" in text for _, _, text in dataset)
        ranks = [hit.explain.keyword_rank for result in results for hit in result.hits]
        assert ranks == list(range(1, len(ranks) + 1))
        transaction.set_rollback(True)


def test_relevance_is_paged_over_the_rows_of_the_first_page() -> None:
    memories = [make_observation("needle", created_at=moment(number)) for number in range(6)]
    request = SearchRequest(query="needle", limit=2)
    first = SearchOrchestrator().search(request)
    for make in MAKE.values():
        make("needle needle needle", created_at=moment(100))
    second = SearchOrchestrator().search(replace(request, cursor=first.next or ""))
    third = SearchOrchestrator().search(replace(request, cursor=second.next or ""))
    assert refs_of([first, second, third]) == refs(memories[::-1])
    assert (third.next, second.total) == (None, 6)
    assert SearchOrchestrator().search(request).total == 10


def test_unknown_times_come_last_in_both_orders() -> None:
    unknown, known = make_observation("x", created_at=None), make_observation("x", created_at=moment())
    assert found(order="newest") == found(order="oldest") == refs([known, unknown])
    [page, rest] = pages(SearchRequest(order=Order.OLDEST, limit=1))
    assert refs_of([page, rest]) == refs([known, unknown])


def test_same_moment_is_ordered_by_kind_and_id() -> None:
    memories = [MAKE[kind]("x") for _ in range(2) for kind in Kind]
    by_kind = sorted(memories, key=lambda memory: (memory.kind, memory.pk))
    assert found(order="oldest") == refs(by_kind)
    assert found(order="newest") == refs(by_kind[::-1])
    in_title = {Kind.OBSERVATION, Kind.SUMMARY}
    by_score = sorted(memories, key=lambda memory: (memory.kind in in_title, memory.kind, memory.pk), reverse=True)
    assert found("x") == refs(by_score)


@pytest.mark.parametrize("order", ["newest", "oldest", "relevance"])
@pytest.mark.parametrize("cursor", ["x", "AAAA", "ü", "\x00", "e" * 5_000, "WyJ0Il0", "%2e"])
def test_damaged_cursor_shows_the_first_page_and_says_so(reader: Client, order: str, cursor: str) -> None:
    memory = make_observation("needle")
    result = search_for("needle", order=order, cursor=cursor)
    assert ([str(hit.ref) for hit in result.hits], result.notes) == ([str(memory.ref)], (DAMAGED,))
    response = reader.get("/", {"q": "needle", "order": order, "cursor": cursor})
    assert (response.status_code, shown_refs(response.content)) == (200, [str(memory.ref)])
    assert DAMAGED in response.content.decode()


def test_cursor_of_another_order_shows_the_first_page() -> None:
    memories = [make_observation("needle", created_at=moment(number)) for number in range(3)]
    for order in Order:
        cursor = search_for("needle", order=str(order), limit=1).next or ""
        for other in set(Order) - {order}:
            result = search_for("needle", order=str(other), limit=1, cursor=cursor)
            first = memories[0] if other is Order.OLDEST else memories[-1]
            assert (refs_of([result]), result.notes) == ([str(first.ref)], (DAMAGED,))


def test_page_beyond_the_end_is_empty(reader: Client) -> None:
    make_observation("needle")
    for order in ("newest", "relevance"):
        result = search_for("needle", order=order, offset=1_000_000)
        assert (result.hits, result.total, result.next) == ((), 1, None)
        assert reader.get("/", {"q": "needle", "order": order, "offset": "1000000"}).status_code == 200


def test_next_links_of_the_page_lead_through_everything(reader: Client) -> None:
    memories = [MAKE[kind](f"needle {n}", created_at=moment(n)) for n, kind in enumerate([*Kind] * 6)]
    for order, wanted in (("newest", memories[::-1]), ("oldest", memories)):
        address, seen = f"/?q=needle&order={order}&limit=10", []
        while address:
            response = reader.get(address)
            seen += shown_refs(response.content)
            address = response.context["page"].next_url
        assert seen == refs(wanted)


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_alone_is_paged(kind: Kind) -> None:
    memories = [MAKE[kind]("needle", created_at=moment(n // 2)) for n in range(7)]
    results = pages(SearchRequest(kinds=(kind,), order=Order.OLDEST, limit=2))
    assert refs_of(results) == refs(memories)
    assert {Ref.parse(name).kind for name in refs_of(results)} == {kind} <= set(MEMORY_MODELS)
