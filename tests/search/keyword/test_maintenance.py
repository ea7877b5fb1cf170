"""Care of the keyword index, as functions and as `memweb index`: a fault is seen, said, and mended."""

import json
from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from memweb.memories.kinds import Kind
from memweb.memories.models import MEMORY_MODELS, Observation
from search.keyword.maintenance import IndexStatus, check_index, index_status, optimize_index, rebuild_index
from search.keyword.schema import CONTENT_TABLES, TABLES, index_faults
from tests.factories import make_observation, make_one_of_each
from tests.search.searching import found, search_for

pytestmark = pytest.mark.django_db
SOUND = dict.fromkeys(Kind)
kinds = pytest.mark.parametrize("kind", Kind)


def execute(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def status_of(kind: Kind) -> IndexStatus:
    [status] = [one for one in index_status() if one.kind is kind]
    return status


def run(*arguments: str) -> tuple[str, str]:
    """Return what `memweb index` prints and the error it ends with; none when it succeeds."""
    out = StringIO()
    try:
        call_command("index", *arguments, stdout=out)
    except CommandError as error:
        return out.getvalue(), str(error)
    return out.getvalue(), ""


NEEDS_REBUILD = "the keyword index needs a rebuild: run `memweb index rebuild`"
IS_DAMAGED = "the keyword index is damaged: run `memweb index rebuild`"

# Ways to break the index of one kind that holds the word "needle" in two rows.
FAULTS: dict[str, Callable[[str, str], list[str]]] = {
    "row written behind the triggers": lambda table, content: [
        f"DROP TRIGGER {table}_update",
        f"UPDATE {content} SET title_terms = 'needle', body_terms = 'moved'",
    ],
    "row deleted behind the triggers": lambda table, content: [
        f"DROP TRIGGER {table}_delete",
        f"DELETE FROM {content} WHERE id = (SELECT max(id) FROM {content})",
    ],
    "entry without a row": lambda table, content: [f"INSERT INTO {table}(rowid, title_terms) VALUES (9000, 'needle')"],
    "row without an entry": lambda table, content: [
        f"INSERT INTO {table}({table}, rowid, title_terms, body_terms, variant_terms, scope_terms)"
        f" SELECT 'delete', id, title_terms, body_terms, variant_terms, scope_terms FROM {content}"
    ],
    "emptied index": lambda table, content: [f"DELETE FROM {table}_data WHERE id > 10"],
    "zeroed blocks": lambda table, content: [f"UPDATE {table}_data SET block = zeroblob(length(block)) WHERE id > 10"],
    "overwritten blocks": lambda table, content: [
        f"UPDATE {table}_data SET block = CAST('{'?' * 4000}' AS BLOB) WHERE id > 10"
    ],
    "overwritten structure": lambda table, content: [f"UPDATE {table}_data SET block = x'00ff00ff' WHERE id = 10"],
    "overwritten totals": lambda table, content: [f"UPDATE {table}_data SET block = x'ffffffffffff' WHERE id = 1"],
    "missing table": lambda table, content: [f"DROP TABLE {table}_vocab", f"DROP TABLE {table}"],
    "missing trigger": lambda table, content: [f"DROP TRIGGER {table}_insert"],
    "missing shadow table": lambda table, content: [f"DELETE FROM {table}_docsize"],
}


@pytest.mark.parametrize("kind", [Kind.OBSERVATION, Kind.PROMPT])
@pytest.mark.parametrize("name", FAULTS)
def test_broken_index_is_noticed_answered_and_rebuilt(kind: Kind, name: str) -> None:
    for _ in range(2):
        make_one_of_each("needle")
    execute(*FAULTS[name](TABLES[kind], CONTENT_TABLES[kind]))

    sound = {other for other, fault in check_index().items() if fault is None}
    assert sound == set(Kind) - {kind}
    assert run("check")[1] == IS_DAMAGED

    result = search_for("needle", limit=200)
    assert {str(hit.ref) for hit in result.hits if hit.kind is not kind} == {
        str(memory.ref) for other in sound for memory in MEMORY_MODELS[other].objects.all()
    }
    counts = rebuild_index()
    assert counts == {one: MEMORY_MODELS[one].objects.count() for one in Kind}
    assert (check_index(), index_faults(connection)) == (SOUND, [])
    assert all(one.is_healthy for one in index_status())
    everything = sorted(str(memory.ref) for model in MEMORY_MODELS.values() for memory in model.objects.all())
    assert sorted(found("needle", limit=200)) == everything
    for model in MEMORY_MODELS.values():
        model.objects.all().delete()
    assert (found("needle is:any"), check_index()) == ([], SOUND)


MIXED = {
    "needle OR after:2027": 3,
    "needle (kind:observation OR before:2026)": 3,
    "-(needle after:2026)": 1,
    "needle OR %": 4,
    "after:2026 needle": 3,
    "id:1 OR hay": None,
}


@pytest.mark.parametrize("query", MIXED)
@pytest.mark.parametrize("order", ["relevance", "newest"])
def test_groups_of_words_and_times_are_answered_without_an_index(query: str, order: str) -> None:
    for text in ("needle", "needle", "needle", "hay 100%"):
        make_observation(text)
    with_index = found(query, order=order)
    execute("DROP TABLE observations_fts_vocab", "DROP TABLE observations_fts")
    result = search_for(query, order=order)
    assert sorted(str(hit.ref) for hit in result.hits) == sorted(with_index)
    assert len(with_index) == (MIXED[query] or len(with_index)) > 0


def test_more_rows_than_are_counted_are_listed_without_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    memories = [make_observation(f"needle {number}") for number in range(6)]
    monkeypatch.setattr("search.strategies.sqlite.SCANNED", 4)
    execute("DROP TABLE observations_fts_vocab", "DROP TABLE observations_fts")
    for order in ("newest", "relevance"):
        result = search_for("needle", order=order)
        assert [str(hit.ref) for hit in result.hits] == [str(one.ref) for one in memories[:1:-1]]
        assert (result.total, result.total_is_capped, result.strategy) == (4, True, "sqlite")
        assert result.fallback is not None


def test_entry_without_a_row_is_not_shown() -> None:
    memory = make_observation("needle")
    execute("INSERT INTO observations_fts(rowid, title_terms, scope_terms) VALUES (9000, 'needle', '=a')")
    assert found("needle") == [str(memory.ref)]
    assert found("needle", order="newest") == [str(memory.ref)]
    assert [one.value for one in search_for("needle").facets["project"]] == ["demo"]


def test_stale_words_are_gone_after_edit_delete_and_purge() -> None:
    edited, deleted, purged = (make_observation(f"alpha-old {number}") for number in range(3))
    edited.title = "alpha-new"
    edited.save()
    deleted.delete()
    purged.state = "trashed"
    purged.save()
    assert found("alpha-old") == []
    assert found("alpha-old is:trashed") == [str(purged.ref)]
    purged.delete()
    assert (found("alpha-old is:any"), found("old is:any")) == ([], [])
    assert found("alpha-new") == [str(edited.ref)]
    assert check_index() == SOUND


def test_status_counts_rows_and_entries() -> None:
    make_one_of_each("needle")
    make_observation("more")
    assert index_status() == [
        IndexStatus(kind, TABLES[kind], 2 if kind is Kind.OBSERVATION else 1, 2 if kind is Kind.OBSERVATION else 1, ())
        for kind in Kind
    ]


@kinds
def test_status_of_a_dropped_table_says_so(kind: Kind) -> None:
    execute(f"DROP TABLE {TABLES[kind]}_vocab", f"DROP TABLE {TABLES[kind]}")
    status = status_of(kind)
    assert (status.indexed, status.is_healthy) == (None, False)
    assert status.faults == (f"table {TABLES[kind]} is missing", f"table {TABLES[kind]}_vocab is missing")
    assert sum(one.is_healthy for one in index_status()) == 3


def test_check_does_not_write() -> None:
    make_one_of_each("needle")
    with connection.cursor() as cursor:
        cursor.execute("SELECT total_changes()")
        before = cursor.fetchone()
        assert check_index() == SOUND
        assert all(one.is_healthy for one in index_status())
        cursor.execute("SELECT total(length(block)) FROM observations_fts_data")
        assert cursor.fetchone() != (0,)
    assert before is not None


@kinds
def test_rebuild_computes_terms_anew(kind: Kind) -> None:
    memories = make_one_of_each("needle")
    [memory] = [one for one in memories if one.kind is kind]
    MEMORY_MODELS[kind].objects.update(title_terms="", body_terms="wrong", variant_terms="", scope_terms="=a")
    before = {name: getattr(memory, name) for name in ("title_terms", "body_terms", "variant_terms", "scope_terms")}
    updated_at = MEMORY_MODELS[kind].objects.get().updated_at
    seen: list[tuple[Kind, int, int]] = []
    assert rebuild_index(progress=lambda *now: seen.append(now)) == dict.fromkeys(Kind, 1)
    memory.refresh_from_db()
    assert {name: getattr(memory, name) for name in before} == before
    assert memory.updated_at == updated_at  # nobody edited it
    assert seen == [(one, 1, 1) for one in Kind]
    assert sorted(found("needle")) == sorted(str(one.ref) for one in memories)
    assert found("wrong") == []


def test_rebuild_of_one_kind_leaves_the_others() -> None:
    make_one_of_each("needle")
    assert rebuild_index([Kind.PROMPT]) == {Kind.PROMPT: 1}
    assert (check_index(), len(found("needle"))) == (SOUND, 4)


def test_rebuild_of_nothing() -> None:
    assert rebuild_index() == dict.fromkeys(Kind, 0)
    assert check_index() == SOUND


def test_optimize_leaves_one_segment_and_all_rows() -> None:
    memories = [make_observation(f"needle {number}") for number in range(30)]
    optimize_index()
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(DISTINCT segid) FROM observations_fts_idx")
        assert cursor.fetchone() == (1,)
    assert sorted(found("needle", limit=50)) == sorted(str(one.ref) for one in memories)
    assert check_index() == SOUND


def test_status_command_prints_a_line_for_each_kind() -> None:
    make_one_of_each("needle")
    printed, error = run("status", "--only", "keyword")
    assert error == ""
    assert printed.splitlines() == [
        "drawers_fts                     1 rows          1 indexed  ok",
        "observations_fts                1 rows          1 indexed  ok",
        "user_prompts_fts                1 rows          1 indexed  ok",
        "session_summaries_fts           1 rows          1 indexed  ok",
    ]


def test_status_command_prints_json_also_of_a_broken_index() -> None:
    make_observation("needle")
    execute("DROP TABLE user_prompts_fts_vocab", "DROP TABLE user_prompts_fts")
    printed, error = run("status", "--json")
    assert error == NEEDS_REBUILD
    assert json.loads(printed)["keyword"] == [
        {"kind": "drawer", "table": "drawers_fts", "rows": 0, "indexed": 0, "faults": []},
        {"kind": "observation", "table": "observations_fts", "rows": 1, "indexed": 1, "faults": []},
        {
            "kind": "prompt",
            "table": "user_prompts_fts",
            "rows": 0,
            "indexed": None,
            "faults": ["table user_prompts_fts is missing", "table user_prompts_fts_vocab is missing"],
        },
        {"kind": "summary", "table": "session_summaries_fts", "rows": 0, "indexed": 0, "faults": []},
    ]


def test_check_command_says_what_is_wrong() -> None:
    make_observation("needle")
    printed, error = run("check", "--json", "--only", "keyword")
    assert (json.loads(printed), error) == ({"keyword": dict.fromkeys(map(str, Kind))}, "")
    assert run("check", "--only", "keyword")[0].splitlines() == [
        "passages           ok",
        "observations       ok",
        "prompts            ok",
        "session summaries  ok",
    ]
    execute("DROP TRIGGER observations_fts_delete")
    printed, error = run("check", "--json")
    assert error == IS_DAMAGED
    assert json.loads(printed)["keyword"] == dict.fromkeys(map(str, Kind)) | {
        "observation": "trigger observations_fts_delete is missing"
    }


def test_rebuild_command_mends_what_check_finds() -> None:
    make_one_of_each("needle")
    execute("DROP TRIGGER observations_fts_delete", "UPDATE memories_observation SET title_terms = 'x'")
    printed, error = run("rebuild", "--json")
    assert (json.loads(printed)["keyword"], error) == (dict.fromkeys(map(str, Kind), 1), "")
    assert run("check")[1] == ""
    assert Observation.objects.get().title_terms == "needle"
    assert run("rebuild")[0].splitlines()[0] == "passages                    1 indexed"


def test_optimize_command() -> None:
    assert run("optimize", "--only", "keyword") == ("The keyword index is compact.\n", "")
    assert json.loads(run("optimize", "--json", "--only", "keyword")[0]) == {"keyword": {"optimized": True}}


def test_command_refuses_what_it_does_not_know() -> None:
    with pytest.raises(CommandError, match="invalid choice: 'reset'"):
        call_command("index", "reset")


# Damage after which FTS5 cannot even open its table; the last is what it takes for a lack of memory.
UNOPENABLE = {
    "no structure": ["DELETE FROM {table}_data"],
    "no data table": ["DROP TABLE {table}_data"],
    "no version": ["DELETE FROM {table}_config"],
    "structure of noise": ["UPDATE {table}_data SET block = x'ffffffffffffffffffffffff' WHERE id = 10"],
    "structure of absurd length": [
        "UPDATE {table}_data SET block = x'6859f29a78811c3b78e5cdb604073d2a' || zeroblob(184) WHERE id = 10"
    ],
}


@pytest.mark.parametrize("damage", UNOPENABLE)
@pytest.mark.django_db(transaction=True)
def test_index_that_cannot_be_opened_is_searched_around_and_made_anew(damage: str) -> None:
    memory = make_observation(title="needle")
    connection.cursor().execute("PRAGMA writable_schema = OFF")
    execute(*(statement.format(table="observations_fts") for statement in UNOPENABLE[damage]))
    connection.close()
    result = search_for("needle")
    assert [str(hit.ref) for hit in result.hits] == [str(memory.ref)]
    assert rebuild_index([Kind.OBSERVATION]) == {Kind.OBSERVATION: 1}
    assert (index_faults(connection), check_index()) == ([], SOUND)
    assert search_for("needle").fallback is None
    assert found("needle") == [str(memory.ref)]
