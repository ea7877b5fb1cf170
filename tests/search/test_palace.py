"""search_memories answers MemPalace's callers in the way they know."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection

from memweb.memories.models import Drawer
from search.closets.upkeep import ClosetKeeper
from search.palace import search_memories
from search.vectors import embedders, embedding
from search.vectors.embedding import EmbedderUnavailable
from search.vectors.indexer import Indexer
from search.vectors.nearest import register_broad_index
from tests.embedders import FakeEmbedder
from tests.factories import make_drawer, make_observation, make_prompt, make_session, moment

pytestmark = pytest.mark.django_db

Embed = Callable[[], None]
KEYS = [
    "text",
    "wing",
    "room",
    "source_file",
    "created_at",
    "similarity",
    "distance",
    "effective_distance",
    "closet_boost",
    "matched_via",
    "bm25_score",
    "ref",
    "score",
]


@pytest.fixture
def embed(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> Iterator[Embed]:
    """Make the fake embedder the chosen one; called, it embeds all memories."""
    embedder = FakeEmbedder()
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(embedders, "load_chosen", lambda: embedder)
    monkeypatch.setattr(embedders, "chosen_name", lambda: embedder.name)
    monkeypatch.setattr(embedding, "_loaded", {})
    register_broad_index(None)

    def make() -> None:
        Indexer(embedder).run()

    yield make
    register_broad_index(None)


def refs(answer: dict[str, Any]) -> list[str]:
    assert "error" not in answer
    return [one["ref"] for one in answer["results"]]


def names(*drawers: Drawer) -> list[str]:
    return [str(one.ref) for one in drawers]


def test_the_answer_has_the_names_that_callers_know(embed: Embed) -> None:
    drawer = make_drawer(
        "the rate limit is forty", project="api", room="limits", file="docs/limits.md", created_at=moment(1)
    )
    embed()
    answer = search_memories("rate limit", wing="api", room="limits")
    assert list(answer) == ["query", "filters", "total_before_filter", "results"]
    assert answer["query"] == "rate limit"
    assert answer["filters"] == {"wing": "api", "room": "limits"}
    assert answer["total_before_filter"] == 1
    [one] = answer["results"]
    assert list(one) == KEYS
    assert one["text"] == drawer.text
    assert (one["wing"], one["room"], one["source_file"]) == ("api", "limits", "limits.md")
    assert (one["created_at"], one["ref"]) == ("2026-01-20T09:01:00.000Z", str(drawer.ref))
    assert one["similarity"] == round(1 - one["distance"], 3)
    assert (one["closet_boost"], one["effective_distance"], one["matched_via"]) == (0.0, one["distance"], "drawer")
    assert one["bm25_score"] > 0
    assert one["score"] == 0.0  # of a single candidate nothing is above the least


def test_what_is_not_known_is_named_as_mempalace_does(embed: Embed) -> None:
    make_drawer("rate limit", project="", created_at=None)
    embed()
    [one] = search_memories("rate limit")["results"]
    assert [one[key] for key in ("wing", "room", "source_file", "created_at")] == ["unknown", "unknown", "?", "unknown"]


def test_only_drawers_are_found(embed: Embed) -> None:
    drawer = make_drawer("rate limit")
    make_observation("rate limit")
    make_prompt("rate limit")
    embed()
    for options in ({}, {"candidate_strategy": "union"}, {"vector_disabled": True}):
        assert refs(search_memories("rate limit", **options)) == names(drawer)


def test_wing_and_room_are_exact(embed: Embed) -> None:
    wanted = make_drawer("rate limit", project="a, b", room="x")
    make_drawer("rate limit", project="a", room="x")
    make_drawer("rate limit", project="a, b", room="y")
    embed()
    assert refs(search_memories("rate limit", wing="a, b", room="x")) == names(wanted)
    assert search_memories("rate limit", wing="nobody")["results"] == []
    assert len(search_memories("rate limit", wing=" ", room="")["results"]) == 3


def test_so_many_results_as_asked_for(embed: Embed) -> None:
    for number in range(120):
        make_drawer(f"rate limit {number}")
    embed()
    for strategy in ("vector", "union"):
        for wanted in (1, 7, 90):
            found = refs(search_memories("rate limit", n_results=wanted, candidate_strategy=strategy))
            assert len(found) == len(set(found)) == wanted


def test_union_also_finds_what_has_the_words_and_comes_not_near(embed: Embed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("search.fusion.ranker.POOL", 3)
    near = [make_drawer("walnut") for _ in range(3)]
    far = make_drawer("walnut among many other things that nobody asked for at all in the whole wide world")
    embed()
    assert sorted(refs(search_memories("walnut", n_results=9))) == names(*near)
    union = search_memories("walnut", n_results=9, candidate_strategy="union")["results"]
    assert sorted(one["ref"] for one in union) == names(*near, far)
    assert {one["ref"]: one["matched_via"] for one in union}[str(far.ref)] == "bm25_backend"


def test_words_rank_what_meaning_finds(embed: Embed) -> None:
    # Both are the same to the fake embedder, which cuts words after eight letters.
    make_drawer("authenticity")
    wanted = make_drawer("authentication")
    make_drawer("authentically")
    embed()
    assert refs(search_memories("authentication"))[0] == str(wanted.ref)


def test_max_distance_bounds_every_hit_and_zero_does_not(embed: Embed) -> None:
    near = make_drawer("walnut tree")
    far = make_drawer("walnut among many other things that nobody asked for at all in the whole wide world")
    embed()
    for strategy in ("vector", "union"):
        every = search_memories("walnut tree", candidate_strategy=strategy)["results"]
        assert {one["ref"] for one in every} == set(names(near, far))
        for unlimited in (0.0, 0, None):
            answer = search_memories("walnut tree", max_distance=unlimited, candidate_strategy=strategy)
            assert answer["results"] == every
        assert refs(search_memories("walnut tree", max_distance=0.3, candidate_strategy=strategy)) == names(near)
        assert all(one["distance"] <= 2 for one in every)


def test_without_vectors_words_answer(embed: Embed) -> None:
    drawer = make_drawer("rate limit")
    embed()
    answer = search_memories("rate limit", vector_disabled=True, max_distance=0.1)
    assert (answer["fallback"], answer["fallback_reason"]) == ("bm25_only_via_sqlite", "vector_search_disabled")
    [one] = answer["results"]
    assert (one["ref"], one["matched_via"]) == (str(drawer.ref), "bm25_sqlite")
    assert (one["similarity"], one["distance"], one["effective_distance"]) == (None, None, None)
    assert one["bm25_score"] > 0


@pytest.mark.parametrize("strategy", ["vector", "union"])
def test_vectors_that_cannot_be_used_cost_nothing_but_meaning(monkeypatch: pytest.MonkeyPatch, strategy: str) -> None:
    drawer = make_drawer("rate limit")

    def fail() -> None:
        raise EmbedderUnavailable("the model is missing")

    monkeypatch.setattr(embedders, "load_chosen", fail)
    answer = search_memories("rate limit", candidate_strategy=strategy)
    assert refs(answer) == names(drawer)
    assert answer["fallback"] == "bm25_only_via_sqlite"
    assert answer["fallback_reason"] == "no memory has been embedded yet, so only words were searched"


def test_closets_are_told(embed: Embed) -> None:
    session = make_session("talk")
    make_drawer("the walnut tree", session=session, created_at=moment(1))
    embed()
    assert ClosetKeeper(FakeEmbedder()).run().is_complete
    [one] = search_memories("walnut")["results"]
    assert (one["matched_via"], one["closet_boost"]) == ("drawer+closet", 0.4)
    assert one["effective_distance"] == round(max(0.0, one["distance"] - 0.4), 4)
    assert one["similarity"] == round(1 - one["distance"], 3)


@pytest.mark.parametrize(
    "query",
    [
        '"rate" limit',
        "rate limit -staging",
        "rate limit kind:prompt",
        "rate OR limit",
        "(rate limit",
        "rate* limit after:2027",
        "rate limit | ) AND NOT",
        "rate limit\x00\ud800",
        "rate limit " * 2000,
    ],
)
def test_signs_of_the_query_language_are_plain_text(embed: Embed, query: str) -> None:
    drawer = make_drawer("rate limit of staging")
    embed()
    for options in ({}, {"candidate_strategy": "union"}, {"vector_disabled": True}):
        answer = search_memories(query, **options)
        assert refs(answer) == names(drawer)
        assert answer["query"] == query


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"query": ""}, "query must be a non-empty string"),
        ({"query": " \n"}, "query must be a non-empty string"),
        ({"query": None}, "query must be a non-empty string"),
        ({"query": 7}, "query must be a non-empty string"),
        ({"wing": 7}, "wing must be a string"),
        ({"room": ["a"]}, "room must be a string"),
        ({"n_results": 0}, "n_results: “0” is not a whole number from 1 to 200"),
        ({"n_results": -1}, "n_results: “-1” is not a whole number from 1 to 200"),
        ({"n_results": 1000}, "n_results: “1000” is not a whole number from 1 to 200"),
        ({"n_results": "5"}, "n_results must be a whole number"),
        ({"n_results": True}, "n_results must be a whole number"),
        ({"max_distance": -0.5}, "max_distance: “-0.5” is not a cosine distance; use a number from 0 to 2"),
        ({"max_distance": 3}, "max_distance: “3” is not a cosine distance; use a number from 0 to 2"),
        (
            {"max_distance": float("nan")},
            "max_distance: “nan” is not a cosine distance; use a number from 0 to 2",
        ),
        ({"max_distance": "near"}, "max_distance must be a number"),
        ({"vector_disabled": "yes"}, "vector_disabled must be True or False"),
        (
            {"candidate_strategy": "both"},
            "candidate_strategy must be one of ('vector', 'union'), got 'both'",
        ),
        ({"candidate_strategy": []}, "candidate_strategy must be one of ('vector', 'union'), got []"),
    ],
)
def test_a_value_that_makes_no_sense_is_an_error_in_the_answer(values: dict[str, Any], message: str) -> None:
    make_drawer("rate limit")
    assert search_memories(**{"query": "rate limit", **values}) == {"error": message, "results": []}


def test_a_query_of_signs_alone_finds_nothing(embed: Embed) -> None:
    make_drawer("rate limit")
    embed()
    for query in ("?!", "|", "---", '""'):
        assert search_memories(query)["results"] == []


def test_a_database_that_fails_is_an_error_in_the_answer() -> None:
    make_drawer("rate limit")
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE memories_project RENAME TO gone")
        try:
            answer = search_memories("rate limit", wing="api")
        finally:
            cursor.execute("ALTER TABLE gone RENAME TO memories_project")
    assert answer["results"] == []
    assert answer["error"].startswith("Search error: ")
