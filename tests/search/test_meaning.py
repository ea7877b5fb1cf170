"""Search by meaning: what takes part when, what is required of every hit, and what happens when vectors fail."""

import threading
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from search import orchestrator
from search.orchestrator import SearchOrchestrator
from search.request import SearchRequest
from search.results import SearchResult
from search.strategies import chroma
from search.vectors import embedders, embedding
from search.vectors.embedding import EmbedderUnavailable
from search.vectors.indexer import Indexer
from search.vectors.nearest import register_broad_index
from tests.embedders import FakeEmbedder
from tests.factories import make_drawer, make_observation, make_session, moment
from tests.search.searching import search_for, shown_refs

pytestmark = pytest.mark.django_db

Embed = Callable[[], None]


@pytest.fixture
def embed(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Any) -> Iterator[Embed]:
    """Make the fake embedder the chosen one; called, it embeds all memories."""
    embedder = FakeEmbedder()
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(embedders, "load_chosen", lambda: embedder)
    monkeypatch.setattr(embedders, "chosen_name", lambda: embedder.name)
    monkeypatch.setattr(embedding, "_loaded", {})
    register_broad_index(None)
    yield lambda: Indexer(embedder).run()
    register_broad_index(None)


def refs(result: SearchResult) -> list[str]:
    return [str(hit.ref) for hit in result.hits]


def test_a_memory_without_any_of_the_words_is_found_by_its_meaning(embed: Embed) -> None:
    # The fake embedder cuts words after eight letters, so these two are one word to it and none to the word index.
    near = make_observation("authenticate")
    make_observation("database schema")
    embed()
    result = search_for("authentiXXXX", mode="hybrid")
    assert refs(result)[0] == str(near.ref)
    assert (result.strategy, result.fallback) == ("hybrid", None)
    [hit] = [hit for hit in result.hits if hit.ref == near.ref]
    assert (hit.explain.keyword_rank, hit.explain.vector_rank, hit.explain.matched_via) == (None, 1, "meaning")
    assert hit.explain.similarity is not None and hit.explain.distance == round(1 - hit.explain.similarity, 4)


def test_all_that_has_the_words_is_found_whatever_its_vector(embed: Embed) -> None:
    known = make_observation("rate limit")
    embed()
    unknown = make_observation("rate limit of the other service")
    result = search_for("rate limit")
    assert {str(known.ref), str(unknown.ref)} <= set(refs(result))
    assert result.total == 2
    assert result.notes == ("1 of 2 memories are embedded so far; the others are found by their words.",)


@pytest.mark.parametrize("mode", ["auto", "hybrid", "semantic"])
@pytest.mark.parametrize(
    "required", ["project:wanted", "-staging", '"of the api"', "after:2026-01-20", "kind:drawer", "type:bugfix"]
)
def test_filters_phrases_and_exclusions_hold_for_what_meaning_finds(embed: Embed, mode: str, required: str) -> None:
    wanted = make_observation("timeout of the api", project="wanted", type="bugfix")
    drawer = make_drawer("timeout of the api", project="wanted")
    unwanted = make_observation("timeout staging", project="other", type="feature", created_at=moment(-60 * 24 * 30))
    embed()
    shown = refs(search_for(f"timeout {required}", mode=mode))
    assert str(unwanted.ref) not in shown
    assert str(drawer.ref if required == "kind:drawer" else wanted.ref) in shown


def test_a_small_project_is_never_starved(embed: Embed) -> None:
    for number in range(300):
        make_observation(f"connection pool {number}", project="big")
    small = [make_observation(f"swimming pool {number}", project="small") for number in range(5)]
    embed()
    result = search_for("connection pool", project="small", mode="semantic")
    assert sorted(refs(result)) == sorted(str(one.ref) for one in small)


def test_a_filter_that_leaves_many_is_answered_whole_however_far_its_memories_are(
    embed: Embed, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(300):
        make_observation(f"connection pool {number}", project="big")
    far = [make_observation(f"swimming pool {number}", project="small") for number in range(20)]
    embed()
    monkeypatch.setattr(chroma, "COMPARED", 3)
    for fetched in (10_000, 100):
        monkeypatch.setattr(chroma, "FETCHED", fetched)
        result = search_for("connection pool", project="small", mode="semantic", limit=50)
        assert sorted(refs(result)) == sorted(str(one.ref) for one in far)


def test_hidden_memories_stay_hidden(embed: Embed) -> None:
    shown = make_observation("secret plan")
    hidden = [make_observation("secret plan", state=state) for state in ("archived", "trashed")]
    embed()
    for mode in ("auto", "semantic", "hybrid"):
        assert refs(search_for("secret plan", mode=mode)) == [str(shown.ref)]
    assert str(hidden[0].ref) in refs(search_for("secret plan is:archived", mode="semantic"))


def test_a_removed_memory_is_not_shown_although_its_vector_is_still_there(embed: Embed) -> None:
    kept, gone = make_observation("plan b"), make_observation("plan b again")
    embed()
    gone.delete()
    for mode in ("auto", "semantic"):
        assert refs(search_for("plan b", mode=mode)) == [str(kept.ref)]


def test_neighbours_in_a_session_lift_a_drawer(embed: Embed) -> None:
    session = make_session("talk")
    make_drawer("Which port does staging use?", session=session, created_at=moment(1))
    answer = make_drawer("It is 7443.", session=session, created_at=moment(2))
    make_drawer("Let us have lunch.", session=make_session("other"), created_at=moment(3))
    embed()
    assert refs(search_for("staging port", mode="hybrid"))[:2] == [f"d{answer.pk - 1}", str(answer.ref)]


def test_a_drawer_is_shown_with_what_stands_beside_it(reader: Client) -> None:
    session = make_session("talk")
    for minute, text in enumerate(["Which port does staging use?", "It is 7443.", "Thank you!", "Bye."]):
        make_drawer(text, session=session, created_at=moment(minute))
    make_drawer("7443 again", session=make_session("other"))
    [hit] = [hit for hit in search_for("7443").hits if hit.title == "It is 7443."]
    assert (hit.before, hit.after) == ("Which port does staging use?", "Thank you!")
    shown = BeautifulSoup(reader.get("/", {"q": "7443"}).content, "html.parser").select(".hit-beside")
    assert [one.text for one in shown] == ["Before: Which port does staging use?", "After: Thank you!"]


def test_hidden_neighbours_are_not_shown() -> None:
    session = make_session("talk")
    make_drawer("a secret", session=session, created_at=moment(1), state="trashed")
    make_drawer("It is 7443.", session=session, created_at=moment(2))
    make_drawer("noise", session=session, created_at=moment(3), is_noise=True)
    [hit] = search_for("7443").hits
    assert (hit.before, hit.after) == ("", "")


def test_keyword_mode_asks_no_vectors(embed: Embed) -> None:
    make_observation("rate limit")
    embed()
    with CaptureQueriesContext(connection) as captured:
        result = search_for("rate limit", mode="keyword")
    assert result.strategy == "sqlite"
    assert not any("search_embedding" in query["sql"] for query in captured)


@pytest.mark.parametrize(("fusion", "weights"), [("ranks", (0.4, 0.2, 0.4)), ("weights", (0.6, 0.4, 0.0))])
def test_other_ways_of_fusion_find_the_same(
    embed: Embed, settings: Any, fusion: str, weights: tuple[float, ...]
) -> None:
    settings.FUSION, settings.FUSION_WEIGHTS = fusion, weights
    best = make_observation("connection pool exhausted")
    make_observation("pool of swimmers")
    embed()
    result = search_for("connection pool")
    assert refs(result)[0] == str(best.ref)
    assert (result.hits[0].explain.max_similarity is None) is (weights[2] == 0)


def test_order_by_time_lists_what_has_the_words(embed: Embed) -> None:
    old, new = make_observation("rate limit"), make_observation("rate limit", created_at=moment(10))
    make_observation("something else")
    embed()
    result = search_for("rate limit", order="newest")
    assert (refs(result), result.strategy) == ([str(new.ref), str(old.ref)], "sqlite")


NO_MEANING = "In order of time what has all the words is listed; meaning takes no part."


@pytest.mark.parametrize("order", ["newest", "oldest"])
@pytest.mark.parametrize(
    ("mode", "query", "notes"),
    [
        ("auto", "rate limit", ()),
        ("keyword", "rate limit", ()),
        ("semantic", "rate limit", (NO_MEANING,)),
        ("hybrid", "rate limit", (NO_MEANING,)),
        ("semantic", "type:bugfix", ()),
        ("hybrid", "-draft", ()),
    ],
)
def test_order_by_time_says_that_meaning_takes_no_part(
    embed: Embed, order: str, mode: str, query: str, notes: tuple[str, ...]
) -> None:
    make_observation("rate limit", type="bugfix")
    make_observation("speed bound", type="bugfix")
    embed()
    result = search_for(query, mode=mode, order=order)
    assert (result.strategy, result.fallback, result.notes) == ("sqlite", None, notes)
    assert result.explanation == search_for(query, mode="keyword").explanation


@pytest.mark.parametrize(
    ("query", "mode", "strategy", "explanation"),
    [
        ("rate limit", "semantic", "chroma", "memories that come near “rate limit” in meaning"),
        ("rate OR bound", "semantic", "chroma", "memories that come near “rate bound” in meaning"),
        ("rate type:bugfix", "semantic", "chroma", "memories that come near “rate” in meaning, of type bugfix"),
        (
            '"rate limit"',
            "semantic",
            "chroma",
            "memories that come near “rate limit” in meaning, with the phrase “rate limit”",
        ),
        ('limit "no such phrase"', "semantic", "chroma", "memories that come near “limit no such phrase” in meaning"),
        ("rate type:bugfix", "hybrid", "hybrid", "memories with “rate”, of type bugfix"),
        ("rate type:decision", "semantic", "sqlite", "memories with “rate”, of type decision"),
        ("type:bugfix", "semantic", "sqlite", "memories of type bugfix"),
        ("-rate", "semantic", "sqlite", "memories without “rate”"),
        ("", "semantic", "sqlite", "all memories"),
    ],
)
def test_explanation_is_of_what_answered(embed: Embed, query: str, mode: str, strategy: str, explanation: str) -> None:
    make_observation("rate limit", type="bugfix")
    make_observation("speed bound", type="bugfix")
    embed()
    result = search_for(query, mode=mode)
    assert (result.strategy, result.explanation) == (strategy, explanation)


def test_explanation_is_of_words_when_meaning_fails(embed: Embed) -> None:
    make_observation("rate limit")
    result = search_for("rate limit", mode="semantic")
    assert (result.strategy, result.explanation) == ("sqlite", "memories with “rate” and “limit”")


@pytest.mark.parametrize(("query", "way"), [("rate", ", by words and meaning"), ("-rate", ""), ("type:bugfix", "")])
def test_the_page_says_by_what_it_searched_where_there_are_words(
    embed: Embed, reader: Client, query: str, way: str
) -> None:
    make_observation("rate limit", type="bugfix")
    make_observation("speed bound", type="bugfix")
    embed()
    [took] = BeautifulSoup(reader.get("/", {"q": query}).content, "html.parser").select(".results-took")
    assert took.text.partition(" ms")[2].strip() == way.strip()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("/?q=rate+OR+bound&mode=semantic", "2 memories about “rate bound”"),
        ("/?q=rate+type:bugfix&mode=semantic", "2 bugfixes about “rate”"),
        ("/?q=rate&mode=semantic&order=newest", "1 memory with “rate”"),
        ("/?q=rate&mode=keyword", "1 memory with “rate”"),
        ("/?q=type:bugfix&mode=semantic", "2 bugfixes"),
    ],
)
def test_the_sentence_says_meaning_only_where_it_took_part(
    embed: Embed, reader: Client, address: str, sentence: str
) -> None:
    make_observation("rate limit", type="bugfix")
    make_observation("speed bound", type="bugfix")
    embed()
    page = BeautifulSoup(reader.get(address).content.decode(), "html.parser")
    [total] = page.select(".results-total")
    assert " ".join(total.text.split()) == sentence


def test_what_cannot_be_read_is_told_once(embed: Embed, reader: Client) -> None:
    make_observation("rate limit")
    embed()
    notices = BeautifulSoup(reader.get("/?q=🎉").content, "html.parser").select(".results .notice")
    assert [" ".join(one.text.split()) for one in notices] == [
        "There is no letter or digit in the search, so what is found by its meaning is chance."
    ]


def test_a_search_longer_than_the_model_reads_says_so(embed: Embed) -> None:
    found = make_observation("rate limit")
    embed()
    long = "rate " + " ".join(f"word{number}" for number in range(45))
    result = search_for(long, mode="hybrid")
    assert result.hits[0].ref == found.ref
    assert result.notes == ("fake reads only the beginning of so long a search; its words all count.",)


def test_before_anything_is_embedded_words_answer_and_it_is_said(embed: Embed) -> None:
    one = make_observation("rate limit")
    result = search_for("rate limit")
    assert refs(result) == [str(one.ref)]
    assert (result.strategy, result.used_chroma) == ("sqlite", False)
    assert result.fallback is not None
    assert result.fallback.reason == "no memory has been embedded yet, so only words were searched"


def test_without_an_embedder_words_answer_and_it_is_said(embed: Embed, monkeypatch: pytest.MonkeyPatch) -> None:
    one = make_observation("rate limit")
    embed()

    def fail() -> None:
        raise EmbedderUnavailable("the model file is missing")

    monkeypatch.setattr(embedding, "_loaded", {})
    monkeypatch.setattr(embedders, "load_chosen", fail)
    for mode in ("auto", "hybrid", "semantic"):
        result = search_for("rate limit", mode=mode)
        assert refs(result) == [str(one.ref)]
        assert result.fallback is not None
        assert result.fallback.reason == "meaning cannot be searched now: the model file is missing"


def test_a_model_that_is_being_loaded_is_not_waited_for(embed: Embed, monkeypatch: pytest.MonkeyPatch) -> None:
    one = make_observation("rate limit")
    embed()
    is_loaded, loads = threading.Event(), []

    def load() -> FakeEmbedder:
        loads.append(threading.current_thread().name)
        is_loaded.wait(30)
        return FakeEmbedder()

    monkeypatch.setattr(embedding, "_loaded", {})
    monkeypatch.setattr(embedders, "load_chosen", load)
    embedding.load_in_background(0.02)
    try:
        for _ in range(2):
            result = search_for("rate limit")
            assert refs(result) == [str(one.ref)]
            assert result.fallback is not None
            assert result.fallback.reason == "meaning cannot be searched now: the model fake is still being loaded"
        is_loaded.set()
        embedding.load_in_background(30)
        assert search_for("rate limit").fallback is None
        assert loads == ["load fake"]
    finally:
        is_loaded.set()
        embedding.load_in_background(None)


def test_a_model_that_could_not_be_loaded_is_tried_again(embed: Embed, monkeypatch: pytest.MonkeyPatch) -> None:
    make_observation("rate limit")
    embed()
    answers = iter([EmbedderUnavailable("the model file is missing"), FakeEmbedder()])

    def load() -> FakeEmbedder:
        answer = next(answers)
        if isinstance(answer, EmbedderUnavailable):
            raise answer
        return answer

    monkeypatch.setattr(embedding, "_loaded", {})
    monkeypatch.setattr(embedders, "load_chosen", load)
    embedding.load_in_background(30)
    try:
        fallback = search_for("rate limit").fallback
        assert fallback and fallback.reason == "meaning cannot be searched now: the model file is missing"
        assert search_for("rate limit").fallback is None
    finally:
        embedding.load_in_background(None)


def test_command_tells_once_what_it_does_without(
    embed: Embed, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make_observation("rate limit")
    embed()

    def fail() -> None:
        raise EmbedderUnavailable("the model file is missing")

    monkeypatch.setattr(embedding, "_loaded", {})
    monkeypatch.setattr(embedders, "load_chosen", fail)
    out = StringIO()
    call_command("search", "rate", stdout=out)
    told = " ".join(out.getvalue().split())
    assert told.count("the model file is missing") == 1
    assert caplog.messages == []
    monkeypatch.setattr(orchestrator, "_logged", [])
    for _ in range(3):
        assert search_for("rate").fallback is not None
    assert caplog.messages == ["search by meaning is not possible: the model file is missing"]


def test_with_embedding_switched_off_nothing_is_said_unless_asked_for() -> None:
    make_observation("rate limit")
    assert search_for("rate limit").fallback is None
    asked = search_for("rate limit", mode="semantic").fallback
    assert asked is not None and asked.source == "chroma"


def test_a_title_in_quotes_that_nothing_holds_is_looked_for_by_its_words(embed: Embed) -> None:
    book = make_observation("reading books about nothing in particular")
    make_observation("deploy")
    embed()
    result = search_for('who was reading "nothing particular at all"')
    assert refs(result)[0] == str(book.ref)
    assert result.is_relaxed


def test_max_distance_bounds_what_meaning_finds(embed: Embed) -> None:
    same, far = make_observation("connection pool"), make_observation("pool at noon")
    embed()
    assert set(refs(search_for("connection pool", mode="semantic", max_distance="2"))) == {str(same.ref), str(far.ref)}
    assert refs(search_for("connection pool", mode="semantic", max_distance="0.2")) == [str(same.ref)]


def test_pages_of_a_fused_ranking_show_each_hit_once(embed: Embed) -> None:
    for number in range(57):
        make_observation(f"rate limit {number}")
    embed()
    seen: list[str] = []
    cursor = ""
    while True:
        result = search_for("rate limit", cursor=cursor, limit=10)
        seen += refs(result)
        make_observation("rate limit, written meanwhile")
        if not result.next:
            break
        cursor = result.next
    assert len(seen) == len(set(seen)) == 57


def test_find_by_ranks_by_nearness_and_loses_nothing(embed: Embed) -> None:
    near = make_observation("gotcha", concepts=["gotcha"])
    far = make_observation("unrelated words here", concepts=["gotcha"])
    make_observation("gotcha", concepts=["other"])
    embed()
    unknown = make_observation("not embedded yet", concepts=["gotcha"])
    result = SearchOrchestrator().find_by_concept("gotcha")
    assert refs(result) == [str(near.ref), str(far.ref), str(unknown.ref)]
    assert result.strategy == "hybrid"


def test_find_by_falls_back_to_the_newest(embed: Embed, monkeypatch: pytest.MonkeyPatch) -> None:
    old = make_observation("gotcha", concepts=["gotcha"])
    new = make_observation("gotcha", concepts=["gotcha"], created_at=moment(5))
    result = SearchOrchestrator().find_by_concept("gotcha")
    assert refs(result) == [str(new.ref), str(old.ref)]
    assert result.fallback is not None


def test_find_by_pages(embed: Embed) -> None:
    all_refs = {str(make_observation(f"gotcha {number}", concepts=["gotcha"]).ref) for number in range(7)}
    embed()
    first = SearchOrchestrator().find_by_concept("gotcha", SearchRequest(limit=4))
    assert first.next is not None
    second = SearchOrchestrator().find_by_concept("gotcha", SearchRequest(limit=4, cursor=first.next))
    assert {*refs(first), *refs(second)} == all_refs
    assert second.next is None


def test_the_page_offers_the_ways_to_search_and_marks_the_present_one(embed: Embed, reader: Client) -> None:
    make_observation("rate limit")
    embed()
    html = reader.get("/", {"q": "rate limit", "mode": "semantic"}).content
    page = BeautifulSoup(html, "html.parser")
    modes = page.select('nav[aria-label="Search by"] a')
    assert [(one.text, one.get("aria-current")) for one in modes] == [
        ("Auto", None),
        ("Words", None),
        ("Meaning", "true"),
        ("Both", None),
    ]
    assert [one["href"] for one in modes] == [
        "/?q=rate+limit&order=relevance",
        "/?q=rate+limit&order=relevance&mode=keyword",
        "/?q=rate+limit&order=relevance&mode=semantic",
        "/?q=rate+limit&order=relevance&mode=hybrid",
    ]
    assert len(shown_refs(html)) == 1


def test_drawers_of_a_file_follow_each_other_without_a_session(embed: Embed) -> None:
    one = make_drawer("The staging port is below.", session=None, file="notes.md", chunk_index=0)
    two = make_drawer("7443", session=None, file="notes.md", chunk_index=1)
    embed()
    assert refs(search_for("staging port", mode="hybrid"))[:2] == [str(one.ref), str(two.ref)]
