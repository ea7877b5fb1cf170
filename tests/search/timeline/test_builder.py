"""Timelines hold what stands beside their anchor: everything, once, in the order of time, kind and id."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import transaction
from hypothesis import given, settings
from hypothesis import strategies as st

from memweb.memories.kinds import Kind
from memweb.memories.models import Memory, State, TimeQuality
from search.request import SearchRequest
from search.timeline import AnchorError, GoneError, MissingError, Timeline, TimelineBuilder
from tests.factories import START, make_drawer, make_observation, make_one_of_each, make_prompt, moment, refs

pytestmark = pytest.mark.django_db

MAKE = {Kind.DRAWER: make_drawer, Kind.OBSERVATION: make_observation, Kind.PROMPT: make_prompt}


def around(anchor: str, before: int = 10, after: int = 10, query: str = "", **options: bool) -> Timeline:
    return TimelineBuilder().timeline(anchor, before, after, SearchRequest(query=query), **options)


def shown(timeline: Timeline) -> list[str]:
    return [str(hit.ref) for hit in timeline.hits]


def in_order(memories: Sequence[Memory]) -> list[str]:
    return refs(sorted(memories, key=lambda memory: (memory.created_at, memory.kind, memory.pk)))


times = st.sampled_from([START, START + timedelta(microseconds=1), START + timedelta(seconds=1), moment(-1)])


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.sampled_from(sorted(MAKE)), times), min_size=1, max_size=12),
    st.integers(0, 4),
    st.integers(0, 4),
    st.randoms(use_true_random=False).map(lambda random: random.choice),
)
def test_timeline_is_a_window_of_the_whole_order(
    rows: list[tuple[Kind, datetime]], before: int, after: int, choose: Callable[[list[str]], str]
) -> None:
    with transaction.atomic():
        memories = [MAKE[kind](f"text {number}", created_at=at) for number, (kind, at) in enumerate(rows)]
        whole = in_order(memories)
        anchor = choose(whole)
        place = whole.index(anchor)
        timeline = around(anchor, before, after)
        transaction.set_rollback(True)
    assert shown(timeline) == whole[max(0, place - before) : place + after + 1]
    assert timeline.found_oldest == (place <= before)
    assert timeline.found_newest == (place + after >= len(whole) - 1)
    assert (timeline.found_anchor, timeline.in_filters) == (True, True)


def test_equal_times_stay_whole_and_in_order_of_kind() -> None:
    same = make_one_of_each("at once", created_at=START)
    assert shown(around(str(same[2].ref))) == refs(same)
    assert shown(around(str(same[2].ref), 1, 1)) == refs(same)[1:4]


@pytest.mark.parametrize(
    ("anchor", "count_before"),
    [
        (START.isoformat(), 0),
        (moment(1).isoformat(), 1),
        (str(int(moment(1).timestamp())), 1),
        (str(int(moment(1).timestamp() * 1000)), 1),
        ("2026-01-20 09:01", 1),
        ("2026-01-20", 0),
        ("2026-01-21", 3),
        ("now", 3),
    ],
)
def test_moment_stands_between_memories(anchor: str, count_before: int) -> None:
    memories = [make_observation(f"number {number}", created_at=moment(number)) for number in range(3)]
    timeline = around(anchor)
    assert shown(timeline) == refs(memories)
    assert timeline.found_anchor is False
    moments = [hit.memory.created_at for hit in timeline.hits if hit.memory.created_at < timeline.anchor.moment]
    assert len(moments) == count_before


def test_date_begins_at_midnight_of_the_viewer() -> None:
    make_observation("late", created_at=datetime(2026, 1, 25, 4, 8, tzinfo=UTC))
    there = TimelineBuilder(ZoneInfo("America/Los_Angeles")).timeline("2026-01-25", 10, 10)
    here = TimelineBuilder().timeline("2026-01-25", 10, 10)
    assert there.anchor.moment == datetime(2026, 1, 25, 8, tzinfo=UTC)
    assert here.anchor.moment == datetime(2026, 1, 25, tzinfo=UTC)


def test_best_match_of_a_query_is_the_anchor_not_the_newest() -> None:
    best = make_observation("Login timeout after deploy", "the login timeout", created_at=START)
    for number in range(1, 5):
        make_observation(f"Other {number}", "mentions a login once, and a timeout", created_at=moment(number))
    timeline = around("login timeout")
    assert (timeline.anchor.memory, timeline.anchor.query) == (best, "login timeout")
    assert timeline.anchor.text == str(best.ref)


@pytest.mark.parametrize("spelling", ["o{0}", "#{0}", "{0}", "O{0}", " o{0} "])
def test_any_spelling_of_a_ref_is_read(spelling: str) -> None:
    memory = make_observation("anchor")
    assert around(spelling.format(memory.pk)).anchor.memory == memory


@pytest.mark.parametrize(
    "anchor", ["2026-13-45", "2026-02-30", "2026/01/20", "25:99", "-1", "9223372036854775808", "99999999999999999999"]
)
def test_bad_time_names_itself_and_the_accepted_forms(anchor: str) -> None:
    with pytest.raises(AnchorError, match=r"accepted are a memory such as o12, a moment \(2026-01-20, ") as raised:
        around(anchor)
    assert anchor in str(raised.value)


@pytest.mark.parametrize("anchor", ["", "  ", "x" * 501])
def test_anchor_that_is_none_or_endless_is_refused(anchor: str) -> None:
    with pytest.raises(AnchorError, match=r"accepted are|needs an anchor"):
        around(anchor)


def test_missing_anchor_is_told_from_a_deleted_one() -> None:
    first, second = (make_observation(f"number {number}", created_at=moment(number)) for number in range(2))
    gone = second.ref
    second.delete()
    with pytest.raises(GoneError, match=f"The memory {gone} was deleted") as raised:
        around(str(gone))
    assert raised.value.nearest == first.created_at
    with pytest.raises(MissingError, match="There is no memory o999999"):
        around("999999")
    with pytest.raises(MissingError, match="No memory matches “nothing like it”"):
        around("nothing like it")


def test_trashed_anchor_is_gone_and_offers_its_own_time() -> None:
    memory = make_observation("thrown away", state=State.TRASHED, created_at=moment(3))
    with pytest.raises(GoneError, match="in the trash") as raised:
        around(str(memory.ref))
    assert raised.value.nearest == moment(3)


def test_trashed_and_archived_memories_are_not_beside_an_anchor() -> None:
    anchor = make_observation("anchor")
    make_observation("trashed", state=State.TRASHED, created_at=moment(1))
    archived = make_observation("archived", state=State.ARCHIVED, created_at=moment(2))
    assert shown(around(str(anchor.ref))) == refs([anchor])
    assert shown(around(str(anchor.ref), query="is:archived")) == refs([anchor, archived])


def test_filters_leave_out_what_stands_between_and_say_so_of_the_anchor() -> None:
    memories = [
        make_observation(f"number {number}", type="bugfix" if number % 2 else "feature", created_at=moment(number))
        for number in range(6)
    ]
    timeline = around(str(memories[2].ref), query="type:bugfix")
    assert shown(timeline) == refs([memories[1], memories[2], memories[3], memories[5]])
    assert timeline.in_filters is False


def test_timeline_of_a_memory_stays_in_its_project_unless_asked() -> None:
    anchor = make_observation("anchor", project="api")
    make_observation("elsewhere", project="API", created_at=moment(1))
    beside = make_observation("beside", project="api", created_at=moment(2))
    assert (shown(around(str(anchor.ref))), around(str(anchor.ref)).own_project) == (refs([anchor, beside]), True)
    assert len(shown(around(str(anchor.ref), all_projects=True))) == 3
    assert len(shown(around("2026-01-20"))) == 3
    assert len(shown(around(str(anchor.ref), query="project:API"))) == 2


def test_project_without_a_name_has_a_timeline_of_its_own() -> None:
    anchor = make_observation("anchor", project="")
    make_observation("elsewhere", project="api", created_at=moment(1))
    assert shown(around(str(anchor.ref))) == refs([anchor])


def test_unknown_times_stand_beside_unknown_times_only() -> None:
    known = make_observation("known")
    lost = [make_observation(f"lost {number}", created_at=None) for number in range(3)]
    timeline = around(str(known.ref))
    assert shown(timeline) == refs([known])
    assert timeline.first_without_time == (Kind.OBSERVATION, lost[0].pk)
    assert (timeline.found_oldest, timeline.found_newest) == (True, True)
    unknown = around(str(lost[1].ref), 1, 10)
    assert (shown(unknown), unknown.found_oldest, unknown.found_newest) == (refs(lost), True, True)


def test_doubtful_time_is_not_lost() -> None:
    doubtful = make_observation("doubtful", created_at=moment(1), time_quality=TimeQuality.DOUBTFUL)
    anchor = make_observation("anchor")
    assert shown(around(str(anchor.ref))) == refs([anchor, doubtful])


def test_nothing_is_lost_or_repeated_when_rows_are_added_between_two_views() -> None:
    memories = [make_observation(f"number {number}", created_at=moment(number)) for number in range(9)]
    narrow = shown(around(str(memories[4].ref), 2, 2))
    added = make_observation("added", created_at=moment(3.5))
    wide = shown(around(str(memories[4].ref), 4, 3))
    assert narrow == refs(memories[2:7])
    assert wide == refs([*memories[1:4], added, *memories[4:8]])


def test_as_data_it_says_what_was_found() -> None:
    memories = [make_observation(f"number {number}", created_at=moment(number)) for number in range(3)]
    data = around(str(memories[1].ref), 0, 10).to_dict()
    assert data["anchor"] == {
        "ref": str(memories[1].ref),
        "time": "2026-01-20T09:01:00.000Z",
        "query": None,
        "in_filters": True,
    }
    assert (data["found_anchor"], data["found_oldest"], data["found_newest"]) == (True, False, True)
    assert [(one["ref"], one["is_anchor"]) for one in data["results"]] == [
        (str(memories[1].ref), True),
        (str(memories[2].ref), False),
    ]
