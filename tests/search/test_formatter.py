"""Results as JSON, Markdown and table: the promised shape, and nothing of a hostile text gets through."""

import json
import re
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from memweb.memories.models import Observation
from search.cursors import decode
from search.facets import FacetName
from search.formatter import ResultFormatter, to_json
from search.request import Order
from search.results import DidYouMean, Fallback, iso_time
from tests.factories import make_drawer, make_observation, make_prompt, make_session, make_summary, moment
from tests.search.searching import search_for

pytestmark = pytest.mark.django_db

HOSTILE = (
    "\x1b[31mred\x1b[0m \x1b]8;;http://evil.example\x07link\x1b]8;;\x07\u202egnp.exe\u202c zero\u200bwidth\x00\x9b1m"
    "\r\n| `x` *y* <b>"
)
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@pytest.fixture
def observation() -> Observation:
    return make_observation(
        "Rate limit",
        "The rate limit is 5.",
        type="bugfix",
        concepts=["gotcha"],
        files=["src/a.ts"],
        tags=["todo"],
        session=make_session("content-1"),
        created_at=moment(0.5),
    )


def test_result_has_the_promised_shape(observation: Observation) -> None:
    data = json.loads(ResultFormatter().to_json(search_for("rate limit type:bugfix", project="demo", limit=5)))
    took = data.pop("took_ms")
    [hit] = data.pop("results")
    score, explain = hit.pop("score"), hit.pop("explain")
    assert (hit.pop("is_weak"), hit.pop("before"), hit.pop("after")) == (False, "", "")
    assert data == {
        "query": "rate limit type:bugfix",
        "mode": "auto",
        "strategy": "sqlite",
        "used_chroma": False,
        "fallback": None,
        "filters": {"projects": ["demo"]},
        "explanation": data["explanation"],
        "total": 1,
        "total_is_capped": False,
        "did_you_mean": None,
        "is_relaxed": False,
        "is_weak": False,
        "by_meaning": 0,
        "notes": [],
        "facets": {
            "kind": [{"value": "observation", "count": 1, "selected": False}],
            "type": [{"value": "bugfix", "count": 1, "selected": True}],
            "project": [{"value": "demo", "count": 1, "selected": True}],
            "concept": [{"value": "gotcha", "count": 1, "selected": False}],
            "tag": [{"value": "todo", "count": 1, "selected": False}],
            "platform": [{"value": "claude", "count": 1, "selected": False}],
            "agent": [],
            "room": [],
            "state": [],
            "file": [{"value": "src/a.ts", "count": 1, "selected": False}],
        },
        "next": None,
    }
    assert hit == {
        "ref": str(observation.ref),
        "kind": "observation",
        "type": "bugfix",
        "title": "Rate limit",
        "snippet": "The rate limit is 5.",
        "project": "demo",
        "session": "content-1",
        "created_at": "2026-01-20T09:00:30.000Z",
        "url": f"/m/{observation.ref}/",
    }
    assert {name: explain[name] for name in ("keyword_rank", "words", "matched_via")} == {
        "keyword_rank": 1,
        "words": ["rate", "limit"],
        "matched_via": "title, narrative",
    }
    assert {name for name, value in explain.items() if value is None} == {
        "vector_rank",
        "distance",
        "similarity",
        "closet_boost",
        "max_similarity",
    }
    assert isinstance(explain["bm25"], float)
    assert score > explain["bm25"] > 0
    assert took >= 0


def test_result_of_a_search_that_finds_nothing(observation: Observation) -> None:
    data = search_for("nothing at all").to_dict()
    assert (data["results"], data["total"], data["next"]) == ([], 0, None)
    assert data["facets"] == {str(name): [] for name in FacetName}


def test_degraded_result_is_machine_readable() -> None:
    result = search_for("x")
    object.__setattr__(result, "fallback", Fallback("sqlite", "broken"))
    object.__setattr__(result, "did_you_mean", DidYouMean("y", 3, True))
    data = result.to_dict()
    assert data["fallback"] == {"from": "sqlite", "reason": "broken"}
    assert data["did_you_mean"] == {"query": "y", "total": 3}


def test_unknown_time_and_missing_session_are_null_and_empty() -> None:
    make_prompt("x", created_at=None)
    [hit] = search_for("x").to_dict()["results"]
    assert (hit["created_at"], hit["session"], hit["type"]) == (None, "", "")
    assert iso_time(None) is None


def test_cursor_in_json_leads_on() -> None:
    for number in range(3):
        make_observation("x", created_at=moment(number))
    data = search_for("", limit=2).to_dict()
    decode(data["next"], Order.NEWEST)
    assert len(search_for("", limit=2, cursor=data["next"]).to_dict()["results"]) == 1


def test_markdown(observation: Observation) -> None:
    result = search_for("rate limit")
    object.__setattr__(result, "took_ms", 1.4)
    assert ResultFormatter().to_markdown(result) == (
        f"**1 found: {result.explanation} (1 ms)**\n"
        "\n"
        f"- `{observation.ref}` **Rate limit** — demo, bugfix, 2026-01-20 09:00 UTC\n"
        "  The rate limit is 5.\n"
    )


def test_table(observation: Observation) -> None:
    lines = ResultFormatter().to_table(search_for("rate limit"), width=100).splitlines()
    assert lines[0].startswith("1 found: ")
    assert lines[1].split() == ["ref", "when", "project", "type", "title", "and", "text"]
    assert lines[2].split() == [str(observation.ref), "2026-01-20", "09:00", "demo", "bugfix", "Rate", "limit"]
    assert lines[3].strip() == "The rate limit is 5."
    why = ResultFormatter().to_table(search_for("rate limit"), width=160, explain=True)
    assert "#1 by words ·" in why


@pytest.mark.parametrize("width", [40, 80, 200])
def test_names_of_any_length_leave_the_table_readable(width: int) -> None:
    name = "n" * 3000
    make_observation("needle", type=name, project=name, concepts=[name], files=[name], tags=[name])
    result = search_for("needle", project=name, type=name)
    lines = ResultFormatter().to_table(result, width=width).splitlines()
    assert result.total == 1
    assert max(map(len, lines)) <= width
    assert len(lines) <= 240 / width + 5
    [row] = [line for line in lines if "needle" in line and "2026-01-20" in line]
    assert row.count("…") == (0 if width < 72 else 2)


def test_remarks_are_in_table_and_markdown() -> None:
    make_observation("alpha")
    result = search_for("alpha omega concept:nothing OR alpha nowhere")
    for text in (ResultFormatter().to_table(result, width=200), ResultFormatter().to_markdown(result)):
        assert "No concept is called “nothing”." in text
    relaxed = search_for("alpha omega")
    for text in (ResultFormatter().to_table(relaxed, width=200), ResultFormatter().to_markdown(relaxed)):
        assert "No memory has all the words; these have some of them." in text


MAKE: list[Callable[..., Any]] = [make_observation, make_prompt, make_summary, make_drawer]


@pytest.mark.parametrize("make", MAKE)
@pytest.mark.parametrize("width", [20, 80, 300])
def test_hostile_text_is_harmless_in_every_format(make: Callable[..., Any], width: int) -> None:
    session = make_session(HOSTILE, title=HOSTILE)
    memory = make(HOSTILE, project=HOSTILE.replace("\x00", ""), session=session, tags=[HOSTILE])
    assert str(memory.ref)
    result = search_for("link", limit=1)
    assert result.total == 1
    formatter = ResultFormatter()
    for text in (formatter.to_table(result, width=width, explain=True), formatter.to_markdown(result)):
        assert CONTROLS.findall(text) == []
    raw = formatter.to_json(result)
    assert CONTROLS.findall(raw) == []
    [hit] = json.loads(raw)["results"]
    assert CONTROLS.findall(hit["title"] + hit["snippet"]) == []


def test_half_characters_become_replacement_characters() -> None:
    assert json.loads(to_json({"a\ud800": ["\udfff", "😀"]})) == {"a\ufffd": ["\ufffd", "😀"]}


@pytest.mark.parametrize("text", ["a\u202eb", "\x9b31m", "\u200bx", "👩\u200d💻", "\u2028", '"\\', "\x00\x1b"])
def test_json_is_harmless_to_print_and_says_the_same(text: str) -> None:
    written = to_json({"text": text})
    assert json.loads(written) == {"text": text}
    assert CONTROLS.findall(written) == []


def printed(*arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out, **options)
    return out.getvalue()


def test_search_command_prints_json_table_and_markdown(observation: Observation) -> None:
    data = json.loads(printed("search", "rate", "limit", "--json", "--project", "demo", "--type", "bugfix"))
    assert [hit["ref"] for hit in data["results"]] == [str(observation.ref)]
    assert data["filters"] == {"types": ["bugfix"], "projects": ["demo"]}
    assert printed("search", "rate", "--markdown").splitlines()[2].startswith(f"- `{observation.ref}` **Rate limit**")
    assert str(observation.ref) in printed("search", "rate", "--explain")
    assert json.loads(printed("search", "--json", "--file", "a.ts", "--concept", "gotcha"))["total"] == 1
    assert json.loads(printed("search", "--json", "--since", "2026-01-21"))["total"] == 0
    assert json.loads(printed("search", "--json", "--until", "2026-01-20", "--kind", "o"))["total"] == 1


def test_search_command_takes_names_with_commas() -> None:
    memory = make_observation("x", project="a, b")
    data = json.loads(printed("search", "--json", "--project", "a, b"))
    assert [hit["ref"] for hit in data["results"]] == [str(memory.ref)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--limit", "0"], "--limit: “0” is not a whole number from 1 to 200"),
        (["--since", "soon"], "--since: “soon” is not a time"),
        (["--kind", "banana"], "--kind: “banana” is not known here"),
        (
            ["--order", "up", "--mode", "magic"],
            "--mode: “magic” is not known here",
        ),
        (["--until", "later"], "--until: “later” is not a time"),
        (["--since", "2026-02", "--until", "2026-01"], "--until: the end of the time range is before its start"),
        (["--kind", "a\nb"], "--kind: “a b” is not known here"),
    ],
)
def test_search_command_refuses_what_makes_no_sense(arguments: list[str], message: str) -> None:
    with pytest.raises(CommandError, match=re.escape(message)):
        call_command("search", "x", *arguments)


def test_search_command_prints_half_characters(observation: Observation) -> None:
    assert json.loads(printed("search", "rate \ud800", "--json"))["query"] == "rate \ufffd"
    assert "\ufffd" in printed("search", "rate \ud800")


def test_show_command_prints_every_kind() -> None:
    memories = [make("needle", created_at=moment(1)) for make in MAKE]
    names = [str(memory.ref) for memory in memories]
    data = json.loads(printed("show", *names, "--json"))
    assert [one["ref"] for one in data] == names
    assert {one["created_at"] for one in data} == {"2026-01-20T09:01:00.000Z"}
    assert printed("show", *names).count("needle") >= 4


def test_show_command_shows_what_there_is_and_fails_for_the_rest(observation: Observation) -> None:
    out = StringIO()
    with pytest.raises(CommandError, match="there is no memory o999999, p5"):
        call_command("show", f"#{observation.pk}", "o999999", "P5", "--json", stdout=out)
    [data] = json.loads(out.getvalue())
    assert data["ref"] == str(observation.ref)
    assert (data["concepts"], data["files"], data["tags"]) == (
        ["gotcha"],
        [{"path": "src/a.ts", "role": "read"}],
        ["todo"],
    )


@pytest.mark.parametrize("name", ["x12", "", "o", "o-1", "12.5", "o" + "9" * 19, "\ud800"])
def test_show_command_refuses_what_is_no_name(name: str) -> None:
    with pytest.raises(CommandError, match="is not the name of a memory; names look like o12, s45, p9, d7 or #12"):
        call_command("show", name)


@pytest.mark.parametrize("make", MAKE)
def test_show_command_prints_no_control_characters(make: Callable[..., Any]) -> None:
    memory = make(HOSTILE, project=HOSTILE.replace("\x00", ""), note=HOSTILE)
    assert CONTROLS.findall(printed("show", str(memory.ref))) == []
