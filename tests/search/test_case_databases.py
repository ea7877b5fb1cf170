"""Databases that other programs read wrongly, and a real one: what is in them is found."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from memweb.memories.kinds import Kind
from memweb.memories.models import MEMORY_MODELS, Session
from memweb.memories.queries import TERM_COLUMNS
from tests.search.conftest import Importing
from tests.search.searching import found, search_for, shown_refs

pytestmark = pytest.mark.django_db

CASES: dict[str, dict[str, list[str]]] = {
    "A23_missing_fts_table.db": {"needle-summary": ["fix login"], "": ["fix login", "has fts"]},
    "B02_epoch_in_seconds.db": {
        "after:2025-11-24 before:2025-11-24": ["epoch stored in ms", "epoch stored in seconds"],
        "before:1971": [],
    },
    "B04_epoch_and_iso_disagree.db": {"after:2025-02-08 before:2025-02-09": ["Chroma MCP config solved"]},
    "C24_invalid_json_columns.db": {
        "concept:problem-solution": ["pipe facts + comma concepts"],
        "file:src/a.ts": ["json object not list", "single-quoted list"],
        "concept:gotcha": ["json object not list", "single-quoted list"],
        "concept:pattern": ["double encoded"],
    },
    "D13_title_only.db": {"needle-title-d13": ["title only needle-title-d13"]},
}


@pytest.mark.parametrize("name", CASES)
def test_queries_over_the_case_databases(shared: Path, imported: Importing, reader: Client, name: str) -> None:
    with imported(shared / "cases/files" / name):
        for query, titles in CASES[name].items():
            result = search_for(query, order="newest")
            assert sorted(hit.title for hit in result.hits) == sorted(titles)
            assert len(shown_refs(reader.get("/", {"q": query}).content)) == len(titles)


def test_times_that_make_no_sense_are_listed_without_an_error(
    shared: Path, imported: Importing, reader: Client
) -> None:
    with imported(shared / "cases/files/B03_epoch_in_microseconds.db"):
        for order in ("newest", "oldest"):
            assert len(shown_refs(reader.get("/", {"order": order}).content)) == 4
        doubtful = {hit.title for hit in search_for("is:doubtful").hits}
        assert {"negative epoch", "zero epoch"} <= doubtful
        for ref in found():
            assert reader.get(f"/m/{ref}/").status_code == 200


ODD_TIMES = ("B02_epoch_in_seconds.db", "B03_epoch_in_microseconds.db", "B04_epoch_and_iso_disagree.db")


@pytest.mark.parametrize("name", ODD_TIMES)
def test_odd_times_are_on_every_page_and_never_in_1970(
    shared: Path, imported: Importing, reader: Client, name: str
) -> None:
    with imported(shared / "cases/files" / name):
        refs = found("is:any")
        pages = ["/sessions/", "/projects/", "/files/", "/concepts/", "/?group=day", "/timeline/?anchor=now"]
        pages += [f"/sessions/{session.pk}/" for session in Session.objects.all()]
        shown: set[str] = set()
        for address in [*pages, *(f"/timeline/?anchor={ref}" for ref in refs)]:
            response = reader.get(address)
            soup = BeautifulSoup(response.content.decode(), "html.parser")
            assert (address, response.status_code) == (address, 200)
            assert "1970" not in soup.get_text()
            shown |= {str(row["data-ref"]) for row in soup.select("[data-ref]")}
        assert shown == set(refs)


def test_one_time_decides_where_two_disagree(shared: Path, imported: Importing, reader: Client) -> None:
    with imported(shared / "cases/files/B04_epoch_and_iso_disagree.db"):
        [ref] = found("after:2025-02-08 before:2025-02-09")
        soup = BeautifulSoup(reader.get(f"/timeline/?anchor={ref}").content.decode(), "html.parser")
        assert [one["id"] for one in soup.select(".is-doubted [data-anchor]")] == [ref]
        session = BeautifulSoup(reader.get("/?group=day").content.decode(), "html.parser")
        days = [one.get_text(strip=True) for one in session.select(".hit-group")]
        assert any(day.endswith("February 2025") for day in days)


def test_real_database_is_found_by_the_words_of_its_titles(shared: Path, imported: Importing) -> None:
    with imported(shared / "data/claude-mem-13.25.3.db"):
        everything = {kind: model.objects.count() for kind, model in MEMORY_MODELS.items()}
        rows = MEMORY_MODELS[Kind.OBSERVATION].objects.exclude(title="").order_by("pk")
        sample = list(rows[:: max(1, len(rows) // 60)])
        lost = [str(row) for row in sample if str(row.ref) not in found(row.title, kind="observation")]
        assert search_for("is:any").total == sum(everything.values())
    assert (everything[Kind.OBSERVATION], everything[Kind.SUMMARY]) == (1212, 130)
    assert lost == []


def test_imported_memories_carry_the_terms_that_a_rebuild_gives(shared: Path, imported: Importing) -> None:
    with imported(shared / "data/claude-mem-13.25.3.db"):
        for kind in (Kind.OBSERVATION, Kind.SUMMARY):
            for row in MEMORY_MODELS[kind].objects.for_indexing():
                before = {name: sorted(getattr(row, name).split()) for name in TERM_COLUMNS}
                row.compute_terms()
                assert {name: sorted(getattr(row, name).split()) for name in TERM_COLUMNS} == before
