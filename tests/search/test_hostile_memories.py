"""Memories that mean harm: nothing of them acts on any page, and their text stays readable."""

import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from memweb.memories.kinds import Kind
from memweb.memories.models import MEMORY_MODELS, Session
from search.facets import FacetName
from search.grouping import fold_identical
from tests.search.conftest import Importing
from tests.search.searching import found, search_for, shown_refs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("security")]


@pytest.fixture(scope="module")
def security(shared: Path, imported: Importing, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The hostile database: scripts, formulas, keys, injected instructions, control characters."""
    folder = tmp_path_factory.mktemp("security")
    arguments, sys.argv = sys.argv, ["make_security_corpus.py", str(folder)]
    try:
        runpy.run_path(str(shared / "cases/make_security_corpus.py"))
    finally:
        sys.argv = arguments
    with imported(folder / "E_security_corpus.db"):
        yield


SAFE_ADDRESS = re.compile(r"[/#?]|$|https?://(?:testserver|evil\.example|192\.0\.2\.9)")
HIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e]")


def acting(html: bytes) -> list[str]:
    """Return everything on a page that could act: scripts that are not ours, handlers, frames, foreign addresses."""
    soup = BeautifulSoup(html, "html.parser")
    found = [str(tag) for tag in soup.find_all(["iframe", "object", "embed", "base"])]
    found += [
        str(tag) for tag in soup.find_all("script") if tag.string or not tag.get("src", "").startswith("/static/")
    ]
    found += [str(tag) for tag in soup.find_all("svg") if "onload" in str(tag.attrs)]
    for tag in soup.find_all(True):
        found += [f"{tag.name} {name}" for name in tag.attrs if name.startswith("on") or name == "srcdoc"]
        found += [f"{tag.name} {tag[name]}" for name in ("src", "href", "action") if name in tag.attrs
                  and not SAFE_ADDRESS.match(str(tag[name]))]  # fmt: skip
        if tag.name in {"img", "link", "script"}:
            found += [str(tag) for name in ("src", "href") if "evil" in str(tag.get(name, ""))]
    return found


@pytest.mark.parametrize("name", ["", *(f"{name}/" for name in FacetName)])
def test_nothing_of_a_hostile_name_acts_in_facets(reader: Client, name: str) -> None:
    for headers in ({}, {"HX-Request": "true"}):
        html = reader.get(f"/search/facets/{name}", headers=headers).content
        assert acting(html) == []
        assert HIDDEN.search(html.decode()) is None


@pytest.mark.parametrize(
    "query", ["", "needle-xss", "csv formula row", "credential", "injected", "ansi", "script", "alert"]
)
def test_nothing_of_a_hostile_memory_acts_in_lists(reader: Client, query: str) -> None:
    for headers in ({}, {"HX-Request": "true"}):
        response = reader.get("/", {"q": query, "limit": "200"}, headers=headers)
        assert len(shown_refs(response.content)) == len(fold_identical(search_for(query, limit=200).hits)) > 0
        assert acting(response.content) == []
        assert HIDDEN.findall(response.content.decode()) == []


def test_nothing_of_a_hostile_memory_acts_on_its_own_page(reader: Client) -> None:
    memories = [memory for model in MEMORY_MODELS.values() for memory in model.objects.all()]
    assert len(memories) == 37
    for memory in memories:
        response = reader.get(memory.get_absolute_url())
        assert (response.status_code, acting(response.content)) == (200, [])
        assert HIDDEN.findall(response.content.decode()) == []


def test_nothing_of_a_hostile_memory_acts_on_the_pages_around_it(reader: Client) -> None:
    sessions = list(Session.objects.all())
    refs = [str(memory.ref) for model in MEMORY_MODELS.values() for memory in model.objects.all()]
    addresses = ["/", "/?group=session", "/?group=day", "/timeline/?anchor=now&before=200", "/sessions/", "/projects/"]
    addresses += ["/files/", "/concepts/", "/saved/", *(f"/sessions/{session.pk}/" for session in sessions)]
    addresses += [f"/timeline/?anchor={ref}&scope=all" for ref in refs] + [f"/m/{ref}/similar/" for ref in refs]
    for address in addresses:
        response = reader.get(address)
        assert (response.status_code, address, acting(response.content)) == (200, address, [])
        assert HIDDEN.findall(response.content.decode()) == []


def test_hostile_values_are_text_on_every_page(reader: Client) -> None:
    value = '"><script>alert(1)</script>\x1b[31m\u202e'
    for address, name in (
        ("/timeline/", "anchor"),
        ("/timeline/?anchor=now", "q"),
        ("/timeline/?anchor=now", "before"),
        ("/sessions/", "q"),
        ("/sessions/", "project"),
        ("/sessions/", "since"),
        ("/sessions/", "older"),
        ("/projects/", "find"),
        ("/projects/", "page"),
        ("/files/", "path"),
        ("/concepts/", "find"),
        ("/", "group"),
    ):
        response = reader.get(address, {name: value} if "?" not in address else {"anchor": "now", name: value})
        assert response.status_code in {200, 400, 404}
        assert (name, acting(response.content)) == (name, [])


def test_text_of_hostile_memories_stays_readable(reader: Client) -> None:
    [ref] = found("inside fence stays visible")
    text = BeautifulSoup(reader.get(f"/m/{ref}/").content, "html.parser").get_text()
    assert "<script>inside fence stays visible</script>" in text
    [ansi] = found("ansi and bidi")
    shown = BeautifulSoup(reader.get(f"/m/{ansi}/").content, "html.parser").get_text()
    assert "red link abcgnp.exe zerowidth" in " ".join(shown.split())


def test_hostile_names_as_filters_are_text(reader: Client) -> None:
    for name in {memory.project.name for memory in MEMORY_MODELS[Kind.OBSERVATION].objects.select_related("project")}:
        quoted = name.replace('"', '""')
        for params in ({"q": f'project:"{quoted}"'}, {"project": name}, {"q": name}, {"order": name}, {"since": name}):
            response = reader.get("/", params)
            assert (response.status_code, acting(response.content)) == (200, [])
