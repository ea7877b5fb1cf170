"""Filters beside the query text: what they become in it, and that nothing else is found then."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from search.folding import as_text
from search.query import normalize
from search.request import FILTERS, normalize_params
from search.times import end_text, period_of, start_text

BERLIN = ZoneInfo("Europe/Berlin")


def folded(**params: object) -> str:
    return as_text(normalize_params(params, BERLIN).request, BERLIN).query


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"q": "login"}, "login"),
        ({"q": "login", "type": "bugfix,feature"}, "type:bugfix,feature login"),
        ({"q": "login ", "type": "bugfix"}, "login type:bugfix"),
        ({"q": "a OR b", "kind": "prompt"}, "(a OR b*) kind:prompt"),
        ({"project": "my app"}, 'project:"my app"'),
        ({"q": "type:a", "type": "b"}, "type:a type:b"),
        ({"since": "2026-05"}, "after:2026-05"),
        ({"until": "2026-05"}, "before:2026-05"),
        ({"since": "2026", "until": "2026-05-03"}, "after:2026-01-01 before:2026-05-03"),
        ({"since": "2025", "until": "2026-05"}, "after:2025-01 before:2026-05"),
        ({"since": "2026-05-03T10:00", "until": "2026-05"}, "after:2026-05-03T10:00 before:2026-05-31"),
        ({"since": "2026-05-01T14:30"}, "after:2026-05-01T14:30"),
        ({"since": "2026-05-01T14:30Z"}, "after:2026-05-01T16:30"),
        ({"is": "pinned", "file": "src/"}, "file:src/ is:pinned"),
    ],
)
def test_filters_become_text(params, text):
    assert folded(**params) == text


@pytest.mark.parametrize(
    "params", [{"since": "7d"}, {"session": [f"s{n}" for n in range(70)]}, {"max_distance": "0.4"}]
)
def test_what_the_text_cannot_hold_stays_beside_it(params):
    request = normalize_params(params, BERLIN).request
    assert as_text(request, BERLIN) == request


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=30), st.sampled_from([*FILTERS.values()]), st.lists(st.text(min_size=1), max_size=3))
def test_folding_asks_for_the_same(query, name, values):
    request = normalize_params({"q": query, name: values}).request
    folded = as_text(request, UTC)
    tree, other = (normalize(one.tree) for one in (request, folded))
    assert set(getattr(other, "nodes", [other])) == set(getattr(tree, "nodes", [tree]))


MOMENTS = st.datetimes(min_value=datetime(1001, 1, 1), max_value=datetime(2998, 12, 31))  # noqa: DTZ001
ZONES = st.sampled_from([BERLIN, UTC, *map(ZoneInfo, ("America/Sao_Paulo", "Asia/Kolkata", "Pacific/Apia"))])
LEAST = {"month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0, "microsecond": 0}


@settings(max_examples=500, deadline=None)
@given(MOMENTS, ZONES, st.integers(0, len(LEAST)))
def test_written_times_mean_the_moment(moment, zone, precision):
    moment = moment.replace(**dict([*LEAST.items()][precision:]))
    moment = moment.replace(tzinfo=zone).astimezone(UTC)
    assert period_of(start_text(moment, zone), zone).start == moment
    assert period_of(end_text(moment, zone), zone).end == moment


@pytest.mark.parametrize(
    ("local", "start", "end"),
    [
        ("2026-01-01", "2026", "2025"),
        ("2026-05-01", "2026-05", "2026-04"),
        ("2026-05-02", "2026-05-02", "2026-05-01"),
        ("2026-05-02T14:30", "2026-05-02T14:30", "2026-05-02T14:29"),
        ("2026-10-25T02:00+02:00", "2026-10-25T02:00", "2026-10-25T01:59"),
        ("2026-10-25T02:00+01:00", "2026-10-25T01:00Z", "2026-10-25T02:59"),
    ],
)
def test_times_are_written_as_short_as_can_be(local, start, end):
    moment = datetime.fromisoformat(local)
    moment = moment if moment.tzinfo else moment.replace(tzinfo=BERLIN)
    assert (start_text(moment, BERLIN), end_text(moment, BERLIN)) == (start, end)
