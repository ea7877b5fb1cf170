"""What is offered while a query is typed: names, values, their order and counts; `|` marks the caret."""

from datetime import UTC, datetime
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from search.completions.completion import complete
from search.completions.words import FIELD_NOTES, suggest_times
from search.query import STATES, FieldName, fields, parse
from tests.factories import (
    make_concept,
    make_drawer,
    make_file,
    make_observation,
    make_project,
    make_prompt,
    make_session,
    make_tag,
    moment,
)

pytestmark = pytest.mark.django_db


def offered(marked: str) -> list[str]:
    """Return the whole query that each option makes, with its caret."""
    query, caret = marked.replace("|", "", 1), marked.index("|")
    found = complete(query, caret)
    return [f"{query[: found.start]}{one.text}|{query[found.end :]}" for one in found.options]


def shown(marked: str) -> list[tuple[str, str]]:
    found = complete(marked.replace("|", "", 1), marked.index("|"))
    return [(one.label, one.count_label) for one in found.options]


def test_names_of_fields_are_offered_with_a_word_of_explanation() -> None:
    found = complete("login p", 7)
    assert [(one.label, one.note) for one in found.options] == [
        ("project:", FIELD_NOTES[FieldName.PROJECT]),
        ("platform:", FIELD_NOTES[FieldName.PLATFORM]),
    ]
    assert found.label == "Fields"
    assert set(FIELD_NOTES) == set(FieldName)
    assert offered("|") == [f"{name}:|" for name in FIELD_NOTES]


@pytest.mark.parametrize(
    ("marked", "queries"),
    {
        "-ty|": ["-type:|"],
        "TY|": ["type:|"],
        "(ty|)": ["(type:|)"],
        "ty|pe:bugfix": ["type:|bugfix"],
        "a OR ty| b": ["a OR type:| b"],
        "login|": [],
        '"ty|"': [],
        "typex|": [],
    }.items(),
)
def test_name_takes_the_place_of_what_is_typed(marked: str, queries: list[str]) -> None:
    assert offered(marked) == queries


@pytest.fixture
def types() -> None:
    for type, count in (("feature", 3), ("bugfix", 2), ("Feat x", 1), ("change", 1)):
        for _ in range(count):
            make_observation("x", type=type)


@pytest.mark.usefixtures("types")
@pytest.mark.parametrize(
    ("marked", "queries"),
    {
        "type:|": ["type:feature |", "type:bugfix |", 'type:"Feat x" |', "type:change |"],
        "-type:|": ["-type:feature |", "-type:bugfix |", '-type:"Feat x" |', "-type:change |"],
        "type:FE|": ["type:feature |", 'type:"Feat x" |'],
        "type:fix|": ["type:bugfix |"],
        "type:bugfix,|": ["type:bugfix,feature |", 'type:bugfix,"Feat x" |', "type:bugfix,change |"],
        "type:f|,bugfix": ["type:feature|,bugfix", 'type:"Feat x"|,bugfix'],
        "(type:ch|) login": ["(type:change|) login"],
        'type:"feat |': ['type:"Feat x" |'],
        'type:"fe|" login': ["type:feature| login", 'type:"Feat x"| login'],
        "type:zebra|": [],
        "TYPE:ch|": ["TYPE:change |"],
    }.items(),
)
def test_observed_values_take_the_place_of_one_value(marked: str, queries: list[str]) -> None:
    assert offered(marked) == queries


@pytest.mark.usefixtures("types")
def test_values_are_counted() -> None:
    assert shown("type:|") == [("feature", "3"), ("bugfix", "2"), ("Feat x", "1"), ("change", "1")]


def test_every_field_offers_what_memories_have() -> None:
    session = make_session(
        "content-7", project="web api", platform="Codex", title="Repair sign-in", started_at=moment()
    )
    shared: dict[str, Any] = {"project": "web api", "session": session, "agent": "reviewer"}
    make_observation("x", type="bugfix", concepts=["gotcha"], files=["src/auth.py"], tags=["to do"], **shared)
    make_drawer("x", room="auth", **shared)
    found = {name: shown(f"{name}:|") for name in FieldName}
    assert found == {
        FieldName.TYPE: [("bugfix", "1")],
        FieldName.CONCEPT: [("gotcha", "1")],
        FieldName.FILE: [("src/auth.py", "1")],
        FieldName.PROJECT: [("web api", "2")],
        FieldName.SESSION: [("content-7", "2")],
        FieldName.KIND: [("observation", ""), ("summary", ""), ("prompt", ""), ("drawer", "")],
        FieldName.TAG: [("to do", "1")],
        FieldName.PLATFORM: [("codex", "2")],
        FieldName.ROOM: [("auth", "1")],
        FieldName.AGENT: [("reviewer", "")],
        FieldName.BEFORE: found[FieldName.AFTER],
        FieldName.AFTER: found[FieldName.AFTER],
        FieldName.IS: [(state, "") for state in STATES],
        FieldName.ID: [],
    }
    assert offered("project:|") == ['project:"web api" |']
    assert offered("tag:t|") == ['tag:"to do" |']
    assert complete("session:", 8).options[0].note == "Repair sign-in · 2026-01-20"
    assert offered("session:repair|") == ["session:content-7 |"]


def test_times_are_such_as_the_field_takes() -> None:
    now = datetime(2026, 12, 1, tzinfo=UTC)
    values = [one.value for one in suggest_times("", now)]
    assert values == ["today", "yesterday", "7d", "2w", "1m", "6m", "1y", "2026-12", "2026"]
    assert [parse(f"after:{value}").notes for value in values] == [()] * len(values)
    assert [one.value for one in suggest_times("20", now)] == ["2026-12", "2026"]


def test_project_without_a_name_can_be_chosen() -> None:
    make_prompt("x", project="")
    assert (shown("project:|"), offered("project:|")) == ([("(no project)", "1")], ['project:"" |'])


def test_frequent_names_come_first_and_beginnings_before_the_rest() -> None:
    for name, count in (("api", 1), ("web-api", 3), ("apex", 2), ("zoo", 4)):
        for _ in range(count):
            make_prompt("x", project=name)
    assert shown("project:|") == [("zoo", "4"), ("web-api", "3"), ("apex", "2"), ("api", "1")]
    assert shown("project:ap|") == [("apex", "2"), ("api", "1"), ("web-api", "3")]
    assert shown("project:API|") == [("api", "1"), ("web-api", "3")]


def test_merged_projects_are_offered_under_one_name() -> None:
    make_project("old", merged_into=make_project("new"))
    assert shown("project:|") == [("new", "")]


PATHS = [
    "src/auth/login.py",
    "src/auth/logout.py",
    "src/auth/tests/test_login.py",
    "src/main.py",
    "/home/ann/work/api/auth.py",
    "/home/ann/work/web/auth.py",
    "C:\\app\\auth.py",
    "my dir/a.py",
    "my dir/b.py",
    "README.md",
]


@pytest.mark.parametrize(
    ("marked", "values"),
    {
        "file:|": ["/home/ann/work/", "C:\\app\\auth.py", "README.md", '"my dir/"', "src/"],
        "file:src/|": ["src/auth/", "src/main.py"],
        "file:src/auth/|": ["src/auth/login.py", "src/auth/logout.py", "src/auth/tests/test_login.py"],
        "file:src/auth/logi|": ["src/auth/login.py"],
        "file:auth|": ["/home/ann/work/api/auth.py", "/home/ann/work/web/auth.py", "C:\\app\\auth.py"],
        "file:AUTH|": ["/home/ann/work/api/auth.py", "/home/ann/work/web/auth.py", "C:\\app\\auth.py"],
        "file:api/auth|": ["/home/ann/work/api/auth.py"],
        "file:work/|": ["/home/ann/work/api/auth.py", "/home/ann/work/web/auth.py"],
        "file:C:\\app\\|": ["C:\\app\\auth.py"],
        'file:"my d|': ['"my dir/"'],
        'file:"my dir/"|': ['"my dir/a.py"', '"my dir/b.py"'],
        "file:zebra|": [],
    }.items(),
)
def test_files_are_found_down_the_tree_and_by_name(marked: str, values: list[str]) -> None:
    for path in PATHS:
        make_file(path)
    assert [query.split(":", 1)[1].rstrip("| ") for query in offered(marked)] == values


def test_directory_is_left_open_to_go_on() -> None:
    make_file("src/a.py")
    make_file("src/b.py")
    assert offered("file:s|") == ["file:src/|"]
    assert offered("file:src/|") == ["file:src/a.py |", "file:src/b.py |"]


HOSTILE = [
    "x\x00y",
    "a b",
    'say "hi"',
    "a,b",
    "(x",
    "x)",
    "<script>alert(1)</script>",
    "' OR 1=1 --",
    "%_",
    "\u202eevil",
    "\x1b[31mred",
    "“curly”",
    "-x",
    "💥 boom",
    "two\nlines",
]


@pytest.mark.parametrize("value", HOSTILE)
def test_every_offered_value_is_read_again_as_itself(value: str) -> None:
    make_observation("x", type=value, concepts=[value], tags=[value], files=[value], project=value, agent=value)
    make_drawer("x", room=value, project=value)
    writable = not {"\n", "\0"} & set(value)
    for name in ("type", "concept", "tag", "file", "project", "agent", "room"):
        options = complete(f"{name}:", len(name) + 1).options
        read = [[field.values for field, _ in fields(parse(f"{name}:{one.text}").tree)] for one in options]
        assert read == ([[(value,)]] if writable else []), name


def options_of(html: bytes) -> list[Tag]:
    return BeautifulSoup(html, "html.parser").select("[role=option]")


@pytest.mark.parametrize("value", HOSTILE)
def test_fragment_escapes_what_it_shows(reader: Client, value: str) -> None:
    make_concept(value)
    make_tag(value)
    for name in ("concept", "tag"):
        response = reader.get("/completions/", {"q": f"{name}:"})
        assert response.status_code == 200
        assert b"<script" not in response.content
        assert not {"\x00", "\x1b", "\u202e"} & set(response.content.decode().replace(f'data-text="{value} "', ""))


def test_fragment_tells_the_place_that_an_option_takes(reader: Client) -> None:
    make_observation("x", type="bugfix")
    response = reader.get("/completions/", {"q": "💥 type:b foo", "at": "8"})
    soup = BeautifulSoup(response.content.decode(), "html.parser")
    box = soup.select_one("[role=listbox]")
    assert box is not None
    assert (box["aria-label"], box["data-start"], box["data-end"]) == ("Values of type", "7", "8")
    assert [(one["data-text"], one["aria-selected"]) for one in options_of(response.content)] == [("bugfix", "false")]
    assert soup.find("html") is None


@pytest.mark.parametrize("at", ["-1", "x", "1.5", "٣", "9" * 30, "\x00"])
def test_place_that_is_none_is_named(reader: Client, at: str) -> None:
    response = reader.get("/completions/", {"q": "type:", "at": at})
    assert response.status_code == 400
    assert response.content.decode().startswith("at: ")


def test_place_behind_the_text_is_its_end(reader: Client) -> None:
    make_observation("x", type="bugfix")
    for at in ("", "5", "99999"):
        assert len(options_of(reader.get("/completions/", {"q": "type:", "at": at}).content)) == 1


@pytest.mark.parametrize("query", ["type:", "project:'", 'file:"', "concept:%", "session:\x00", "room:\\"])
def test_long_and_broken_queries_are_answered(reader: Client, query: str) -> None:
    for text in (query, query + "a" * 20_000, query + "\udc80", query + "💥" * 3_000):
        response = reader.get("/completions/", {"q": text.encode("utf-8", "surrogatepass")})
        assert response.status_code == 200


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(["", *[f"{name}:" for name in FieldName]]), st.text(max_size=8), st.integers(0, 16))
def test_nothing_that_is_typed_fails(name: str, text: str, caret: int) -> None:
    found = complete(name + text, caret)
    assert 0 <= found.start <= found.end


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_completions_are_for_reading_only(reader: Client, method: str) -> None:
    assert getattr(reader, method)("/completions/?q=type:").status_code == 405


def statements(query: str) -> int:
    with CaptureQueriesContext(connection) as queries:
        complete(query, len(query))
    return len(queries)


def test_statements_do_not_grow_with_the_values() -> None:
    counts = []
    for start, end in ((0, 20), (20, 30), (30, 120)):
        for number in range(start, end):
            session = make_session(f"s{number}", platform=f"w{number}")
            make_observation(
                "x", type=f"t{number}", concepts=[f"c{number}"], tags=[f"g{number}"], files=[f"f{number}.py"],
                project=f"p{number}", session=session, agent=f"a{number}",
            )  # fmt: skip
            make_drawer("x", room=f"r{number}")
        counts.append({name: (statements(f"{name}:"), statements(f"{name}:{name[0]}1")) for name in FieldName})
    assert counts[0] == counts[1] == counts[2]
    assert max(max(one) for one in counts[2].values()) <= 25


def test_index_that_cannot_be_read_costs_only_the_counts() -> None:
    make_observation("x", type="bugfix", project="demo")
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE observations_fts_vocab")
    assert shown("type:|") == [("bugfix", "")]
    assert shown("project:|") == [("demo", "")]
