"""Cursors go round as text; a damaged one is refused with a sentence."""

import base64
import json
from datetime import UTC, datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memweb.memories.kinds import Kind
from search.cursors import Cursor, RankCursor, TimeCursor, decode, encode
from search.request import Order

ids = st.integers(0, 2**63 - 1)
moments = st.none() | st.datetimes(timezones=st.just(UTC))
time_cursors = st.builds(TimeCursor, st.sampled_from([Order.NEWEST, Order.OLDEST]), moments, st.sampled_from(Kind), ids)
rank_cursors = st.builds(RankCursor, st.integers(0, 10**6 - 1), st.dictionaries(st.sampled_from(Kind), ids))


@settings(max_examples=100, deadline=None)
@given(cursor=time_cursors | rank_cursors)
def test_cursor_goes_round(cursor: Cursor) -> None:
    order = cursor.order if isinstance(cursor, TimeCursor) else Order.RELEVANCE
    assert decode(encode(cursor), order) == cursor
    assert encode(cursor).isascii()


def written(data: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(data).encode()).decode()


NEWEST = encode(TimeCursor(Order.NEWEST, datetime(2026, 1, 20, tzinfo=UTC), Kind.PROMPT, 7))
DAMAGED = {
    "empty": "",
    "a word": "abc",
    "not base64": "%%%",
    "not ASCII": "ü用户",
    "a surrogate": "\ud800",
    "cut": NEWEST[:-5],
    "prolonged": NEWEST + "AAAA",
    "not JSON": base64.urlsafe_b64encode(b"\xff\xfe").decode(),
    "another shape": written({"t": 1}),
    "a number": written(5),
    "nothing": written(None),
    "an empty list": written([]),
    "missing id": written(["t", "newest", None, "p"]),
    "id of the wrong type": written(["t", "newest", None, "p", "7"]),
    "negative id": written(["t", "newest", None, "p", -1]),
    "huge id": written(["t", "newest", None, "p", 2**63]),
    "unknown kind": written(["t", "newest", None, "x", 7]),
    "unknown order": written(["t", "sideways", None, "p", 7]),
    "bad time": written(["t", "newest", "yesterday", "p", 7]),
    "impossible time": written(["t", "newest", "0001-01-01T00:00:00+14:00", "p", 7]),
    "other order": encode(TimeCursor(Order.OLDEST, None, Kind.PROMPT, 7)),
    "of relevance": encode(RankCursor(20, {})),
    "deep": base64.urlsafe_b64encode(b"[" * 100_000).decode(),
    "long number": base64.urlsafe_b64encode(b'["t","newest",null,"p",' + b"9" * 10_000 + b"]").decode(),
}
DAMAGED_RANK = {
    "of time": NEWEST,
    "negative offset": written(["r", -1, {}]),
    "huge offset": written(["r", 10**6, {}]),
    "text offset": written(["r", "1", {}]),
    "list of ids": written(["r", 1, [1]]),
    "text id": written(["r", 1, {"o": "1"}]),
    "unknown kind": written(["r", 1, {"x": 1}]),
    "huge id": written(["r", 1, {"o": 2**63}]),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damaged_cursor_of_a_time_order_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="this page address is damaged or belongs to another order of results"):
        decode(DAMAGED[name], Order.NEWEST)


@pytest.mark.parametrize("name", DAMAGED_RANK)
def test_damaged_cursor_of_relevance_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="this page address is damaged or belongs to another order of results"):
        decode(DAMAGED_RANK[name], Order.RELEVANCE)


@settings(max_examples=200, deadline=None)
@given(
    text=st.text() | st.binary().map(lambda data: base64.urlsafe_b64encode(data).decode()), order=st.sampled_from(Order)
)
@example(text=written(["t", "newest", True, "p", True]), order=Order.NEWEST)
@example(text=written(["r", True, {"o": False}]), order=Order.RELEVANCE)
def test_any_text_is_a_cursor_or_refused(text: str, order: Order) -> None:
    try:
        cursor = decode(text, order)
    except ValueError:
        return
    assert encode(cursor) is not None
