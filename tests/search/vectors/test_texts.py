"""What is embedded of a memory."""

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from memweb.memories.models import Drawer, Memory, Observation, SessionSummary, UserPrompt
from search.vectors import texts
from search.vectors.texts import MAX_CHUNKS, chunks_of, cut, stored_name
from tests.embedders import FakeEmbedder

EMBEDDER = FakeEmbedder(max_tokens=40)
LONG = " ".join(f"word{number}." if number % 7 == 6 else f"word{number}" for number in range(200))


@pytest.mark.parametrize(
    ("memory", "text"),
    [
        (
            Observation(title="Title", subtitle="Sub", narrative="Story", facts=["one", "two"], text="More"),
            "Title\nSub\nStory\none\ntwo\nMore",
        ),
        (Observation(title="Only a title"), "Only a title"),
        (Observation(title="Title", narrative="Same", text="Same"), "Title\nSame"),
        (Observation(facts=["a fact", ["nested", ""]]), "a fact\nnested"),
        (
            SessionSummary(request="R", investigated="I", learned="L", completed="C", next_steps="N", notes="O"),
            "R\nI\nL\nC\nN\nO",
        ),
        (UserPrompt(text="  a prompt\n"), "a prompt"),
        (Drawer(text="Ana: a passage", speaker="Ana", room="talks"), "Ana: a passage"),
    ],
)
def test_short_memory_is_one_text(memory: Memory, text: str) -> None:
    assert chunks_of(memory, EMBEDDER) == [text]


@pytest.mark.parametrize("text", ["", " ", "\n\t \u00a0"])
def test_memory_without_a_token_has_nothing_to_embed(text: str) -> None:
    assert chunks_of(Drawer(text=text), EMBEDDER) == []
    assert chunks_of(Observation(title=text, narrative=text, facts=[]), EMBEDDER) == []


def test_long_memory_is_cut_into_overlapping_chunks_with_its_title() -> None:
    chunks = chunks_of(Observation(title="The title", narrative=LONG), EMBEDDER)
    assert max(EMBEDDER.count_tokens(chunk) for chunk in chunks) <= EMBEDDER.max_tokens
    assert {chunk.splitlines()[0] for chunk in chunks} == {"The title"}
    bodies = [chunk.splitlines()[1].split() for chunk in chunks]
    assert list(dict.fromkeys(word for body in bodies for word in body)) == LONG.split()
    assert [one for one, other in pairwise(bodies) if not set(one) & set(other)] == []


def test_chunks_end_with_a_sentence_where_one_is_near() -> None:
    assert {chunk[-1] for chunk in chunks_of(Drawer(text=LONG), EMBEDDER)[:-1]} == {"."}


def test_title_that_fills_the_window_leaves_room_for_the_body() -> None:
    chunks = chunks_of(Observation(title=LONG, narrative=LONG), EMBEDDER)
    assert max(EMBEDDER.count_tokens(chunk) for chunk in chunks) <= EMBEDDER.max_tokens
    assert {chunk.splitlines()[0] for chunk in chunks} == {" ".join(LONG.split()[:9])}
    assert {word for chunk in chunks for word in chunk.splitlines()[1].split()} == set(LONG.split())


def test_long_title_alone_is_cut_like_a_body() -> None:
    assert chunks_of(Observation(title=LONG), EMBEDDER) == chunks_of(Drawer(text=LONG), EMBEDDER)


def test_endless_memory_is_embedded_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert MAX_CHUNKS == 1000
    monkeypatch.setattr(texts, "MAX_CHUNKS", 3)
    assert len(chunks_of(Drawer(text=LONG), EMBEDDER)) == 3


@example(text="::0", room=1)
@given(text=st.text(max_size=2000), room=st.integers(1, 30))
def test_pieces_fit_and_leave_nothing_out(text: str, room: int) -> None:
    offsets = EMBEDDER.token_offsets(text)
    if not offsets:
        return
    pieces = cut(text, EMBEDDER, room)
    assert all(1 <= EMBEDDER.count_tokens(piece) <= room for piece in pieces)
    place = 0
    for piece in pieces:  # each begins at the latest where the one before ended, blanks aside
        begins = text.find(piece, max(0, place - len(piece) + 1))  # and ends after it
        assert begins >= 0
        assert text[place:begins].strip() == "" or begins < place
        place = begins + len(piece)
    assert text[place:].strip() == ""


def test_names_of_stored_models_tell_how_texts_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    assert stored_name("bge-small-en-v1.5-int8") == "bge-small-en-v1.5-int8/1"
    monkeypatch.setattr(texts, "RECIPE", "2")
    assert stored_name("x") == "x/2"
