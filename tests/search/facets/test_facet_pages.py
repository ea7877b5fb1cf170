"""The panel of facets and the pages of single ones: links edit the text, few statements, nothing of a memory acts."""

import pytest
from bs4 import BeautifulSoup, Tag
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from search.facet_views import VALUES_SHOWN, value_label
from search.facets import FacetName
from tests.factories import make_drawer, make_observation, make_prompt, make_session, make_summary
from tests.search.searching import shown_refs

pytestmark = pytest.mark.django_db

FRAGMENT = {"HX-Request": "true"}


def fill(count: int, *, start: int = 0) -> None:
    for number in range(start, start + count):
        session = make_session(f"s{number}", platform=f"platform {number}", project=f"p{number}")
        shared = {"session": session, "project": f"p{number}", "tags": [f"tag {number}"], "agent": f"agent {number}"}
        make_observation(
            f"needle {number}", type=f"type{number}", concepts=[f"c{number}"], files=[f"dir{number}/a.py"], **shared
        )
        make_summary(f"needle {number}", files=[f"dir{number}/b.py"], **shared)
        make_prompt(f"needle {number}", **shared)
        make_drawer(f"needle {number}", room=f"room {number}", file=f"dir{number}/c.py", **shared)


def soup_of(client: Client, address: str, **values: object) -> BeautifulSoup:
    response = client.get(address, **values)
    assert response.status_code == 200
    return BeautifulSoup(response.content.decode(), "html.parser")


def value_of(soup: BeautifulSoup, facet: str, label: str) -> Tag:
    """Return the row of a value."""
    rows = soup.select(f"#facet-{facet} .facet-row")
    [row] = [row for row in rows if row.select_one(".facet-label bdi").get_text() == label]
    return row


def test_links_tick_and_untick_leave_out_and_take_back(reader: Client) -> None:
    fill(2)
    row = value_of(soup_of(reader, "/?q=needle"), "type", "type1")
    tick, leave_out = row.select_one(".facet-value"), row.select_one(".facet-exclude")
    assert (tick["href"], leave_out["href"]) == ("/?q=type%3Atype1+needle", "/?q=-type%3Atype1+needle")
    assert tick["hx-get"] == tick["href"]
    assert not tick.has_attr("aria-current")

    row = value_of(soup_of(reader, tick["href"]), "type", "type1")
    assert row.select_one(".facet-value")["aria-current"] == "true"
    assert row.select_one(".facet-value")["href"] == "/?q=needle"
    assert row.select_one(".facet-exclude")["href"] == "/?q=-type%3Atype1+needle"

    row = value_of(soup_of(reader, leave_out["href"]), "type", "type1")
    assert "is-excluded" in row.select_one(".facet-value")["class"]
    assert row.select_one(".facet-exclude")["href"] == "/?q=needle"
    assert row.select_one(".facet-value")["href"] == "/?q=type%3Atype1+needle"


@pytest.mark.parametrize("name", FacetName)
def test_every_link_of_the_panel_leaves_as_many_as_it_says(reader: Client, name: str) -> None:
    fill(2)
    soup = soup_of(reader, "/?limit=100")
    rows = soup.select(f"#facet-{name} .facet-row")
    assert bool(rows) == (name != "state")
    for row in rows:
        link = row.select_one(".facet-value")
        count = row.select_one(".facet-count").find(string=True, recursive=False)
        assert len(shown_refs(reader.get(link["href"]).content)) == int(count)


def test_any_spelling_is_unticked(reader: Client) -> None:
    fill(2)
    row = value_of(soup_of(reader, "/?q=needle+type:TYPE1,Type1"), "type", "type1")
    assert row.select_one(".facet-value")["href"] == "/?q=needle"


def test_long_facets_show_their_first_values_and_all_that_the_query_has(reader: Client) -> None:
    fill(15)
    soup = soup_of(reader, "/?q=needle+tag:%22tag+9%22+-tag:%22tag+8%22")
    labels = [label.get_text() for label in soup.select("#facet-tag .facet-label bdi")]
    assert len(labels) == VALUES_SHOWN + 2
    assert {"tag 8", "tag 9"} <= {*labels}
    assert soup.select_one("#facet-tag-all").get_text() == "5 more tags"
    assert soup.select_one("#facet-tag-all")["href"].startswith("/search/facets/tag/?q=needle")


def test_page_of_a_facet_has_all_and_finds_some(reader: Client) -> None:
    fill(15)
    soup = soup_of(reader, "/search/facets/tag/?q=needle")
    assert len(soup.select(".facet-row")) == 15
    assert soup.select_one(".facet-of").get_text(" ", strip=True) == "60 memories with “needle”"
    soup = soup_of(reader, "/search/facets/tag/?q=needle&find=TAG+1")
    labels = [label.get_text() for label in soup.select(".facet-label bdi")]
    assert labels == ["tag 1", "tag 10", "tag 11", "tag 12", "tag 13", "tag 14"]
    assert soup.select_one("input[name=find]")["value"] == "TAG 1"
    assert soup.select_one("input[name=q]")["value"] == "needle"
    assert soup_of(reader, "/search/facets/tag/?find=zzz").select(".facet-note")[0].get_text() == (
        "No tag here holds “zzz”."
    )


def test_fragment_of_a_facet_is_its_section(reader: Client) -> None:
    fill(2)
    response = reader.get("/search/facets/tag/?q=needle", headers=FRAGMENT)
    soup = BeautifulSoup(response.content.decode(), "html.parser")
    assert [child.name for child in soup.find_all(recursive=False)] == ["section"]
    assert "HX-Request" in response["Vary"]


def test_directories_unfold(reader: Client) -> None:
    make_observation("x", files=["src/auth/a.py", "src/auth/b.py", "src/c.py"])
    row = value_of(soup_of(reader, "/"), "file", "src/")
    fold = row.select_one(".facet-fold")
    assert fold["href"] == "/search/facets/file/?under=src%2F"
    assert fold["aria-expanded"] == "false"
    below = BeautifulSoup(reader.get(fold["href"], headers=FRAGMENT).content, "html.parser")
    assert [label.get_text() for label in below.select(".facet-label bdi")] == ["auth/", "c.py"]
    assert below.select(".facet-value")[1]["href"] == "/?q=file%3Asrc%2Fc.py"
    page = soup_of(reader, fold["href"])
    assert page.select_one("h1").get_text() == "File in src/"
    found = soup_of(reader, "/search/facets/file/?find=B.PY")
    assert [label.get_text() for label in found.select(".facet-label bdi")] == ["src/auth/b.py"]


def test_all_facets_have_a_page(reader: Client) -> None:
    fill(2)
    soup = soup_of(reader, "/search/facets/?q=needle")
    shown = [section["id"] for section in soup.select(".facet")]
    assert shown == [f"facet-{name}" for name in FacetName if name != "state"]
    assert soup.select_one(".facet-back a")["href"] == "/?q=needle"


def test_facets_without_values_are_left_out(reader: Client) -> None:
    make_prompt("x")
    assert [section["id"] for section in soup_of(reader, "/").select(".facet")] == ["facet-kind", "facet-project"]
    assert "There is nothing to choose from" in reader.get("/search/facets/?q=nothing").content.decode()


@pytest.mark.parametrize("name", ["colour", "session", "Kind", "<script>"])
def test_unknown_facet_is_a_page_with_status_404(reader: Client, name: str) -> None:
    response = reader.get(f"/search/facets/{name}/")
    assert response.status_code == 404
    assert "is not a facet; there are kind, type, project" in response.content.decode()
    assert b"<script>x" not in response.content


@pytest.mark.parametrize("address", ["/search/facets/", "/search/facets/type/"])
def test_facets_are_for_reading_and_for_members(reader: Client, address: str) -> None:
    assert reader.post(address).status_code == 405
    assert Client().get(address).status_code == 302


ADDRESSES = [
    "/?limit=100",
    "/?q=needle&limit=100",
    "/search/facets/",
    *(f"/search/facets/{name}/" for name in FacetName),
]


def test_statements_do_not_grow_with_the_values(reader: Client) -> None:
    fill(3)
    few = [statements(reader, address) for address in ADDRESSES]
    fill(7, start=3)
    some = [statements(reader, address) for address in ADDRESSES]
    fill(15, start=10)
    many = [statements(reader, address) for address in ADDRESSES]
    assert few == some == many
    assert max(many) <= 17


def statements(client: Client, address: str) -> int:
    client.get(address)
    with CaptureQueriesContext(connection) as queries:
        assert client.get(address).status_code == 200
    return len(queries)


@pytest.mark.parametrize("name", FacetName)
@pytest.mark.parametrize("key", ["q", "find", "under", "type", "since"])
@pytest.mark.parametrize("value", ["\x00", "<script>x", "💥" * 300, "(((", b"\xff\xfe", "../..", "%"])
def test_hostile_parameters_are_answered(reader: Client, name: str, key: str, value: str | bytes) -> None:
    make_observation("needle", files=["src/a.py", "src/b.py"])
    response = reader.get(f"/search/facets/{name}/", {key: value})
    assert response.status_code == 200
    assert b"<script>x" not in response.content


@pytest.mark.parametrize(
    ("value", "label"), [("  ", "(blank)"), ("\x1b[31m", "(blank)"), ("", "(empty)"), ("a b", "a b")]
)
def test_no_value_is_without_a_label(value: str, label: str) -> None:
    assert value_label(FacetName.CONCEPT, value) == label
