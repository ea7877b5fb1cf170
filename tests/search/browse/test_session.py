"""The page of a session: in order, in windows, small whatever it holds."""

from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memweb.memories.models import Observation, ObservationFile, Session, State
from tests.factories import make_drawer, make_observation, make_prompt, make_session, make_summary, moment, refs

pytestmark = pytest.mark.django_db

FRAGMENT = {"HX-Request": "true"}


def soup(client: Client, address: str, status: int = 200, headers: Any = None) -> BeautifulSoup:
    response = client.get(address, headers=headers)
    assert response.status_code == status, response.content[:500]
    return BeautifulSoup(response.content.decode(), "html.parser")


def rows(page: BeautifulSoup) -> list[str]:
    return [str(row["id"]) for row in page.select("[data-key-row]")]


def texts(page: BeautifulSoup | Tag, selector: str) -> list[str]:
    return [" ".join(one.get_text(" ").split()) for one in page.select(selector)]


def more(page: BeautifulSoup) -> dict[str, str]:
    return {one.get_text().split()[-1]: str(one["href"]) for one in page.select(".entries-more a")}


def fill(session: Session, count: int) -> list[str]:
    return refs(
        [make_prompt(f"prompt {number}", session=session, created_at=moment(number)) for number in range(count)]
    )


def test_everything_stands_in_order_with_days_gaps_and_files(reader: Client) -> None:
    session = make_session("content-1", project="web-api", title="Repair <b>sign-in</b>", started_at=moment(0))
    memories = [
        make_prompt("Why does it loop?", session=session, created_at=moment(0)),
        make_observation(
            "The cookie is gone",
            "It was **dropped**.",
            facts=["one", "two"],
            type="discovery",
            session=session,
            files=["src/auth.py"],
            created_at=moment(10),
        ),
        make_drawer("what was said", session=session, created_at=moment(130)),
        make_summary("Repair sign-in", learned="Cookies go", session=session, created_at=moment(16 * 60)),
    ]
    lost = make_observation("lost", session=session, created_at=None)
    page = soup(reader, f"/sessions/{session.pk}/")
    assert rows(page) == refs([*memories, lost])
    assert texts(page, "h1") == ["Repair <b>sign-in</b>"]
    assert texts(page, ".entries-day") == [
        "Tuesday 20 January 2026",
        "Wednesday 21 January 2026",
        "Time unknown",
    ]
    assert texts(page, ".entries-gap") == ["2 h later", "13 h 50 min later"]
    assert texts(page, ".session-aside .files a") == ["src/auth.py"]
    assert texts(page, ".jumps a") == ["Why does it loop?"]
    assert texts(page, f"#{memories[1].ref} .prose strong") == ["dropped"]
    assert texts(page, f"#{memories[1].ref} .prose li") == ["one", "two"]
    assert "1 passage" in page.get_text()
    assert "1970" not in page.get_text()


def test_windows_follow_each_other_in_both_directions(reader: Client) -> None:
    session = make_session("long")
    whole = fill(session, 250)
    address = f"/sessions/{session.pk}/"
    first = soup(reader, address)
    assert (rows(first), list(more(first))) == (whole[:100], ["Later"])
    second = soup(reader, more(first)["Later"], headers=FRAGMENT)
    assert (rows(second), list(more(second)), second.find("html")) == (whole[100:200], ["Later"], None)
    assert rows(soup(reader, more(second)["Later"], headers=FRAGMENT)) == whole[200:]
    whole_page = soup(reader, more(first)["Later"])
    assert (rows(whole_page), list(more(whole_page))) == (whole[100:200], ["Earlier", "Later"])
    around = soup(reader, f"{address}?at={whole[200]}")
    assert (rows(around), list(more(around))) == (whole[150:], ["Earlier"])
    assert [one["id"] for one in around.select("[aria-current=true]")] == [whole[200]]
    earlier = soup(reader, more(around)["Earlier"], headers=FRAGMENT)
    assert (rows(earlier), list(more(earlier))) == (whole[50:150], ["Earlier"])


def test_rows_added_meanwhile_are_neither_skipped_nor_repeated(reader: Client) -> None:
    session = make_session("long")
    whole = fill(session, 150)
    later = more(soup(reader, f"/sessions/{session.pk}/"))["Later"]
    make_prompt("early", session=session, created_at=moment(3))
    added = make_prompt("late", session=session, created_at=moment(120.5))
    shown = rows(soup(reader, later, headers=FRAGMENT))
    assert shown == [*whole[100:121], str(added.ref), *whole[121:]]


def test_long_text_is_cut_and_shown_whole_when_asked_for(reader: Client) -> None:
    session = make_session("s1")
    memory = make_prompt("word " * 5_000 + "the end", session=session)
    page = soup(reader, f"/sessions/{session.pk}/")
    assert "the end" not in page.get_text()
    link = page.select_one(".entry-more a")
    assert link is not None
    assert link["href"] == f"/m/{memory.ref}/"
    whole = soup(reader, str(link["hx-get"]), headers=FRAGMENT)
    assert whole.get_text().strip().endswith("the end")
    assert soup(reader, f"/sessions/{session.pk}/?whole=p99999", 404).find("h1") is not None


def test_a_page_stays_small_whatever_the_session_holds(reader: Client) -> None:
    session = make_session("huge")
    for number in range(120):
        make_prompt("word " * 20_000, session=session, created_at=moment(number))
    response = reader.get(f"/sessions/{session.pk}/")
    assert len(response.content) < 600_000


HEAVY: dict[str, dict[str, Any]] = {
    "many facts": {"facts": ["fact " * 160] * 40},
    "long narrative": {"narrative": "word " * 20_000},
    "Chinese": {"narrative": "東京都千代田区" * 900, "facts": ["東京都千代田区" * 200] * 9},
    "marks": {"narrative": "*a* `b` " * 600},
    "links": {"narrative": "[a](http://e.example/) " * 300},
}


@pytest.mark.parametrize("values", HEAVY.values(), ids=HEAVY)
def test_window_of_heavy_memories_is_below_a_megabyte_and_loses_nothing(reader: Client, values: dict[str, Any]) -> None:
    session = make_session("huge")
    for number in range(100):
        make_observation(f"number {number}", session=session, created_at=moment(number), **values)
    page = soup(reader, f"/sessions/{session.pk}/")
    assert len(reader.get(f"/sessions/{session.pk}/").content) < 1_000_000
    link = page.select_one(".entry-more a")
    assert link is not None
    whole = str(soup(reader, str(link["hx-get"]), headers=FRAGMENT))
    said = "".join([values.get("narrative", ""), *values.get("facts", [])])
    assert len("".join(whole.split())) >= len("".join(said.split())) * 0.9


LONG = {"letters": "x" * 11_000, "quotes": "\"'" * 5_500, "Chinese": "東" * 11_000, "lines": "a\n" * 5_500}
INFLATED: dict[str, Callable[[str], dict[str, Any]]] = {
    "title": lambda long: {"title": long},
    "type": lambda long: {"type": long},
    "subtitle": lambda long: {"subtitle": long},
    "narrative": lambda long: {"narrative": long},
    "text": lambda long: {"text": long},
    "facts": lambda long: {"facts": [long] * 3},
    "number of facts": lambda long: {"facts": list(long[:6_000])},
    "files": lambda long: {"files": [f"{number}/{long}" for number in range(6)]},
    "number of files": lambda long: {"files": [f"{number}/{long[:300]}" for number in range(40)]},
    "concepts": lambda long: {"concepts": [long]},
    "tags": lambda long: {"tags": [long]},
    "project": lambda long: {"project": long},
    "agent": lambda long: {"agent": long, "agent_id": long, "model": long},
    "note": lambda long: {"note": long},
    "all at once": lambda long: {
        "title": long,
        "type": long,
        "narrative": long,
        "text": long,
        "facts": list(long[:6_000]),
        "files": [f"{number}/{long}" for number in range(6)],
        "concepts": [long],
        "project": long,
    },
}


@pytest.mark.parametrize("long", LONG.values(), ids=LONG)
@pytest.mark.parametrize("inflate", INFLATED.values(), ids=INFLATED)
def test_no_field_makes_a_window_large(reader: Client, inflate: Callable[[str], dict[str, Any]], long: str) -> None:
    values = inflate(long)
    session = make_session(
        long, title=long, first_prompt=long, platform=long, memory_session_id=long, project=values.get("project", long)
    )
    first = make_observation(session=session, **values)
    links = list(first.file_links.all())
    copies = [copied(first, number) for number in range(100)]
    Observation.objects.bulk_create(copies)
    for link in links:
        ObservationFile.objects.bulk_create(
            ObservationFile(observation=one, file_id=link.file_id, role=link.role) for one in copies
        )
    Observation.objects.filter(session=session).update(scope_terms=first.scope_terms)
    for number in range(60):
        make_prompt(long[:1_000], session=session, created_at=moment(-1 - number))
    address = f"/sessions/{session.pk}/"
    for query in ("", f"?at={first.ref}"):
        response = reader.get(address + query)
        assert len(rows(BeautifulSoup(response.content.decode(), "html.parser"))) >= 100
        assert len(response.content) < 1_000_000


def copied(memory: Observation, number: int) -> Observation:
    """Return an unsaved copy of a memory, which happened later."""
    values = {one.attname: getattr(memory, one.attname) for one in memory._meta.concrete_fields if one.name != "id"}
    return Observation(**{**values, "created_at": moment(number)})


def test_facts_and_files_that_are_left_out_are_on_the_page_of_the_memory(reader: Client) -> None:
    session = make_session("s1")
    memory = make_observation(
        "one",
        facts=[f"fact {number}" for number in range(50)],
        files=[f"f{number}.py" for number in range(8)],
        session=session,
    )
    page = soup(reader, f"/sessions/{session.pk}/")
    *facts, more_facts = texts(page, ".prose li")
    assert (facts, more_facts) == ([f"fact {number}" for number in range(20)], "and 30 more")
    assert texts(page, ".entry-files li")[-1] == "+3 more files"
    links = [one["href"] for one in page.select(".prose li a, .entry-files li a")]
    assert links == [f"/m/{memory.ref}/"] * 2
    whole = soup(reader, str(page.select_one(".entry-more a")["hx-get"]), headers=FRAGMENT)  # type: ignore[index]
    assert len(texts(whole, ".prose li")) == 50


def test_of_a_long_path_the_end_is_shown(reader: Client) -> None:
    session = make_session("s1")
    make_observation("one", files=["d/" * 5_000 + "end.py"], session=session)
    page = soup(reader, f"/sessions/{session.pk}/")
    [path] = texts(page, ".entry-files li")
    assert (path[:3], path[-8:], len(path.encode())) == ("…/d", "d/end.py", 200)
    assert page.select(".session-aside .files a[href]") == []  # no server would take so long an address


def test_summary_of_five_long_parts_is_cut_as_a_whole(reader: Client) -> None:
    session = make_session("huge")
    for number in range(100):
        long = "東京都千代田区" * 300
        texts = dict.fromkeys(("investigated", "learned", "completed", "next_steps", "notes"), long)
        make_summary("Request", session=session, created_at=moment(number), **texts)
    assert len(reader.get(f"/sessions/{session.pk}/").content) < 1_000_000


def gone(client: Client, session: Session, name: str, ref: object) -> tuple[str, list[str]]:
    """Return what is said of a memory that is gone, and where it leads."""
    page = soup(client, f"/sessions/{session.pk}/?{name}={ref}", 410)
    return texts(page, ".alone p")[1], [str(one["href"]) for one in page.select(".actions a")]


@pytest.mark.parametrize("name", ["at", "whole"])
def test_trashed_memory_is_gone_and_the_nearest_is_offered(reader: Client, name: str) -> None:
    session = make_session("s1")
    memory = make_observation("secret", session=session, state=State.TRASHED, created_at=moment(5))
    timeline = "/timeline/?anchor=2026-01-20T09:05:00Z"
    said = f"The memory {memory.ref} is in the trash."
    assert gone(reader, session, name, memory.ref) == (said, [timeline, "/"])
    later = make_prompt("later", session=session, created_at=moment(9))
    at_later = f"/sessions/{session.pk}/?at={later.ref}#{later.ref}"
    assert gone(reader, session, name, memory.ref) == (said, [at_later, timeline, "/"])
    earlier = make_prompt("earlier", session=session, created_at=moment(1))
    at_earlier = f"/sessions/{session.pk}/?at={earlier.ref}#{earlier.ref}"
    assert gone(reader, session, name, memory.ref) == (said, [at_earlier, timeline, "/"])
    assert "secret" not in soup(reader, f"/sessions/{session.pk}/?{name}={memory.ref}", 410).get_text()


@pytest.mark.parametrize("name", ["at", "whole"])
def test_deleted_memory_is_gone_and_one_of_unknown_time_too(reader: Client, name: str) -> None:
    session = make_session("s1")
    kept = make_observation("kept", session=session, created_at=moment(1))
    deleted = make_observation("secret", session=session)
    ref = deleted.ref
    deleted.delete()
    at_kept = f"/sessions/{session.pk}/?at={kept.ref}#{kept.ref}"
    timeline = "/timeline/?anchor=2026-01-20T09:01:00Z"
    said = f"The memory {ref} was deleted."
    assert gone(reader, session, name, ref) == (said, [at_kept, timeline, "/"])
    lost = make_observation("secret", session=session, created_at=None, state=State.TRASHED)
    assert gone(reader, session, name, lost.ref) == (f"The memory {lost.ref} is in the trash.", [at_kept, "/"])


@pytest.mark.parametrize("state", [State.ACTIVE, State.TRASHED])
@pytest.mark.parametrize("name", ["at", "whole"])
def test_memory_of_another_session_is_unknown_here(reader: Client, name: str, state: State) -> None:
    session = make_session("s1")
    for other in (make_session("s2"), None):
        memory = make_observation("secret", session=other, state=state)
        page = soup(reader, f"/sessions/{session.pk}/?{name}={memory.ref}", 404)
        assert texts(page, ".alone p")[1] == f"There is no memory {memory.ref} in this session."


def test_archived_memory_is_reached_through_its_session(reader: Client) -> None:
    session = make_session("s1")
    archived = make_observation("put aside", session=session, state=State.ARCHIVED)
    assert rows(soup(reader, f"/sessions/{session.pk}/?at={archived.ref}")) == [str(archived.ref)]


@pytest.mark.parametrize(
    ("query", "status", "words"),
    [
        ("at=zebra", 400, "'zebra' is not the name of a memory"),
        ("at=o999", 404, "There is no memory o999 in this session."),
        ("before=zebra", 400, "before: “zebra” is not a place in this session"),
        ("after=eyJ9", 400, "after: “eyJ9” is not a place in this session"),
        ("whole=zebra", 400, "'zebra' is not the name of a memory"),
    ],
)
def test_bad_address_is_named(reader: Client, query: str, status: int, words: str) -> None:
    session = make_session("s1")
    page = soup(reader, f"/sessions/{session.pk}/?{query}", status)
    assert any(text.startswith(words) for text in texts(page, "main p"))


def test_session_that_is_not_there_and_memory_of_another_session(reader: Client) -> None:
    assert "There is no session 4711." in soup(reader, "/sessions/4711/", 404).get_text()
    other = make_prompt("elsewhere", session=make_session("s2"))
    session = make_session("s1")
    soup(reader, f"/sessions/{session.pk}/?at={other.ref}", 404)
    soup(reader, f"/sessions/{session.pk}/?whole={other.ref}", 404)


def test_what_is_hidden_is_not_shown(reader: Client) -> None:
    session = make_session("s1")
    make_observation("thrown away", session=session, state=State.TRASHED)
    make_observation("put aside", session=session, state=State.ARCHIVED)
    make_observation("machine talk", session=session, is_noise=True)
    page = soup(reader, f"/sessions/{session.pk}/")
    assert (rows(page), texts(page, ".empty h2")) == ([], ["Nothing is remembered of this session"])


def test_many_prompts_are_thinned_out_in_the_jump_list(reader: Client) -> None:
    session = make_session("long")
    fill(session, 150)
    jumps = texts(soup(reader, f"/sessions/{session.pk}/"), ".jumps a")
    assert (len(jumps), jumps[:2]) == (50, ["prompt 0", "prompt 3"])


def test_statements_do_not_grow_with_rows(reader: Client) -> None:
    counts = []
    for wanted in (1, 10, 100):
        session = make_session(f"s{wanted}")
        for number in range(wanted):
            shared = {"session": session, "created_at": moment(number), "tags": [f"t{number}"]}
            make_observation(f"number {number}", files=[f"f{number}.py"], concepts=[f"c{number}"], **shared)
            make_drawer("passage", file=f"g{number}.py", **shared)
            make_prompt("prompt", **shared)
            make_summary("summary", files=[f"h{number}.py"], **shared)
        reader.get(f"/sessions/{session.pk}/")
        with CaptureQueriesContext(connection) as queries:
            soup(reader, f"/sessions/{session.pk}/")
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert counts[2] <= counts[0] <= 30  # a full window need not look for unknown times
