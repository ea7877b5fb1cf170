"""The explanation of a hit: its parts add up to its score, and words give what BM25 says."""

from dataclasses import replace

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from search.results import Hit
from search.why_views import why_view
from tests.factories import make_observation
from tests.search.searching import search_for

pytestmark = pytest.mark.django_db


def hits(query: str, **params: str) -> list[Hit]:
    found = list(search_for(query, **params).hits)
    assert found
    return found


@pytest.mark.parametrize(
    "query", ["login", "login timeout", '"login timeout"', "parseHttpResponse login", "log*", "login timeout zebra"]
)
def test_parts_add_up_to_the_score_and_words_to_bm25(query: str) -> None:
    make_observation("Login timeout", "The login runs into a timeout in parseHttpResponse.")
    make_observation("Something else", "mentions the login once", concepts=["timeout"])
    for hit in hits(query, mode="keyword"):
        assert sum(value for _, value in hit.explain.parts) == pytest.approx(hit.score)
        assert sum(value for _, value in hit.explain.terms) == pytest.approx(hit.explain.bm25, abs=1e-4)
        assert {name for name, _ in hit.explain.terms} == set(hit.explain.words)


def test_numbers_that_are_shown_add_up() -> None:
    make_observation("Login timeout")
    [hit] = hits("login", mode="keyword")
    explain = replace(hit.explain, parts=(("BM25", 14.904), ("bonuses", 7.454), ("missing words", -1.001)))
    why = why_view(replace(hit, score=21.357, explain=explain))
    assert why is not None
    assert why.score == "21.35"
    assert [part.number for part in why.parts] == ["14.90", "7.45", "−1.00"]


def test_exact_phrase_and_missing_word_have_parts_of_their_own() -> None:
    make_observation("Login timeout", "")
    [hit] = hits("login timeout", mode="keyword")
    assert [name for name, _ in hit.explain.parts] == ["BM25", "bonuses"]
    [hit] = hits("login zebra", mode="keyword")
    assert [name for name, _ in hit.explain.parts] == ["BM25", "missing words"]
    assert hit.explain.parts[1][1] < 0


def test_page_shows_bar_and_numbers(reader: Client) -> None:
    make_observation("Login <b>timeout</b>", "a login")
    page = BeautifulSoup(reader.get("/?q=login+timeout+%3Cb%3E&mode=keyword").content, "html.parser")
    why = page.select_one(".why")
    assert why is not None
    score = why.select_one(".why-score strong")
    bar = why.select_one(".why-bar")
    assert score is not None
    assert bar is not None
    assert str(bar["aria-label"]).startswith(f"Score {score.get_text()}: BM25 ")
    widths = [float(str(part["width"])) for part in bar.select("rect")]
    assert sum(widths) == pytest.approx(240, abs=0.2)
    terms = [one.get_text(" ", strip=True).split(" ")[0] for one in why.select(".why-term")]
    assert terms[:2] == ["login", "timeout"]


def test_hit_that_was_not_ranked_has_no_score(reader: Client) -> None:
    make_observation("Login")
    page = BeautifulSoup(reader.get("/").content, "html.parser")
    assert page.select(".why") == []
