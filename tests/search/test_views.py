"""The search page and the page of a memory: few statements, nothing of a memory acts, every state is answered."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memweb.memories.kinds import Kind
from memweb.memories.models import Memory
from tests.factories import make_drawer, make_observation, make_prompt, make_session, make_summary, moment, refs
from tests.search.searching import found, shown_refs

pytestmark = pytest.mark.django_db

FRAGMENT = {"HX-Request": "true"}


def fill(count: int, *, start: int = 0) -> list[Memory]:
    """Return so many memories of all kinds in turn, each with a session, a project, tags, concepts and files."""
    memories: list[Memory] = []
    for number in range(start, start + count):
        shared: dict[str, Any] = {
            "project": f"project {number % 7}",
            "session": make_session(f"s{number % 8}", project=f"project {number % 7}"),
            "tags": [f"tag {number % 5}", "all"],
            "created_at": moment(number),
        }
        match [*Kind][number % 4]:
            case Kind.DRAWER:
                memories.append(make_drawer(f"needle {number}", file=f"src/f{number}.py", room="r", **shared))
            case Kind.OBSERVATION:
                more = {"concepts": [f"c{number}", "all"], "files": [f"src/f{number}.py"], "modified": ["all.py"]}
                memories.append(make_observation(f"needle {number}", "text", type="bugfix", **more, **shared))
            case Kind.PROMPT:
                memories.append(make_prompt(f"needle {number}", **shared))
            case Kind.SUMMARY:
                memories.append(make_summary(f"needle {number}", files=[f"src/f{number}.py"], **shared))
    return memories


def statements(client: Client, address: str) -> int:
    client.get(address)
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


ADDRESSES = {
    "everything": "/?limit=100",
    "words": "/?q=needle&limit=100",
    "newest": "/?q=needle&order=newest&limit=100",
    "filters": "/?q=needle+-project:%22project+6%22+tag:all&limit=100",
    "times": "/?q=needle+after:2026-01-01&limit=100",
}


def test_statements_do_not_grow_with_the_hits(reader: Client) -> None:
    fill(16)  # every kind and project, drawers beside each other: every sort of statement is needed
    few = {name: statements(reader, address) for name, address in ADDRESSES.items()}
    fill(12, start=16)
    some = {name: statements(reader, address) for name, address in ADDRESSES.items()}
    fill(100, start=28)
    many = {name: statements(reader, address) for name, address in ADDRESSES.items()}
    assert few == some == many
    # Each facet that is filtered by counts in a search of its own.
    assert max(count for name, count in many.items() if name != "filters") <= 19
    assert many["filters"] <= 23
    assert [len(shown_refs(reader.get(address).content)) for address in ADDRESSES.values()] == [100] * len(ADDRESSES)


@pytest.mark.parametrize("kind", Kind)
def test_statements_of_a_memory_do_not_grow_with_what_it_has(reader: Client, kind: Kind) -> None:
    few = next(one for one in fill(4) if one.kind is kind)
    small = statements(reader, few.get_absolute_url())
    many_files = [f"src/{number}.py" for number in range(50)]
    more: dict[Kind, Callable[[], Memory]] = {
        Kind.DRAWER: lambda: make_drawer("x", file="a.py", tags=many_files, session=make_session()),
        Kind.OBSERVATION: lambda: make_observation(
            "x", concepts=many_files, files=many_files, modified=many_files, tags=many_files, session=make_session()
        ),
        Kind.PROMPT: lambda: make_prompt("x", tags=many_files, session=make_session()),
        Kind.SUMMARY: lambda: make_summary("x", files=many_files, tags=many_files, session=make_session()),
    }
    large = statements(reader, more[kind]().get_absolute_url())
    assert large == small <= 30  # itself, and all that stands around it in its session


def test_page_and_fragment_list_the_same(reader: Client) -> None:
    fill(12)
    whole = reader.get("/", {"q": "needle"})
    fragment = reader.get("/", {"q": "needle"}, headers=FRAGMENT)
    assert shown_refs(whole.content) == shown_refs(fragment.content) == found("needle")
    assert b"<html" in whole.content
    assert b"<html" not in fragment.content
    assert {whole["Vary"], fragment["Vary"]} == {whole["Vary"]}
    assert "HX-Request" in whole["Vary"]


def test_problem_of_a_parameter_is_said_on_the_page(reader: Client) -> None:
    fill(1)
    response = reader.get("/", {"limit": "0", "since": "soon", "kind": "banana"})
    soup = BeautifulSoup(response.content.decode(), "html.parser")
    notices = [notice.get_text(strip=True) for notice in soup.select(".notice")]
    assert [notice.split(":")[0] for notice in notices if "left out" in notice] == ["limit", "since", "kind"]
    assert (response.status_code, len(shown_refs(response.content))) == (200, 1)


def test_page_of_an_empty_database_says_what_to_do(reader: Client) -> None:
    response = reader.get("/")
    assert "There are no memories yet" in response.content.decode()
    assert "There are no memories yet" in reader.get("/", {"q": "needle"}).content.decode()


def test_order_links_and_facets_keep_the_query(reader: Client) -> None:
    fill(8)
    page = reader.get("/", {"q": "needle"}).context["page"]
    assert [(one.label, one.selected, one.url) for one in page.order_choices] == [
        ("Relevance", True, "/?q=needle&order=relevance"),
        ("Newest", False, "/?q=needle&order=newest"),
        ("Oldest", False, "/?q=needle&order=oldest"),
    ]
    kinds, projects = (next(one for one in page.facets if one.name == name) for name in ("kind", "project"))
    assert {(one.value, one.count) for one in kinds.values} == {(str(kind), 2) for kind in Kind}
    assert {one.url for one in projects.values} >= {"/?q=project%3A%22project+0%22+needle"}
    for one in [*kinds.values, *projects.values]:
        response = reader.get(one.url)
        assert len(shown_refs(response.content)) == one.count
        [selected] = [
            value for facet in response.context["page"].facets for value in facet.values
            if value.selected and value.value == one.value
        ]  # fmt: skip
        assert len(shown_refs(reader.get(selected.url).content)) == 8


def test_filters_beside_the_text_are_shown_in_it(reader: Client) -> None:
    fill(8)
    response = reader.get("/", {"q": "needle", "kind": "prompt", "since": "2026-01-20"})
    page = response.context["page"]
    assert page.query == "kind:prompt after:2026-01-20 needle"
    assert page.canonical_url == "/?q=kind%3Aprompt+after%3A2026-01-20+needle"
    assert shown_refs(reader.get(page.canonical_url).content) == shown_refs(response.content) != []


def test_page_says_in_a_sentence_what_it_shows(reader: Client) -> None:
    for number in range(12):
        values = {"type": "decision", "project": "web-api", "created_at": moment(number)}
        make_observation(f"auth {number}", **values)
    address = "/?q=auth+type:decision+project:web-api+after:2026-01"
    heading = BeautifulSoup(reader.get(address).content.decode(), "html.parser").select_one("#results-total")
    assert heading.get_text(" ", strip=True) == "12 decisions with “auth” in web-api since January 2026"


@pytest.mark.parametrize("kind", Kind)
def test_any_spelling_of_a_name_leads_to_the_memory(reader: Client, kind: Kind) -> None:
    memory = next(one for one in fill(4) if one.kind is kind)
    assert reader.get(f"/m/{memory.ref}/").status_code == 200
    spellings = [f"{kind.letter.upper()}{memory.pk}", f"%23{memory.ref}", f"{kind.letter}000{memory.pk}"]
    for spelling in [*spellings, *([str(memory.pk)] if kind is Kind.OBSERVATION else [])]:
        response = reader.get(f"/m/{spelling}/")
        assert (response.status_code, response["Location"]) == (301, f"/m/{memory.ref}/")


@pytest.mark.parametrize(
    "name", ["o999999", "x1", "o", "o-1", "o" + "9" * 18, "o" + "9" * 19, "9" * 400, "%00", "o1%00", "..", "ü"]
)
def test_unknown_memory_is_a_page_with_status_404(reader: Client, name: str) -> None:
    response = reader.get(f"/m/{name}/")
    assert response.status_code == 404
    assert b"<main" in response.content


@pytest.mark.parametrize("address", ["/", "/m/o1/"])
def test_pages_are_for_reading_only(reader: Client, address: str) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.cookies = reader.cookies
    answers = [browser.generic(method, address) for method in ("POST", "PUT", "PATCH", "DELETE", "OPTIONS")]
    assert [(answer.status_code, answer["Allow"]) for answer in answers] == [(405, "GET, HEAD")] * 5


HOSTILE_PARAMETERS = [
    "\x00",
    "\ud800".encode("utf-8", "surrogatepass"),
    b"\xff\xfe",
    "<script>",
    "' OR 1=1 --",
    "💥" * 500,
    "(((",
    "a\r\nb",
]


@pytest.mark.parametrize("value", HOSTILE_PARAMETERS)
@pytest.mark.parametrize("name", ["q", "project", "file", "kind", "is", "since", "cursor", "order", "limit", "session"])
def test_hostile_parameters_are_answered(reader: Client, name: str, value: str | bytes) -> None:
    make_observation("needle")
    response = reader.get("/", {name: value})
    assert response.status_code == 200
    assert b"<script>" not in re.sub(rb"<script (?:defer|type)", b"", response.content)


def test_refs_of_a_list_are_those_of_its_memories(reader: Client) -> None:
    memories = fill(3)
    assert shown_refs(reader.get("/", {"order": "oldest"}).content) == refs(memories)


def test_hit_says_how_much_there_is_to_read(reader: Client) -> None:
    make_observation("12345678", "1234", facts=["12345"], discovery_tokens=1200)
    page = BeautifulSoup(reader.get("/").content.decode(), "html.parser")
    [label] = [one for one in page.select(".hit .meta > span") if "to read" in one.get_text()]
    assert (label.get_text(), label["title"]) == ("~5 tokens to read", "1,200 tokens to find out")
