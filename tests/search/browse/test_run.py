"""Windows of a session hold everything once, in the order of time, kind and id, whatever is written between them."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from memweb.memories.kinds import Kind
from memweb.memories.models import State
from search.browse.durations import duration_label, gap_label
from search.browse.run import Place, extent_of, read_window, read_window_around, read_window_before
from tests.factories import START, make_drawer, make_observation, make_prompt, make_session, make_summary, moment

pytestmark = pytest.mark.django_db

MAKE = {
    Kind.DRAWER: make_drawer,
    Kind.OBSERVATION: make_observation,
    Kind.PROMPT: make_prompt,
    Kind.SUMMARY: make_summary,
}
times = st.sampled_from([None, START, START + timedelta(microseconds=1), START + timedelta(seconds=1), moment(-1)])


def in_order(place: Place) -> tuple[bool, datetime, Kind, int]:
    return place[0] is None, place[0] or START, place[1], place[2]


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(Kind), times), min_size=1, max_size=14),
    st.integers(1, 5),
    st.randoms(use_true_random=False).map(lambda random: random.choice),
)
def test_windows_in_both_directions_join_without_gap_or_repetition(
    rows: list[tuple[Kind, datetime | None]], size: int, choose: Callable[[list[Place]], Place]
) -> None:
    with transaction.atomic():
        session = make_session("s1")
        made = [
            (kind, MAKE[kind](f"text {n}", session=session, created_at=at), at) for n, (kind, at) in enumerate(rows)
        ]
        whole: list[Place] = sorted(((at, kind, memory.pk) for kind, memory, at in made), key=in_order)
        forward, window = [], read_window(session, size)
        while True:
            forward += window.places
            if window.after is None:
                break
            window = read_window(session, size, window.places[-1])
        backward: list[Place] = []
        before: Place | None = whole[-1]
        while before is not None:
            window = read_window_before(session, size, backward[0] if backward else whole[-1])
            backward = [*window.places, *backward]
            before = window.before
        middle = choose(whole)
        around = read_window_around(session, 2 * size, middle)
        transaction.set_rollback(True)
    assert forward == whole
    assert backward == whole[:-1]
    place = whole.index(middle)
    assert around.places == whole[max(0, place - size) : place + size + 1]
    assert (around.before is None, around.after is None) == (place <= size, place + size >= len(whole) - 1)


def test_extent_counts_what_is_shown_and_knows_first_and_last() -> None:
    session = make_session("s1")
    make_prompt("first", session=session, created_at=moment(0))
    make_observation("last", session=session, created_at=moment(90))
    make_observation("lost", session=session, created_at=None)
    make_observation("trashed", session=session, created_at=moment(500), state=State.TRASHED)
    make_observation("archived", session=session, created_at=moment(501), state=State.ARCHIVED)
    make_observation("noise", session=session, created_at=moment(502), is_noise=True)
    make_observation("elsewhere", session=make_session("s2"), created_at=moment(503))
    extent = extent_of(session)
    assert {kind: count for kind, count in extent.counts.items() if count} == {Kind.PROMPT: 1, Kind.OBSERVATION: 2}
    assert (extent.first, extent.last, extent.without_time) == (moment(0), moment(90), 1)


@pytest.mark.parametrize(
    ("seconds", "label"),
    [
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3_599, "59 min"),
        (3_600, "1 h"),
        (7_500, "2 h 5 min"),
        (86_400, "1 day"),
        (3 * 86_400 + 4 * 3_600 + 59, "3 days 4 h"),
    ],
)
def test_duration_is_told_in_its_largest_units(seconds: int, label: str) -> None:
    assert duration_label(timedelta(seconds=seconds)) == label


def test_only_a_long_gap_is_told() -> None:
    assert gap_label(timedelta(minutes=29)) == ""
    assert gap_label(timedelta(hours=2)) == "2 h later"
    assert gap_label(datetime(2026, 1, 1, tzinfo=UTC) - datetime(2026, 1, 2, tzinfo=UTC)) == ""
