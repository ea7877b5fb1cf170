"""Scores of different kinds, put together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.fusion.combination import reciprocal_ranks, unit_range

NAN = float("nan")


@pytest.mark.parametrize(
    ("scores", "wanted"),
    [
        ([2.0, 4.0, 3.0], [0.0, 1.0, 0.5]),
        ([5.0, 5.0], [0.0, 0.0]),
        ([1.0, NAN, 3.0], [0.0, 0.5, 1.0]),
        ([NAN, NAN], [0.0, 0.0]),
        ([7.0], [0.0]),
        ([], []),
    ],
)
def test_unit_range(scores: list[float], wanted: list[float]) -> None:
    assert unit_range(np.array(scores)).tolist() == wanted


@given(st.lists(st.floats(-1e6, 1e6) | st.just(NAN)))
def test_unit_range_lies_between_0_and_1_and_keeps_the_order(scores: list[float]) -> None:
    found = unit_range(np.array(scores))
    assert ((found >= 0) & (found <= 1)).all()
    known = [place for place, score in enumerate(scores) if score == score]
    for one in known:
        for other in known:
            assert not (scores[one] < scores[other] and found[one] > found[other])


@pytest.mark.parametrize(
    ("scores", "ranks"),
    [([3.0, 1.0, 2.0], [1, 3, 2]), ([2.0, 2.0, 1.0], [1, 1, 3]), ([0.5], [1])],
)
def test_reciprocal_ranks(scores: list[float], ranks: list[int]) -> None:
    assert reciprocal_ranks(np.array(scores)).tolist() == [1 / (60 + rank) for rank in ranks]


def test_reciprocal_ranks_count_nothing_for_what_is_unknown() -> None:
    assert reciprocal_ranks(np.array([NAN, 1.0])).tolist() == [0.0, 1 / 61]
