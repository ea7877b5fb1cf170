"""What closets lift, and that it reaches the order of results."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memweb.memories.kinds import Kind
from memweb.memories.models import Drawer
from search.closets.ranking import RANK_BOOSTS, closet_boosts
from search.closets.upkeep import ClosetKeeper
from search.fusion import ranker
from search.fusion.question import Term, read_question
from search.keyword.rows import Key
from search.query import parse
from search.vectors import embedders, embedding
from search.vectors.indexer import Indexer
from search.vectors.nearest import register_broad_index
from tests.embedders import FakeEmbedder
from tests.factories import make_drawer, make_observation, make_session, moment
from tests.search.searching import search_for

pytestmark = pytest.mark.django_db


def terms(text: str) -> tuple[Term, ...]:
    question = read_question(parse(text).tree)
    assert question is not None
    return question.terms


def boosts(text: str, drawers: list[Drawer], *, near: float = 0.3, **options: Any) -> dict[Key, float]:
    options = {"embedder": "fake", "is_weak": lambda similarity: similarity < near, **options}
    vector = FakeEmbedder().embed_query(text).vectors[0]
    return closet_boosts(vector, terms(text), [(Kind.DRAWER, one.pk) for one in drawers], **options)


def talk(name: str, *texts: str) -> list[Drawer]:
    session = make_session(name)
    return [make_drawer(text, session=session, created_at=moment(place)) for place, text in enumerate(texts)]


def keep() -> None:
    assert ClosetKeeper(FakeEmbedder()).run().is_complete


def test_the_nearest_line_lifts_what_it_points_at_most() -> None:
    near = talk("near", "the walnut tree", "an old harbour")
    other = talk("other", "a walnut cake with sugar, cream, butter and flour")
    keep()
    assert boosts("walnut tree harbour", [*near, *other]) == {
        (Kind.DRAWER, near[0].pk): 0.40,
        (Kind.DRAWER, near[1].pk): 0.40,
        (Kind.DRAWER, other[0].pk): 0.25,
    }


def test_boosts_go_by_rank_and_end_after_some_lines() -> None:
    drawers = [talk(f"talk {number}", "walnut " + "filler " * number)[0] for number in range(8)]
    keep()
    found = boosts("walnut", drawers)
    assert sorted(found.values(), reverse=True) == list(RANK_BOOSTS)
    assert sorted(boosts("walnut", drawers, limit=2).values(), reverse=True) == [0.40, 0.25]


def test_a_drawer_is_lifted_once_by_its_best_line() -> None:
    [drawer] = talk("notes", "# Walnut trees\nThe walnut trees need water.")
    keep()
    assert boosts("walnut trees", [drawer]) == {(Kind.DRAWER, drawer.pk): 0.40}


def test_lines_that_are_far_and_hold_no_term_lift_nothing() -> None:
    drawers = talk("talk", "the walnut tree")
    keep()
    assert boosts("submarine", drawers) == {}
    assert boosts("walnut", drawers, near=2.0) == {(Kind.DRAWER, drawers[0].pk): 0.40}


def test_only_candidates_are_lifted_and_ranks_are_theirs() -> None:
    [best] = talk("best", "walnut")
    [other, beside] = talk("other", "walnut cake", "coffee")
    keep()
    assert boosts("walnut", [other]) == {(Kind.DRAWER, other.pk): 0.40}
    assert boosts("walnut", []) == {}
    assert set(boosts("walnut", [best, other, beside])) == {(Kind.DRAWER, one.pk) for one in (best, other, beside)}


def test_lines_of_another_model_are_not_compared() -> None:
    drawers = talk("talk", "walnut")
    keep()
    assert boosts("walnut", drawers, embedder="other") == {}
    ClosetKeeper(FakeEmbedder(dimension=8)).run()
    assert boosts("walnut", drawers) != {}  # the same name, so these are still its lines


def test_two_statements_suffice() -> None:
    drawers = [one for number in range(30) for one in talk(f"talk {number}", f"walnut {number}", "more")]
    keep()
    with CaptureQueriesContext(connection) as captured:
        assert boosts("walnut", drawers)
    assert len(captured) == 2


def test_missing_tables_cost_the_boost_only() -> None:
    drawers = talk("talk", "walnut")
    keep()
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE search_closetpointer RENAME TO gone")
        try:
            assert boosts("walnut", drawers) == {}
        finally:
            cursor.execute("ALTER TABLE gone RENAME TO search_closetpointer")


@pytest.fixture
def embed(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Make the fake embedder the chosen one; called, it embeds all memories and makes their closets."""
    embedder = FakeEmbedder()
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(embedders, "load_chosen", lambda: embedder)
    monkeypatch.setattr(embedders, "chosen_name", lambda: embedder.name)
    monkeypatch.setattr(embedding, "_loaded", {})
    register_broad_index(None)

    def make() -> None:
        Indexer(embedder).run()
        keep()

    yield make
    register_broad_index(None)


@pytest.mark.parametrize("fusion", ["weights", "ranks"])
def test_closets_reach_the_order_of_results(
    embed: Callable[[], None], settings: Any, monkeypatch: pytest.MonkeyPatch, fusion: str
) -> None:
    settings.FUSION = fusion
    # The last one of each talk is the same, so that nothing but their closets tells them apart.
    lifted = talk("garden", "the walnut tree garden", *["."] * 4, "It is seven metres.")
    other = talk("kitchen", "the copper kettle", *["."] * 4, "It is seven metres.")
    embed()
    ids = [lifted[-1].pk, other[-1].pk]

    def order() -> list[int]:
        hits = search_for("metres walnut tree garden", mode="hybrid").hits
        return [hit.memory.pk for hit in hits if hit.memory.pk in ids]

    with_closets = order()
    monkeypatch.setattr(ranker, "CLOSET_WEIGHT", 0.0)
    without = order()
    # Equal scores: the newest id stands first, unless its closet lifts the other.
    assert without == list(reversed(ids))
    assert with_closets == ids


def test_the_boost_is_explained(embed: Callable[[], None]) -> None:
    [drawer] = talk("garden", "the walnut tree")
    make_observation("walnut")
    embed()
    found = {str(hit.ref): hit.explain.closet_boost for hit in search_for("walnut", mode="hybrid").hits}
    assert found[str(drawer.ref)] == 0.40
    assert [boost for ref, boost in found.items() if ref.startswith("o")] == [None]
    assert search_for("walnut", mode="keyword").hits[0].explain.closet_boost is None


def test_closets_are_never_results(embed: Callable[[], None]) -> None:
    drawers = talk("garden", "# Walnut trees", "They need water.", "They grow slowly.")
    embed()
    for mode in ("auto", "semantic", "hybrid", "keyword"):
        result = search_for("walnut", mode=mode)
        assert {hit.ref for hit in result.hits} <= {one.ref for one in drawers}
