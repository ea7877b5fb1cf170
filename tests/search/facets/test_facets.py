"""Facets: every number is what ticking leaves, the query text says what is ticked, and time is limited."""

from datetime import UTC

import pytest

from memweb.memories.models import Project, ProjectAlias, State
from search.facets import FacetName, Facets, count_facets
from search.facets.bases import Findings
from search.facets.postings import forget_postings
from search.keyword_search import find_by_words
from search.query import exclude_field, parse, to_text, toggle_field, without_fields
from search.request import SearchRequest
from tests.factories import make_drawer, make_observation, make_project, make_prompt, make_session, make_summary
from tests.search.searching import found, search_for

pytestmark = pytest.mark.django_db

STATES = [("any", 13), ("archived", 1), ("doubtful", 1), ("noise", 1), ("pinned", 1), ("trashed", 1)]


@pytest.fixture(autouse=True)
def no_memory_of_other_tests() -> None:
    forget_postings()


@pytest.fixture(autouse=True)
def memories(db: None) -> None:
    """Nine memories that are shown, four that are hidden."""
    codex = make_session("s-codex", project="api", platform="codex")
    claude = make_session("s-claude", project="web", platform="claude")
    for number in range(3):
        make_observation(
            f"login {number}",
            type="bugfix" if number else "Feature",
            project="api",
            session=codex,
            concepts=["gotcha", f"c{number}"],
            files=["src/auth/login.py", "README.md"],
            modified=["src/auth/login.py"],
            agent="reviewer" if number else "",
            tags=["review"],
            pinned=number == 2,
        )
    make_observation(
        "logout", type="decision", project="web", session=claude, concepts=["gotcha"], files=["src/main.py"]
    )
    make_summary("login page", project="web", session=claude, files=["docs/login.md"], tags=["review", "done"])
    make_prompt("why does login fail", project="web", session=claude, created_at=None)
    make_prompt("deploy", project="api", session=codex)
    make_drawer("login flow", project="web", room="auth", file="docs/notes/login.md")
    make_drawer("billing", project="api", room="money")
    make_observation("login old", type="bugfix", project="api", state=State.ARCHIVED, pinned=True)
    make_observation("login gone", type="bugfix", project="api", state=State.TRASHED)
    make_prompt("login noise", project="api", is_noise=True)
    make_prompt("login noise, archived", project="api", is_noise=True, state=State.ARCHIVED)


def counts(name: str, query: str = "", **params: object) -> list[tuple[str, int]]:
    return [(one.value, one.count) for one in search_for(query, **params).facets[name]]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("kind", [("observation", 4), ("drawer", 2), ("prompt", 2), ("summary", 1)]),
        ("type", [("bugfix", 2), ("decision", 1), ("feature", 1)]),
        ("project", [("api", 5), ("web", 4)]),
        ("concept", [("gotcha", 4), ("c0", 1), ("c1", 1), ("c2", 1)]),
        ("tag", [("review", 4), ("done", 1)]),
        ("platform", [("codex", 4), ("claude", 3)]),
        ("agent", [("reviewer", 2)]),
        ("room", [("auth", 1), ("money", 1)]),
        ("state", STATES),
        ("file", [("src/", 4), ("README.md", 3), ("docs/", 2)]),
    ],
)
def test_counts_of_all_memories(name: str, expected: list[tuple[str, int]]) -> None:
    assert counts(name) == expected


@pytest.mark.parametrize(
    ("query", "name", "expected"),
    [
        ("login", "type", [("bugfix", 2), ("feature", 1)]),
        ("login project:web", "type", []),
        ("type:bugfix", "type", [("bugfix", 2), ("decision", 1), ("feature", 1)]),
        ("type:bugfix", "project", [("api", 2)]),
        ("type:bugfix kind:observation", "kind", [("observation", 2)]),
        ("login kind:prompt,drawer", "kind", [("observation", 3), ("drawer", 1), ("prompt", 1), ("summary", 1)]),
        ("-type:bugfix", "type", [("bugfix", 2), ("decision", 1), ("feature", 1)]),
        ("-type:bugfix", "concept", [("gotcha", 2), ("c0", 1)]),
        ("project:api tag:review", "project", [("api", 3), ("web", 1)]),
        ("project:api tag:review", "tag", [("review", 3)]),
        ("file:src/auth/", "file", [("src/auth/", 3), ("src/", 4), ("README.md", 3), ("docs/", 2)]),
        ("file:login.md", "file", [("login.md", 2), ("src/", 4), ("README.md", 3), ("docs/", 2)]),
        ("file:*.md", "file", [("*.md", 5), ("src/", 4), ("README.md", 3), ("docs/", 2)]),
        ("is:pinned", "state", STATES),
        ("is:any", "kind", [("observation", 6), ("prompt", 4), ("drawer", 2), ("summary", 1)]),
        ("type:nothing", "type", [("bugfix", 2), ("decision", 1), ("feature", 1), ("nothing", 0)]),
        ("nothing", "type", []),
        ("after:2026-01-21", "kind", []),
    ],
)  # fmt: skip
def test_counts_leave_out_the_own_filter(query: str, name: str, expected: list[tuple[str, int]]) -> None:
    assert counts(name, query) == expected


@pytest.mark.parametrize("name", FacetName)
@pytest.mark.parametrize("query", ["", "login", "login OR deploy", "project:api", "-type:bugfix", "login tag:review"])
def test_every_number_is_what_ticking_leaves(name: FacetName, query: str) -> None:
    # Values of one field are alternatives: alone, each leaves its own.
    alone = without_fields(parse(query).tree, name.field)
    for one in search_for(query).facets[name]:
        ticked = to_text(toggle_field(alone, name.field, one.value))
        assert (one.value, search_for(ticked).total) == (one.value, one.count)


@pytest.mark.parametrize("name", [one for one in FacetName if one is not FacetName.STATE])
def test_leaving_out_and_keeping_make_the_whole(name: FacetName) -> None:
    everything = search_for().total
    for one in search_for().facets[name]:
        without = to_text(exclude_field(parse("").tree, name.field, one.value))
        assert (one.value, search_for(without).total) == (one.value, everything - one.count)


@pytest.mark.parametrize(
    ("query", "name", "selected", "excluded"),
    [
        ("type:bugfix", "type", ["bugfix"], []),
        ("TYPE:BugFix", "type", ["bugfix"], []),
        ("type:feature,decision", "type", ["decision", "feature"], []),
        ("-type:bugfix type:feature", "type", ["feature"], ["bugfix"]),
        ("concept:Gotcha", "concept", ["gotcha"], []),
        ("kind:o", "kind", ["observation"], []),
        ("platform:CODEX", "platform", ["codex"], []),
        ("is:pinned", "state", ["pinned"], []),
        ("-is:pinned", "state", [], ["pinned"]),
        ("project:nobody", "project", ["nobody"], []),
        ("login OR type:bugfix", "type", [], []),
        ("file:src/", "file", ["src/"], []),
        ("-file:src/auth/login.py", "file", [], ["src/auth/login.py"]),
    ],
)
def test_the_text_ticks_the_facets(query: str, name: str, selected: list[str], excluded: list[str]) -> None:
    values = search_for(query).facets[name]
    assert sorted(one.value for one in values if one.selected) == selected
    assert [one.value for one in values if one.is_excluded] == excluded


def test_other_names_of_a_project_tick_it() -> None:
    api, old = Project.objects.get(name="api"), make_project("old-api")
    make_prompt("old", project="old-api")
    old.merged_into = api
    old.save()
    ProjectAlias.objects.create(name="the-api", project=api)
    assert counts("project") == [("api", 6), ("web", 4)]
    for name in ("the-api", "old-api", "api"):
        [ticked] = [one for one in search_for(f"project:{name}").facets["project"] if one.selected]
        assert (ticked.value, ticked.count, ticked.written) == ("api", 6, (name,))


def test_filters_beside_the_text_count_like_those_in_it() -> None:
    beside, inside = search_for("login", type="bugfix"), search_for("login type:bugfix")
    assert beside.facets == inside.facets


def facets(query: str, *, limit: int, **options: object) -> Facets:
    """Return facets as for a collection in which searches stop at so many memories of a kind."""
    request = SearchRequest(query=query)

    def find(request: SearchRequest) -> Findings:
        words = find_by_words(request, UTC)
        return Findings(words.strategy.find(limit), words.strategy)

    return count_facets(request, find(request), find, **options)


BY_INDEX = {*FacetName} - {FacetName.AGENT}


COUNTED = ["", "login", "log", "type:bugfix", "-type:bugfix", "login -concept:gotcha", "is:pinned", "login after:2026",
           "room:auth", "agent:reviewer", "before:2026-01-19", "project:api after:2026-01-20 before:2026-01-20",
           "file:src/", "file:*.md", "-file:README.md login"]  # fmt: skip


@pytest.mark.parametrize("query", COUNTED)
def test_the_index_counts_what_is_too_much_to_read(query: str) -> None:
    whole = search_for(query).facets
    counted = facets(query, limit=1, read=0)
    assert {name: counted.values[name] for name in BY_INDEX} == {name: whole[name] for name in BY_INDEX}
    assert counted.partial <= {FacetName.AGENT}
    assert sum(counted.totals.values()) == search_for(query).total


def test_rows_are_read_when_they_are_few_enough() -> None:
    assert facets("login", limit=1, read=100).values == search_for("login").facets
    assert facets("login after:2026-01-20", limit=1, read=100).values == search_for("login after:2026-01-20").facets


def test_what_the_index_told_is_forgotten_when_it_is_written() -> None:
    names = [FacetName.TYPE]
    before = facets("login", limit=1, read=0, names=names).values["type"]
    assert [(one.value, one.count) for one in before] == [("bugfix", 2), ("feature", 1)]
    added = make_observation("login again", type="feature")
    values = facets("login", limit=1, read=0, names=names).values["type"]
    assert [(one.value, one.count) for one in values] == [("bugfix", 2), ("feature", 2)]
    added.type = "bugfix"
    added.save()
    values = facets("login", limit=1, read=0, names=names).values["type"]
    assert [(one.value, one.count) for one in values] == [("bugfix", 3), ("feature", 1)]
    added.delete()
    assert facets("login", limit=1, read=0, names=names).values["type"] == before


def test_what_only_some_rows_tell_is_a_lower_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        make_observation("login", agent=f"writer {number}")
    monkeypatch.setattr("search.facets.reading.SAMPLED_ROWS", 2)
    counted = facets("login", limit=2, read=0)
    assert counted.partial == {"agent"}
    assert [(one.value, one.count, one.is_capped) for one in counted.values["agent"]] == [
        ("writer 1", 1, True),
        ("writer 2", 1, True),
    ]


@pytest.mark.parametrize(
    ("query", "written"),
    [("", []), ("login", []), ("file:src/ -tag:done type:bugfix project:api", ["api", "bugfix", "done", "src/"])],
)
def test_when_the_time_is_over_counting_stops(query: str, written: list[str]) -> None:
    stopped = facets(query, limit=10 if query == "login" else 1, seconds=0.0)
    assert stopped.partial == {*FacetName} - ({FacetName.KIND} if query == "login" else set())
    values = [one for values in stopped.values.values() for one in values]
    assert sorted(one.value for one in values if one.written) == written


def test_facets_of_a_later_page_are_those_of_the_first() -> None:
    first = search_for("login", limit=2)
    second = search_for("login", limit=2, cursor=first.next)
    assert second.facets == first.facets
    assert found("login", limit=2, cursor=first.next) != found("login", limit=2)
