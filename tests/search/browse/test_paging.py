"""Pages after a place hold everything that is still there, wherever its rows stand now."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.browse.paging import Place, in_order, page_after, read_place


@dataclass(frozen=True)
class Row:
    rank: int
    name: str
    id: int


rows = st.lists(
    st.builds(Row, st.integers(-3, 0), st.sampled_from("abc"), st.integers(1, 30)), unique_by=lambda row: row.id
).map(in_order)


@given(rows, st.integers(1, 5))
def test_pages_join_without_gap_or_repetition(some: list[Row], size: int) -> None:
    seen: list[Row] = []
    shown, place, more = page_after(some, None, size)
    while True:
        seen += shown
        assert more == len(some) - len(seen)
        if place is None:
            break
        shown, place, more = page_after(some, read_place(str(place)), size)
    assert seen == some


@given(rows.filter(bool), st.integers(1, 5))
def test_row_that_went_leaves_nothing_out(some: list[Row], size: int) -> None:
    shown, place, _ = page_after(some, None, size)
    left = [row for row in some if place is None or row.id != place.id]
    rest = page_after(left, place, len(some))[0] if place else []
    assert {row.id for row in [*shown, *rest]} == {row.id for row in some}


@pytest.mark.parametrize("text", ["x", "1", "~", "1~", "~1", "1~-1", "1~1~1", "1.5~1", "9" * 19 + "~1", "１~1"])
def test_damaged_place_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a place in the list"):
        read_place(text)


def test_place_is_written_as_it_is_read() -> None:
    assert read_place(str(Place(-5, 7))) == Place(-5, 7)
    assert read_place("") is None
