"""`memweb timeline`: the same timeline as a table, as Markdown and as JSON."""

import json
import re
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from memweb.memories.models import TimeQuality
from tests.factories import make_observation, make_prompt, moment, refs

pytestmark = pytest.mark.django_db

CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def printed(*arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command("timeline", *arguments, stdout=out, **options)
    return out.getvalue()


def test_json_is_what_the_builder_says() -> None:
    memories = [make_observation(f"number {number}", created_at=moment(number)) for number in range(4)]
    data = json.loads(printed(str(memories[1].ref), "--before", "1", "--after", "1", "--json"))
    assert [one["ref"] for one in data["results"]] == refs(memories[:3])
    assert (data["found_anchor"], data["found_oldest"], data["found_newest"]) == (True, True, False)


def test_markdown_has_a_heading_for_each_day_and_marks_the_anchor() -> None:
    anchor = make_observation("Slow login", type="bugfix")
    later = make_prompt("Thanks", created_at=moment(24 * 60))
    doubtful = make_observation("When?", type="change", created_at=moment(1), time_quality=TimeQuality.DOUBTFUL)
    assert printed(str(anchor.ref), "--markdown").splitlines() == [
        f"# Around {anchor.ref} Slow login",
        "",
        "## Tuesday 20 January 2026",
        "",
        f"- 09:00:00 `{anchor.ref}` **Slow login** (bugfix) ← anchor",
        "",
        "## Wednesday 21 January 2026",
        "",
        f"- 09:00:00 `{later.ref}` **Thanks** (prompt)",
        "",
        "## Time unknown or doubtful",
        "",
        f"- 09:01:00 `{doubtful.ref}` **When?** (change)",
        "",
        "The beginning is reached.",
        "The end is reached.",
    ]


def test_table_marks_the_anchor_and_follows_the_time_zone() -> None:
    anchor = make_observation("Slow login", type="bugfix", created_at=moment(-6 * 60))
    with timezone.override("America/Los_Angeles"):
        lines = [line.rstrip() for line in printed(str(anchor.ref)).splitlines()]
    assert lines == [
        f"Around {anchor.ref} Slow login",
        "",
        "Monday 19 January 2026",
        f">  19:00:00  {anchor.ref}  bugfix  Slow login",
        "The beginning is reached.",
        "The end is reached.",
    ]


def test_filters_are_those_of_the_search_command() -> None:
    anchor = make_observation("anchor", type="bugfix", project="api")
    make_prompt("prompt", project="api", created_at=moment(1))
    other = make_observation("other", type="bugfix", project="web", created_at=moment(2))
    found = json.loads(printed(str(anchor.ref), "--type", "bugfix", "--all-projects", "--json"))
    assert [one["ref"] for one in found["results"]] == refs([anchor, other])
    assert len(json.loads(printed(str(anchor.ref), "--type", "bugfix", "--json"))["results"]) == 1


def test_query_of_several_words_names_its_match() -> None:
    memory = make_observation("Slow login")
    assert (
        printed("slow", "login").splitlines()[0] == f"Around {memory.ref} Slow login, the best match for “slow login”"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["999999"], "There is no memory o999999."),
        (["2026-02-30"], "“2026-02-30” is not a time that exists; accepted are a memory such as o12"),
        (["now", "--before", "-1"], "--before: “-1” is not a number of memories; accepted are 0 to 200"),
        (["now", "--since", "soon"], "--since: “soon” is not a time; accepted are"),
        (["now", "--until", "soon"], "--until: “soon” is not a time; accepted are"),
    ],
)
def test_bad_argument_is_told_on_one_line(arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError) as raised:
        printed(*arguments)
    assert str(raised.value).startswith(message)
    assert "\n" not in str(raised.value)


def test_deleted_anchor_names_the_nearest_moment() -> None:
    make_observation("kept", created_at=moment(1))
    gone = make_observation("gone", created_at=moment(2))
    ref = gone.ref
    gone.delete()
    with pytest.raises(
        CommandError, match=rf"^The memory {ref} was deleted. The nearest moment known is 2026-01-20T09:01"
    ):
        printed(str(ref))


@pytest.mark.parametrize("format", [[], ["--markdown"], ["--json"]])
def test_nothing_of_a_hostile_text_acts(format: list[str]) -> None:
    anchor = make_observation("\x1b[31mred\x1b]8;;http://evil.example\x07link\u202egnp\u200b\x9b1m", type="\x1b[2J")
    assert CONTROLS.findall(printed(str(anchor.ref), *format)) == []
