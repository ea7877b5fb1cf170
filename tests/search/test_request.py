"""Parameters of any surface become one request; what makes no sense is named, never dropped in silence."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.http import QueryDict
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memweb.memories.kinds import Kind
from search.query import FieldName
from search.request import (
    MAX_LIMIT,
    Mode,
    Order,
    Problem,
    SearchRequest,
    normalize_params,
)

LOS_ANGELES = ZoneInfo("America/Los_Angeles")
BERLIN = ZoneInfo("Europe/Berlin")
OBSERVATION, SUMMARY = Kind.OBSERVATION, Kind.SUMMARY
NOW = datetime(2026, 3, 31, 12, 0, tzinfo=UTC)


def utc(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[misc, arg-type]


ACCEPTED: list[tuple[Mapping[str, Any] | str, SearchRequest]] = [
    # the query, as pages and programs name it
    ({}, SearchRequest()),
    ({"q": "login"}, SearchRequest(query="login")),
    ({"query": "login"}, SearchRequest(query="login")),
    ({"q": ""}, SearchRequest()),
    ({"q": None, "type": None, "limit": ""}, SearchRequest()),
    ({"q": 12}, SearchRequest(query="12")),
    # lists: comma lists, repeated keys, JSON lists; blank values are none
    ("type=bugfix", SearchRequest(types=("bugfix",))),
    ("type=bugfix,feature", SearchRequest(types=("bugfix", "feature"))),
    ("type=bugfix&type=feature", SearchRequest(types=("bugfix", "feature"))),
    ("type=bugfix, feature ,,bugfix", SearchRequest(types=("bugfix", "feature"))),
    ("type=a,b&type=c", SearchRequest(types=("a,b", "c"))),
    ({"types": ["bugfix", "feature"]}, SearchRequest(types=("bugfix", "feature"))),
    ({"types": ("bugfix",)}, SearchRequest(types=("bugfix",))),
    ({"project": ["my, app"], "kinds": ["o,s"]}, SearchRequest(projects=("my, app",), kinds=(OBSERVATION, SUMMARY))),
    ("type=bugfix&obs_type=feature", SearchRequest(types=("bugfix", "feature"))),
    ("type=&project=%20", SearchRequest()),
    ("project=my%20app", SearchRequest(projects=("my app",))),
    # other names
    ("obs_type=bugfix", SearchRequest(types=("bugfix",))),
    ("obsType=bugfix", SearchRequest(types=("bugfix",))),
    ("concept=gotcha", SearchRequest(concepts=("gotcha",))),
    ("concepts=gotcha,how-it-works", SearchRequest(concepts=("gotcha", "how-it-works"))),
    ("filePath=src/a.ts", SearchRequest(files=("src/a.ts",))),
    ("file_path=src/a.ts", SearchRequest(files=("src/a.ts",))),
    ("files=a.ts,b.ts", SearchRequest(files=("a.ts", "b.ts"))),
    ("wing=api", SearchRequest(projects=("api",))),
    ("session_id=abc", SearchRequest(sessions=("abc",))),
    ("sessionId=abc", SearchRequest(sessions=("abc",))),
    ("platform_source=claude", SearchRequest(platforms=("claude",))),
    ("platformSource=codex", SearchRequest(platforms=("codex",))),
    ("room=auth&agent=coder&tag=todo", SearchRequest(rooms=("auth",), agents=("coder",), tags=("todo",))),
    # kinds, in claude-mem's words too
    ("kind=o,s", SearchRequest(kinds=(Kind.OBSERVATION, Kind.SUMMARY))),
    ("kinds=prompts&kinds=Drawer", SearchRequest(kinds=(Kind.PROMPT, Kind.DRAWER))),
    ("type=observations", SearchRequest(kinds=(Kind.OBSERVATION,))),
    ("type=sessions", SearchRequest(kinds=(Kind.SUMMARY,))),
    ("type=prompts&obs_type=bugfix", SearchRequest(kinds=(Kind.PROMPT,), types=("bugfix",))),
    ("kind=sessions", SearchRequest(kinds=(Kind.SUMMARY,))),
    ("type=observations,prompts", SearchRequest(kinds=(Kind.OBSERVATION, Kind.PROMPT))),
    ("is=archived,noise", SearchRequest(states=("archived", "noise"))),
    ("state=ANY", SearchRequest(states=("any",))),
    # order, size, place
    ("order=newest", SearchRequest(order=Order.NEWEST)),
    ("orderBy=date_desc", SearchRequest(order=Order.NEWEST)),
    ("order_by=date_asc", SearchRequest(order=Order.OLDEST)),
    ("sort=relevance", SearchRequest(order=Order.RELEVANCE)),
    ("mode=keyword", SearchRequest(mode=Mode.KEYWORD)),
    ("mode=AUTO", SearchRequest(mode=Mode.AUTO)),
    ("mode=Semantic+", SearchRequest(mode=Mode.SEMANTIC)),
    ("order=Date_Desc", SearchRequest(order=Order.NEWEST)),
    ("limit=1", SearchRequest(limit=1)),
    ("limit=%20200%20", SearchRequest(limit=MAX_LIMIT)),
    ({"limit": 50, "offset": 0}, SearchRequest(limit=50)),
    ("n_results=5&offset=1000000", SearchRequest(limit=5, offset=1_000_000)),
    ("cursor=abc", SearchRequest(cursor="abc")),
    # what is not ours is left alone
    ("utm_source=x&format=json&page=3", SearchRequest()),
]


@pytest.mark.parametrize(("params", "request_"), ACCEPTED, ids=lambda value: str(value)[:60])
def test_parameters_are_read(params: Mapping[str, Any] | str, request_: SearchRequest) -> None:
    given = QueryDict(params) if isinstance(params, str) else params
    normalized = normalize_params(given, UTC, NOW)
    assert (normalized.request, normalized.problems) == (request_, ())


START_NAMES = ["date_start", "dateStart", "date_from", "dateFrom", "since", "after"]
END_NAMES = ["date_end", "dateEnd", "date_to", "dateTo", "until", "before"]

# Text, zone -> first moment that counts, first moment that no longer does.
TIMES: list[tuple[str, tzinfo, datetime, datetime]] = [
    ("2026-01-20", UTC, utc(2026, 1, 20), utc(2026, 1, 21)),
    ("2026-01-24", LOS_ANGELES, utc(2026, 1, 24, 8), utc(2026, 1, 25, 8)),
    ("2026-03-08", LOS_ANGELES, utc(2026, 3, 8, 8), utc(2026, 3, 9, 7)),  # 23 hours
    ("2026-11-01", LOS_ANGELES, utc(2026, 11, 1, 7), utc(2026, 11, 2, 8)),  # 25 hours
    ("2026-03-29", BERLIN, utc(2026, 3, 28, 23), utc(2026, 3, 29, 22)),
    ("2026-10-25", BERLIN, utc(2026, 10, 24, 22), utc(2026, 10, 25, 23)),
    ("2026-01", BERLIN, utc(2025, 12, 31, 23), utc(2026, 1, 31, 23)),
    ("2026-12", UTC, utc(2026, 12, 1), utc(2027, 1, 1)),
    ("2026", UTC, utc(2026, 1, 1), utc(2027, 1, 1)),
    ("today", LOS_ANGELES, utc(2026, 3, 31, 7), utc(2026, 4, 1, 7)),
    ("Yesterday", UTC, utc(2026, 3, 30), utc(2026, 3, 31)),
    ("2024-02-29", UTC, utc(2024, 2, 29), utc(2024, 3, 1)),
]
MOMENTS: list[tuple[str, tzinfo, datetime]] = [
    ("1769317680", UTC, utc(2026, 1, 25, 5, 8)),
    ("1769317680000", LOS_ANGELES, utc(2026, 1, 25, 5, 8)),
    ("1769317680123", UTC, utc(2026, 1, 25, 5, 8, 0, 123000)),
    ("2026-01-20T10:30:00Z", LOS_ANGELES, utc(2026, 1, 20, 10, 30)),
    ("2026-01-20T10:30:00.250+01:00", UTC, utc(2026, 1, 20, 9, 30, 0, 250000)),
    ("2026-01-20t10:30z", UTC, utc(2026, 1, 20, 10, 30)),
    ("2026-01-20 10:30:00,5", UTC, utc(2026, 1, 20, 10, 30, 0, 500000)),
    ("2026-01-20T10:30", LOS_ANGELES, utc(2026, 1, 20, 18, 30)),
    ("2026-07-20 10:30", BERLIN, utc(2026, 7, 20, 8, 30)),
    ("7d", UTC, utc(2026, 3, 24, 12)),
    ("2w", BERLIN, utc(2026, 3, 17, 12)),
    ("1m", UTC, utc(2026, 2, 28, 12)),  # the last day of the shorter month
    ("13m", UTC, utc(2025, 2, 28, 12)),
    ("1y", UTC, utc(2025, 3, 31, 12)),
    ("0d", UTC, NOW),
]


@pytest.mark.parametrize(("text", "zone", "start", "end"), TIMES)
def test_whole_days_are_days_of_the_viewer(text: str, zone: tzinfo, start: datetime, end: datetime) -> None:
    for name in START_NAMES:
        assert normalize_params({name: text}, zone, NOW).request == SearchRequest(date_start=start)
    for name in END_NAMES:
        assert normalize_params({name: text}, zone, NOW).request == SearchRequest(date_end=end)
    both = normalize_params({"since": text, "until": text}, zone, NOW)
    assert (both.request, both.problems) == (SearchRequest(date_start=start, date_end=end), ())


@pytest.mark.parametrize(("text", "zone", "moment"), MOMENTS)
def test_moments_are_included(text: str, zone: tzinfo, moment: datetime) -> None:
    start = normalize_params({"since": text}, zone, NOW).request.date_start
    end = normalize_params({"until": text}, zone, NOW).request.date_end
    assert start == moment
    assert end is not None
    assert end - moment == LENGTHS.get(text, timedelta(microseconds=1))


# A clock time lasts as long as its last part, so that both ends of a range count.
LENGTHS = {
    "2026-01-20T10:30:00Z": timedelta(seconds=1),
    "2026-01-20t10:30z": timedelta(minutes=1),
    "2026-01-20T10:30": timedelta(minutes=1),
    "2026-07-20 10:30": timedelta(minutes=1),
}


# Parameter, value -> the words of the message that say what is wrong.
REFUSED: list[tuple[str, str, str]] = [
    ("limit", "0", "“0” is not a whole number from 1 to 200"),
    ("limit", "201", "“201” is not a whole number from 1 to 200"),
    ("limit", "-1", "“-1” is not a whole number from 1 to 200"),
    ("limit", "1.5", "“1.5” is not a whole number from 1 to 200"),
    ("limit", "ten", "“ten” is not a whole number from 1 to 200"),
    ("limit", "٣", "“٣” is not a whole number from 1 to 200"),
    ("limit", "9" * 5000, "is not a whole number from 1 to 200"),
    ("n_results", "many", "“many” is not a whole number from 1 to 200"),
    ("offset", "-1", "“-1” is not a whole number from 0 to 1000000"),
    ("offset", "1000001", "“1000001” is not a whole number from 0 to 1000000"),
    ("order", "random", "“random” is not known here; accepted are relevance, newest, oldest, date_desc, date_asc"),
    ("orderBy", "LATEST", "“LATEST” is not known here"),
    ("mode", "magic", "“magic” is not known here; accepted are auto, keyword"),
    ("kind", "banana", "“banana” is not known here; accepted are drawer, observation, prompt, summary"),
    ("kind", "observation,banana", "“banana” is not known here"),
    ("is", "gone", "“gone” is not known here; accepted are active, archived, trashed"),
    ("date_start", "tomorrow", "“tomorrow” is not a time; accepted are 2026-01-20"),
    ("dateStart", "2026-02-30", "“2026-02-30” is not a time"),
    ("since", "2026-13", "“2026-13” is not a time"),
    ("since", "2026-01-20T25:00", "“2026-01-20T25:00” is not a time"),
    ("until", "99999999999999999", "“99999999999999999” is not a time"),
    ("before", "9999y", "“9999y” is not a time"),
    ("after", "-5", "“-5” is not a time"),
    ("dateRange", "2026", "give the two ends as date_start and date_end"),
]


@pytest.mark.parametrize(("name", "value", "message"), REFUSED, ids=lambda value: value[:40])
@pytest.mark.parametrize("beside", [{}, {"q": "login", "type": "bugfix"}], ids=["alone", "beside others"])
def test_value_that_makes_no_sense_is_a_problem_of_its_field(
    name: str, value: str, message: str, beside: dict[str, str]
) -> None:
    normalized = normalize_params({**beside, name: value}, UTC, NOW)
    assert normalized.request == normalize_params(beside).request
    [problem] = normalized.problems
    assert (problem.field, problem.value) == (name, value[:200])
    assert message in problem.message


def test_every_problem_is_said() -> None:
    normalized = normalize_params({"limit": "x", "order": "y", "since": "z", "kind": "w"})
    assert [problem.field for problem in normalized.problems] == ["limit", "order", "since", "kind"]
    assert normalized.request == SearchRequest()


def test_range_that_ends_before_it_begins_is_a_problem() -> None:
    normalized = normalize_params({"since": "2026-02-01", "until": "2026-01-01", "q": "x"})
    assert normalized.request == SearchRequest(query="x")
    assert normalized.problems == (
        Problem("date_end", "2026-01-02 00:00:00+00:00", "the end of the time range is before its start"),
    )


names = st.sampled_from([*START_NAMES, *END_NAMES, "q", "kind", "type", "project", "is", "limit", "offset", "order",
                         "mode", "cursor", "file", "dateRange", "session"])  # fmt: skip
values = (
    st.none()
    | st.text()
    | st.integers()
    | st.floats()
    | st.booleans()
    | st.sampled_from(["1", "2026-01-20", "0001-01-01", "9999-12-31", "999y", "9999w", "2999", "1000", "today", "12m"])
    | st.lists(st.text() | st.integers(), max_size=3)
    | st.dictionaries(st.text(), st.text(), max_size=1)
)


@settings(max_examples=200, deadline=None)
@given(params=st.dictionaries(names | st.text(max_size=5), values, max_size=5), offset=st.sampled_from([-11, 0, 14]))
@example(params={"since": "1000"}, offset=14)
@example(params={"until": "2999-12-31"}, offset=-11)
@example(params={"until": "2999"}, offset=-11)
@example(params={"since": "1000-01-01"}, offset=14)
@example(params={"q": "\ud800", "project": "\udfff,a"}, offset=0)
def test_no_parameters_raise(params: dict[str, Any], offset: int) -> None:
    zone = ZoneInfo({-11: "Pacific/Pago_Pago", 0: "UTC", 14: "Pacific/Kiritimati"}[offset])
    normalized = normalize_params(params, zone)
    assert {problem.field for problem in normalized.problems} <= {*params, "date_end"}
    texts = [normalized.request.query, *normalized.request.projects, *normalized.request.files]
    assert all(text == text.encode().decode() for text in texts)
    assert isinstance(normalized.request.explanation, str)
    assert isinstance(normalized.request.filters(), dict)


def test_filters_of_a_request_are_its_differences_from_the_default() -> None:
    request = SearchRequest(
        query="x", kinds=(Kind.PROMPT,), projects=("a", "b"), date_start=utc(2026, 1, 20), order=Order.OLDEST, limit=3
    )
    assert request.filters() == {
        "kinds": ["prompt"],
        "projects": ["a", "b"],
        "date_start": "2026-01-20 00:00:00+00:00",
        "order": "oldest",
    }
    assert [str(field.name) for field in request.filter_fields()] == [FieldName.KIND, FieldName.PROJECT]


@pytest.mark.parametrize(
    ("request_", "order"),
    [
        (SearchRequest(), Order.NEWEST),
        (SearchRequest(query="login"), Order.RELEVANCE),
        (SearchRequest(query="type:bugfix"), Order.NEWEST),
        (SearchRequest(query="-login"), Order.NEWEST),
        (SearchRequest(query="type:bugfix login"), Order.RELEVANCE),
        (SearchRequest(query="login", order=Order.OLDEST), Order.OLDEST),
        (SearchRequest(order=Order.RELEVANCE), Order.RELEVANCE),
    ],
)
def test_order_is_relevance_when_there_are_words_to_rank_by(request_: SearchRequest, order: Order) -> None:
    assert request_.effective_order is order
