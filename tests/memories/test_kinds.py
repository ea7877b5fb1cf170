"""Refs: the short names of memories, in every spelling that people write."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memweb.memories.kinds import Kind, Ref
from search.query import KINDS, is_ref_text

ACCEPTED = {
    "o12": Ref(Kind.OBSERVATION, 12),
    "O12": Ref(Kind.OBSERVATION, 12),
    "#12": Ref(Kind.OBSERVATION, 12),
    "12": Ref(Kind.OBSERVATION, 12),
    " 12\n": Ref(Kind.OBSERVATION, 12),
    "#S45": Ref(Kind.SUMMARY, 45),
    "S45": Ref(Kind.SUMMARY, 45),
    "s045": Ref(Kind.SUMMARY, 45),
    "P9": Ref(Kind.PROMPT, 9),
    "d7": Ref(Kind.DRAWER, 7),
    "o" + "9" * 18: Ref(Kind.OBSERVATION, int("9" * 18)),
}
REFUSED = [
    "",
    " ",
    "o",
    "#",
    "x12",
    "12o",
    "o 12",
    "o-1",
    "-1",
    "1.5",
    "o12,o13",
    "##12",
    "o#12",
    "٣",
    "o" + "9" * 19,
    "１２",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_accepted_spelling(text: str) -> None:
    assert Ref.parse(text) == ACCEPTED[text]
    assert is_ref_text(text.strip())


@pytest.mark.parametrize("text", REFUSED)
def test_refused_text_is_named(text: str) -> None:
    with pytest.raises(
        ValueError, match="is not the name of a memory; names look like o12, s45, p9, d7 or #12"
    ) as error:
        Ref.parse(text)
    assert repr(text) in str(error.value)
    assert not is_ref_text(text)


@settings(deadline=None)
@given(kind=st.sampled_from(Kind), id=st.integers(0, 10**18 - 1))
def test_ref_goes_round(kind: Kind, id: int) -> None:
    assert Ref.parse(str(Ref(kind, id))) == Ref(kind, id)


@settings(deadline=None)
@given(text=st.text(max_size=8))
def test_any_text_is_a_ref_or_refused(text: str) -> None:
    try:
        ref = Ref.parse(text)
    except ValueError:
        return
    assert Ref.parse(str(ref)) == ref


def test_every_kind_has_its_own_letter_and_names() -> None:
    assert {kind: kind.letter for kind in Kind} == {
        Kind.DRAWER: "d",
        Kind.OBSERVATION: "o",
        Kind.PROMPT: "p",
        Kind.SUMMARY: "s",
    }
    assert len({kind.label for kind in Kind}) == len({kind.plural for kind in Kind}) == len(Kind)
    assert sorted(Kind) == [Kind.DRAWER, Kind.OBSERVATION, Kind.PROMPT, Kind.SUMMARY]
    assert set(map(str, Kind)) == set(KINDS)
