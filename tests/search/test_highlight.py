"""Marks stand exactly on what matched, in the text as it was written; all else is escaped."""

from datetime import UTC
from itertools import pairwise

import pytest
from bs4 import BeautifulSoup
from hypothesis import given, settings
from hypothesis import strategies as st

from memweb.memories.kinds import Kind
from search.analysis import clean
from search.highlight import SNIPPET_LENGTH, Highlighter
from search.keyword.compiler import Compiler
from search.keyword.expression import phrases
from search.keyword.filters import FieldResolver
from search.request import SearchRequest
from tests.search.query.strategies import query_texts

pytestmark = pytest.mark.django_db


def highlighter(query: str) -> Highlighter:
    plan = Compiler(SearchRequest(query=query), FieldResolver(UTC)).plan(Kind.OBSERVATION)
    return Highlighter(phrases(plan.expression) if plan.expression else [])


def marks(html: str) -> list[str]:
    return [mark.get_text() for mark in BeautifulSoup(html, "html.parser").find_all("mark")]


# Query, text -> what is marked in it.
MARKED: list[tuple[str, str, list[str]]] = [
    # whole words, other forms, beginnings; never in the middle of a word
    ("cache ", "Cache the cached cache, not the precache", ["Cache", "cached", "cache"]),
    ("cach", "Cache the cached, not the precache", ["Cache", "cached"]),
    ('"rate limit"', "Rate limit; rate of limit; rate-limit", ["Rate limit", "rate-limit"]),
    ('"rate limit"', "rate\n  limit", ["rate\n  limit"]),
    ("rate limit ", "rate limit", ["rate", "limit"]),
    # a quoted word is marked as it is written, in any case, never in another form
    ('"run"', "Run running runs RUN run3 rerun", ["Run", "RUN"]),
    ('"running"', "run running runs", ["running"]),
    ('"test run"', "test runs, tests run, test run, testRun", ["test run", "testRun"]),
    ('"unlockwithbiometrics"', "unlockWithBiometrics unlockwithbiometrics", ["unlockwithbiometrics"]),
    ('"biometrics"', "unlockWithBiometrics", ["Biometrics"]),
    ('"run" OR test ', "running tests", ["tests"]),
    ('"run" run ', "run running", ["run", "running"]),
    ('"身份"', "修复了用户身份验证", ["身份"]),
    ("alpha -beta", "alpha beta", ["alpha"]),
    ("alpha OR beta ", "alpha beta gamma", ["alpha", "beta"]),
    ("type:bugfix", "bugfix", []),
    ("nothing ", "alpha", []),
    ("alpha ", "", []),
    # accents, ligatures, full width, decomposed forms: the original stays
    ("cafe ", "Café CAFÉ cafe\u0301", ["Café", "CAFÉ", "cafe\u0301"]),
    ("résumé ", "resume", ["resume"]),
    ("kosmos OR κοσμος ", "κόσμος", ["κόσμος"]),
    ("file ", "ﬁle", ["ﬁle"]),
    ("strasse ", "Straße", ["Straße"]),
    ("abc ", "ＡＢＣ", ["ＡＢＣ"]),
    ("naive ", "nai\u0308ve naïve", ["nai\u0308ve", "naïve"]),
    # identifiers
    ("biometrics ", "unlockWithBiometrics()", ["Biometrics"]),
    ("unlockWithBiometrics ", "call unlockWithBiometrics()", ["unlockWithBiometrics"]),
    ("refresh_token ", "refresh_token_rotation, refresh token", ["refresh_token", "refresh token"]),
    ("src/a.ts ", "see src/a.ts:42", ["src/a.ts"]),
    ("C++ ", "C++ and C#", ["C++"]),
    ("v10.6.3 ", "v10.6.3; v10.3.6", ["10.6.3"]),
    ("don't ", "don’t do it", ["don’t"]),
    ("3fa9c1e", "at 3fa9c1e07b2d", ["3fa9c1e07b2d"]),
    # scripts without blanks
    ("身份", "修复了用户身份验证", ["身份"]),
    ("用户身份", "修复了用户身份验证", ["用户身份"]),
    ("库", "数据库部署", ["库"]),
    ("天気", "東京の天気はどう", ["天気"]),
    ("끝말잇기", "오늘 끝말잇기 게임", ["끝말잇기"]),
    ("itgc", "重跑gen-itgc后", ["itgc"]),
    # symbols are found but nothing is marked that is not a word
    ("%", "100%", []),
]


@pytest.mark.parametrize(("query", "text", "marked"), MARKED)
def test_exactly_the_match_is_marked(query: str, text: str, marked: list[str]) -> None:
    html = highlighter(query).marked(text)
    assert marks(html) == marked
    assert BeautifulSoup(html, "html.parser").get_text() == text


HOSTILE = [
    "<script>alert('needle')</script>",
    "<img src=x onerror=needle>",
    "needle</mark><script>alert(1)</script>",
    "</li></ol><h1>needle",
    "needle & needle &amp; &lt;needle&gt;",
    "\"needle\" 'needle' `needle`",
    "<mark>needle</mark>",
    "{{ needle }} {% needle %}",
    "<!-- needle --> <![CDATA[needle]]>",
    "javascript:needle",
    "needle\u2028needle",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_text(text: str) -> None:
    found = highlighter("needle ")
    for html in (found.marked(text), found.snippet(text), found.snippet(text * 40)):
        soup = BeautifulSoup(html, "html.parser")
        assert {tag.name for tag in soup.find_all(True)} == {"mark"}
        assert set(marks(html)) == {"needle"}
        assert all(tag.attrs == {} for tag in soup.find_all(True))
    assert BeautifulSoup(found.marked(text), "html.parser").get_text() == clean(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mneedle\x1b[0m", "needle"),
        ("nee\u200bdle", "needle"),
        ("\u202eneedle\u202c", "needle"),
        ("a\x00needle\x07", "aneedle"),
        ("\x1b]8;;http://evil.example\x07needle\x1b]8;;\x07", "needle"),
        ("needle \ud800", "needle \ufffd"),
    ],
)
def test_control_characters_are_gone(text: str, shown: str) -> None:
    found = highlighter("needle")
    assert BeautifulSoup(found.marked(text), "html.parser").get_text() == shown
    assert BeautifulSoup(found.snippet(text), "html.parser").get_text() == shown


@settings(max_examples=150, deadline=None)
@given(query=query_texts, text=st.text(max_size=80) | query_texts)
def test_marks_never_change_the_text(query: str, text: str) -> None:
    found = highlighter(query)
    html = found.marked(text).replace("<mark>", "").replace("</mark>", "")
    assert html == Highlighter([]).marked(text)
    ranges = found.ranges(clean(text))
    assert all(0 <= one.start < one.end <= len(clean(text)) for one in ranges)
    assert all(one.end < other.start for one, other in pairwise(ranges))
    assert found.snippet(text).count("<mark>") == found.snippet(text).count("</mark>")


SNIPPET_TEXTS = {
    "short": "needle",
    "at the start": "needle " + "filler " * 200,
    "in the middle": "filler " * 100 + "needle " + "filler " * 100,
    "at the end": "filler " * 200 + "needle",
    "without blanks": "x" * 600 + " needle " + "x" * 600,
    "Chinese": "修" * 500 + "用户身份needle验证" + "修" * 500,
    "lines": "filler\n\n\t" * 100 + "needle\r\n" * 2 + "filler\n" * 100,
    "deep": "filler " * 2_500 + "needle",
    "many far apart": ("needle " + "filler " * 60) * 3 + "needle needle needle " + "filler " * 60,
}


@pytest.mark.parametrize("name", SNIPPET_TEXTS)
def test_snippet_shows_the_match(name: str) -> None:
    html = highlighter("needle ").snippet(SNIPPET_TEXTS[name])
    text = BeautifulSoup(html, "html.parser").get_text()
    assert "needle" in marks(html)
    assert len(text) <= SNIPPET_LENGTH + 4
    assert "\n" not in text
    whole = " ".join(SNIPPET_TEXTS[name].split())
    assert text.removeprefix("… ").removesuffix(" …") in whole
    assert text.startswith("… ") is not whole.startswith(text[:20])
    assert text.endswith(" …") is not whole.endswith(text[-20:])


def test_snippet_shows_the_densest_part() -> None:
    html = highlighter("needle ").snippet(SNIPPET_TEXTS["many far apart"])
    assert marks(html) == ["needle"] * 3


def test_snippet_without_a_match_is_the_beginning() -> None:
    html = highlighter("nothing ").snippet("<b>start " + "filler " * 100)
    assert html.startswith("&lt;b&gt;start filler")
    assert html.endswith("filler …")
