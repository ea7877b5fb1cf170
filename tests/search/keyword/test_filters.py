"""Filters: each finds what it names and nothing near it; a name that nothing has is said."""

from collections.abc import Callable
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memweb.memories.kinds import Kind
from memweb.memories.models import Concept, Observation, Project, Session
from search.keyword.filters import project_ids
from search.orchestrator import SearchOrchestrator
from search.request import SearchRequest
from tests.factories import (
    START,
    make_drawer,
    make_file,
    make_observation,
    make_one_of_each,
    make_project,
    make_prompt,
    make_session,
    make_summary,
    moment,
    refs,
)
from tests.search.searching import found, search_for

pytestmark = pytest.mark.django_db


def test_chain_of_merged_projects_is_one() -> None:
    first, second, third, other = (make_project(name) for name in ("first", "second", "third", "other"))
    first.merged_into, second.merged_into = second, third
    first.save()
    second.save()
    everything = sorted([first.pk, second.pk, third.pk])
    assert [project_ids(name) for name in ("first", "second", "third")] == [everything] * 3
    third.merged_into = first  # a circle made by hand must not hang
    third.save()
    assert [project_ids(name) for name in ("first", "second", "third")] == [everything] * 3
    assert project_ids("other") == [other.pk]
    assert project_ids("none") == []


def test_id_that_begins_like_another_is_another() -> None:
    projects = Project.objects.bulk_create([Project(name=f"p{number}") for number in range(120)])
    one, ten, hundred = (make_observation("x", project=projects[number]) for number in (1, 10, 100))
    for memory in (one, ten, hundred):
        assert found(f"project:{memory.project.name}") == [str(memory.ref)]


# Each filter by itself and as its negation: query -> memories of `filtered`, newest first.
FILTERED: dict[str, list[str]] = {
    "type:bugfix": ["fix"],
    "type:BugFix": ["fix"],
    "type:bug": [],
    "type:bugfix,feature": ["feature", "fix"],
    "-type:bugfix": ["passage", "summary", "prompt", "feature"],
    "concept:gotcha": ["fix"],
    "concept:Gotcha": ["fix"],
    "concept:gotchas": [],
    'concept:"how it works"': ["feature"],
    "-concept:gotcha": ["passage", "summary", "prompt", "feature"],
    "file:a.ts": ["summary", "fix"],
    "file:src/a.ts": ["summary", "fix"],
    "file:src/": ["passage", "summary", "feature", "fix"],
    "file:data.tsx": ["feature"],
    "file:*.md": ["passage"],
    "-file:src/": ["prompt"],
    "file:a.ts type:bugfix": ["fix"],
    "session:content-1": ["prompt", "fix"],
    "session:memory-1": ["prompt", "fix"],
    "session:content": [],
    "-session:content-1": ["passage", "summary", "feature"],
    "kind:observation": ["feature", "fix"],
    "kind:o": ["feature", "fix"],
    "kind:drawer,prompts": ["passage", "prompt"],
    "-kind:observation": ["passage", "summary", "prompt"],
    "tag:todo": ["summary", "fix"],
    "tag:TODO": ["summary", "fix"],
    "tag:to": [],
    "-tag:todo": ["passage", "prompt", "feature"],
    "platform:claude": ["prompt", "fix"],
    "platform:Claude": ["prompt", "fix"],
    "platform:codex": ["feature"],
    "-platform:claude": ["passage", "summary", "feature"],
    "room:auth": ["passage"],
    "room:Auth": [],
    "-room:auth": ["summary", "prompt", "feature", "fix"],
    "agent:coder": ["feature"],
    "-agent:coder": ["passage", "summary", "prompt", "fix"],
    "id:{fix}": ["fix"],
    "id:#{fix}": ["fix"],
    "id:{fix},{passage}": ["passage", "fix"],
    "-id:{fix}": ["passage", "summary", "prompt", "feature"],
    "id:999999999999999999": [],
    "is:pinned": ["feature"],
    "-is:pinned": ["passage", "summary", "prompt", "fix"],
    "is:active": ["passage", "summary", "prompt", "feature", "fix"],
    "after:2026-01-22": ["passage", "summary", "prompt"],
    "after:2026-01-22T09:00Z": ["passage", "summary", "prompt"],
    "after:2026-01-22T09:00:01Z": ["passage", "summary"],
    "before:2026-01-21": ["feature", "fix"],
    "before:2026-01-21T08:59Z": ["fix"],
    "-after:2026-01-22": ["feature", "fix"],
    "after:2026-01-21 before:2026-01-22": ["prompt", "feature"],
    "before:2026-01-20 OR after:2026-01-24": ["passage", "fix"],
    # words, fields and times mixed in groups
    "(needle after:2026-01-23) OR type:bugfix": ["passage", "summary", "fix"],
    "needle (kind:prompt OR before:2026-01-20)": ["prompt", "fix"],
    "needle -(kind:prompt OR before:2026-01-20)": ["passage", "summary", "feature"],
    "nowhere OR (after:2026-01-24 file:src/)": ["passage"],
    "-(type:bugfix after:2026-01-20)": ["passage", "summary", "prompt", "feature"],
    "(type:bugfix OR agent:coder) -before:2026-01-20": ["feature"],
    "room:auth OR agent:coder OR id:{prompt}": ["passage", "prompt", "feature"],
    "-(-type:bugfix)": ["fix"],
}


@pytest.fixture
def filtered() -> dict[str, str]:
    """Five memories, a day apart from the first to the last; their names by what they are."""
    session = make_session("content-1", memory_session_id="memory-1")
    other = make_session("content-10", platform="codex")
    memories = {
        "fix": make_observation("needle", type="bugfix", concepts=["gotcha"], files=["src/a.ts"], tags=["todo"],
                                session=session, created_at=moment()),
        "feature": make_observation("needle", type="feature", concepts=["how it works"], modified=["src/data.tsx"],
                                    agent="coder", pinned=True, session=other, created_at=moment(24 * 60)),
        "prompt": make_prompt("needle", session=session, created_at=moment(48 * 60)),
        "summary": make_summary("needle", files=["lib/src/a.ts"], tags=["todo"], created_at=moment(72 * 60)),
        "passage": make_drawer("needle", file="src/notes.md", room="auth", created_at=moment(96 * 60)),
    }  # fmt: skip
    return {name: str(memory.ref) for name, memory in memories.items()}


@pytest.mark.parametrize("query", FILTERED)
def test_filter_finds_what_it_names(filtered: dict[str, str], query: str) -> None:
    wanted = query.format(**filtered)
    assert found(wanted, order="newest") == [filtered[name] for name in FILTERED[query]]


BESIDE: list[tuple[dict[str, object], list[str]]] = [
    ({"type": "bugfix"}, ["fix"]),
    ({"concept": "gotcha"}, ["fix"]),
    ({"file": "a.ts"}, ["summary", "fix"]),
    ({"session": "content-1"}, ["prompt", "fix"]),
    ({"kind": "prompt,drawer"}, ["passage", "prompt"]),
    ({"tag": "todo", "kind": "summary"}, ["summary"]),
    ({"platform": "codex"}, ["feature"]),
    ({"room": "auth"}, ["passage"]),
    ({"agent": "coder"}, ["feature"]),
    ({"is": "pinned"}, ["feature"]),
    ({"since": "2026-01-21", "until": "2026-01-22"}, ["prompt", "feature"]),
    ({"since": "2026-01-21", "type": "feature,bugfix"}, ["feature"]),
]


@pytest.mark.parametrize(("params", "names"), BESIDE, ids=str)
@pytest.mark.parametrize("query", ["", "needle", "needle OR nowhere"])
def test_filter_beside_the_query_narrows_it(
    filtered: dict[str, str], query: str, params: dict[str, object], names: list[str]
) -> None:
    assert found(query, order="newest", **params) == [filtered[name] for name in names]


UNKNOWN: dict[str, str] = {
    "concept:gotchas": "No concept is called “gotchas”. Did you mean “gotcha”?",
    "tag:nothing-like-it": "No tag is called “nothing-like-it”.",
    "project:dem": "No project is called “dem”. Did you mean “demo”?",
    'project:""': "No project is called “(empty)”.",
    "session:zzz": "No session has the id “zzz”.",
    "file:nowhere.py": "No memory mentions a file “nowhere.py”.",
}


@pytest.mark.parametrize("query", UNKNOWN)
def test_unknown_name_finds_nothing_and_is_said_once(filtered: dict[str, str], query: str) -> None:
    for text in (query, f"needle {query}", f"needle nowhere {query}"):
        result = search_for(text)
        assert (result.total, result.notes) == (0, (UNKNOWN[query],))
    assert search_for(f"needle -{query}").notes == (UNKNOWN[query],)
    assert search_for(f"needle OR {query}").total == 5


STATES = {
    "active": {},
    "pinned": {"pinned": True},
    "archived": {"state": "archived"},
    "trashed": {"state": "trashed"},
    "noise": {"is_noise": True},
    "doubtful": {"time_quality": "doubtful"},
    "archived noise": {"state": "archived", "is_noise": True},
}
SHOWN: dict[str, set[str]] = {
    "": {"active", "pinned", "doubtful"},
    "is:archived": {"archived"},
    "is:trashed": {"trashed"},
    "is:noise": {"noise"},
    "is:superseded": {"superseded"},
    "is:pinned": {"pinned"},
    "is:doubtful": {"doubtful"},
    "is:archived,noise": {"archived", "noise", "archived noise"},
    "is:archived is:noise": {"archived noise"},
    "is:any": {*STATES, "superseded"},
    "is:any -is:archived": {*STATES, "superseded"} - {"archived", "archived noise"},
    "is:active": {"active", "pinned", "doubtful"},
    "-is:noise": {"active", "pinned", "doubtful"},
    "-is:pinned": {"active", "doubtful"},
}


@pytest.mark.parametrize("make", [make_observation, make_prompt, make_summary, make_drawer])
@pytest.mark.parametrize("words", ["", "needle"])
def test_states_are_hidden_unless_named(make: Callable[..., Observation], words: str) -> None:
    made = {name: make("needle", **values) for name, values in STATES.items()}
    made["superseded"] = make("needle", superseded_by=made["active"])
    names = {str(memory.ref): name for name, memory in made.items()}
    assert {query: {names[ref] for ref in found(f"{words} {query}")} for query in SHOWN} == SHOWN


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("America/Los_Angeles", "2026-03-08", 23),
        ("America/Los_Angeles", "2026-11-01", 25),
        ("Asia/Kolkata", "2026-01-20", 24),
    ],
)
def test_day_is_whole_in_the_zone_of_the_viewer(zone: str, day: str, hours: int) -> None:
    start = datetime.fromisoformat(day).replace(tzinfo=ZoneInfo(zone)).astimezone(START.tzinfo)
    end = start + timedelta(hours=hours)
    step = timedelta(microseconds=1)
    times = [start - step, start, end - step, end]
    before, first, last, after = (str(make_prompt("x", created_at=time).ref) for time in times)
    viewer = ZoneInfo(zone)
    assert found(f"after:{day} before:{day}", viewer) == [last, first]
    assert found("", viewer, since=day, until=day) == [last, first]
    assert found(f"-before:{day}", viewer) == [after]
    assert found(f"-after:{day}", viewer) == [before]


def test_times_leave_out_what_has_none_and_their_negation_does_not() -> None:
    known, unknown = make_prompt("x", created_at=moment()), make_prompt("x", created_at=None)
    assert found("after:2000") == found("before:2100") == [str(known.ref)]
    assert found("-after:2000") == found("-before:2100") == [str(unknown.ref)]
    assert found() == [str(known.ref), str(unknown.ref)]
    assert found(since="2000", until="2100") == [str(known.ref)]


def test_pasted_session_id_finds_the_memories_of_the_session() -> None:
    session = make_session("7f3c9a52-1b1e-4d5a-9d7e-0a1b2c3d4e5f")
    inside = make_observation("needle", session=session)
    mentions = make_prompt("see 7f3c9a52-1b1e-4d5a-9d7e-0a1b2c3d4e5f")
    make_observation("needle")
    assert set(found("7f3c9a52-1b1e-4d5a-9d7e-0a1b2c3d4e5f")) == {str(inside.ref), str(mentions.ref)}
    assert found("7f3c9a52-1b1e-4d5a-9d7e-0a1b2c3d4e5f needle") == [str(inside.ref)]


@pytest.mark.parametrize(
    "name", ["x" * 5_000, "💥", "'; DROP TABLE memories_project; --", "%", "_", "a,b", 'a"b', "=p1"]
)
def test_hostile_names_are_names(name: str) -> None:
    project, quoted = make_project(name), name.replace('"', '""')
    memory = make_observation("needle", project=project, concepts=[name], files=[name], tags=[name], type=name)
    make_observation("needle", concepts=["other"], files=["other"], tags=["other"], type="other", project="other")
    for field in ("project", "concept", "file", "tag", "type"):
        assert found(f'{field}:"{quoted}"') == [str(memory.ref)]
        assert found("needle", **{field: [name]}) == [str(memory.ref)]


def test_thousands_of_names_are_looked_up_in_few_statements() -> None:
    project = make_project("needle")
    Project.objects.bulk_create([Project(name=f"project-{n}", merged_into=project) for n in range(3_000)])
    Concept.objects.bulk_create([Concept(name=f"concept-{n}") for n in range(3_000)])
    Session.objects.bulk_create([Session(project=project, content_session_id="same") for _ in range(3_000)])
    memory = make_observation("x", project=Project.objects.get(name="project-2999"))
    with CaptureQueriesContext(connection) as few:
        assert found("project:needle") == [str(memory.ref)]
    assert len(few) <= 15
    assert found("session:same concept:concept-1") == []
    assert search_for("concept:concpt-17").total == 0


def test_more_files_than_there_may_be_tokens() -> None:
    for number in range(250):
        make_file(f"gen/f{number}.py")
    mine = make_observation("x", files=["gen/f249.py"], created_at=moment(1))
    summary = make_summary("x", files=["gen/f3.py"], created_at=moment(2))
    passage = make_drawer("x", file="gen/f4.py", created_at=moment(3))
    make_prompt("x")
    make_observation("x", files=["other.py"])
    wanted = refs([passage, summary, mine])
    assert found("file:gen/") == found("x file:gen/", order="newest") == wanted
    assert found("-file:gen/ kind:observation") == refs(Observation.objects.exclude(pk=mine.pk))


def test_promised_functions_find_by_metadata() -> None:
    old = make_observation("needle", type="bugfix", concepts=["gotcha"], files=["src/a.ts"], created_at=moment(1))
    new = make_observation("hay", type="bugfix", concepts=["gotcha"], files=["src/a.ts"], created_at=moment(2))
    make_observation("needle", type="bug", concepts=["got"], files=["src/data.tsx"], project="other")
    search = SearchOrchestrator()
    for find, value in (
        (search.find_by_type, "bugfix"),
        (search.find_by_concept, "gotcha"),
        (search.find_by_file, "a.ts"),
    ):
        assert [str(hit.ref) for hit in find(value).hits] == refs([new, old])
        assert [str(hit.ref) for hit in find(value, SearchRequest(query="needle")).hits] == refs([old])
        assert [str(hit.ref) for hit in find(value, SearchRequest(limit=1)).hits] == refs([new])
        assert find(value, SearchRequest(limit=1)).total == 2
        assert find(value, SearchRequest(projects=("other",))).total == 0
        assert find("nothing").total == 0


def test_names_that_are_attached_are_searchable_as_words() -> None:
    memory = make_observation("x", concepts=["problem-solution"], files=["src/auth/TokenStore.ts"], tags=["urgent"])
    for query in ("problem-solution", "TokenStore", "urgent", "auth/TokenStore.ts"):
        assert found(query) == [str(memory.ref)]


def test_every_kind_can_be_filtered_by_what_all_kinds_have() -> None:
    memories = make_one_of_each("needle", session=make_session("s1"), tags=["t"], project="demo")
    for query in ("project:demo", "session:s1", "tag:t", "platform:claude", "needle"):
        assert sorted(found(query)) == sorted(refs(memories))
    assert set(Kind) == {memory.kind for memory in memories}
