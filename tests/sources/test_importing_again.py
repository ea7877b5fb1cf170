"""Importing again: what is known stays, what grew is added, what changed is updated, what people did is kept."""

import json
from pathlib import Path

import pytest

from memweb.memories.models import ImportBatch, Observation, Project, Session, Source, State, Tag, UserPrompt
from search.keyword.maintenance import check_index
from tests.sources.claude_mem import EPOCH, ClaudeMem
from tests.sources.conftest import Import

pytestmark = pytest.mark.django_db


def totals(report: dict) -> dict[str, int]:
    return {outcome: number for outcome, number in report["totals"].items() if number}


def test_grown_database_adds_only_the_new_rows(claude_mem: ClaudeMem, run_import: Import) -> None:
    claude_mem.observation("old")
    run_import(claude_mem.path)
    ids = list(Observation.objects.values_list("pk", flat=True))
    claude_mem.observation("new")
    claude_mem.prompt("new")
    assert totals(run_import(claude_mem.path)) == {"imported": 2, "unchanged": 2}
    assert list(Observation.objects.filter(title="old").values_list("pk", flat=True)) == ids


def test_copy_and_export_of_a_known_database_are_known(
    claude_mem: ClaudeMem, run_import: Import, tmp_path: Path
) -> None:
    claude_mem.observation("o", facts=["f"], discovery_tokens=5)
    claude_mem.prompt("p")
    run_import(claude_mem.path)
    copy = tmp_path / "elsewhere" / "copy.db"
    copy.parent.mkdir()
    copy.write_bytes(claude_mem.path.read_bytes())
    assert totals(run_import(copy)) == {"unchanged": 3}
    cursor = claude_mem.connection.execute("SELECT * FROM observations")
    row = dict(zip([column[0] for column in cursor.description], cursor.fetchone(), strict=True))
    export = tmp_path / "export.json"
    export.write_text(json.dumps({"observations": [{**row, "id": 99, "facts": ["f"]}]}))
    assert totals(run_import(export)) == {"unchanged": 1}


def test_changed_row_is_updated_with_its_terms_and_labels(claude_mem: ClaudeMem, run_import: Import) -> None:
    id = claude_mem.observation("before", concepts=["one"], files_read=["a.py"])
    claude_mem.observation("other", created_at_epoch=EPOCH + 1)
    run_import(claude_mem.path)
    pk = Observation.objects.get(title="before").pk
    claude_mem.change("observations", id, title="after", concepts='["two"]', files_read='["b.py"]', type="bugfix")
    assert totals(run_import(claude_mem.path)) == {"unchanged": 2, "updated": 1}
    row = Observation.objects.get(pk=pk)
    assert (row.title, row.type, row.title_terms) == ("after", "bugfix", "after")
    assert [concept.name for concept in row.concepts.all()] == ["two"]
    assert [file.path for file in row.files.all()] == ["b.py"]
    assert row.scope_terms.split().count("=tbugfix") == 1
    assert totals(run_import(claude_mem.path)) == {"unchanged": 3}
    assert set(check_index().values()) == {None}


@pytest.mark.parametrize(
    "cells", [{"merged_into_project": "main"}, {"agent_type": "x"}, {"discovery_tokens": 8}, {"metadata": "m"}]
)
def test_change_beside_the_texts_is_an_update(claude_mem: ClaudeMem, run_import: Import, cells: dict) -> None:
    id = claude_mem.observation("o")
    run_import(claude_mem.path)
    claude_mem.change("observations", id, **cells)
    assert totals(run_import(claude_mem.path)) == {"unchanged": 1, "updated": 1}
    assert totals(run_import(claude_mem.path)) == {"unchanged": 2}


@pytest.mark.parametrize("cells", [{"relevance_count": 4}, {"sync_rev": "2"}, {"content_hash": "abc"}])
def test_bookkeeping_of_the_source_is_no_change(claude_mem: ClaudeMem, run_import: Import, cells: dict) -> None:
    id = claude_mem.observation("o")
    run_import(claude_mem.path)
    claude_mem.change("observations", id, **cells)
    assert totals(run_import(claude_mem.path)) == {"unchanged": 2}


def test_other_memory_in_a_reused_row_is_new(claude_mem: ClaudeMem, run_import: Import) -> None:
    id = claude_mem.observation("first life")
    run_import(claude_mem.path)
    claude_mem.change("observations", id, title="second life", created_at_epoch=EPOCH + 60_000)
    assert totals(run_import(claude_mem.path)) == {"imported": 1, "unchanged": 1}
    assert sorted(Observation.objects.values_list("title", flat=True)) == ["first life", "second life"]


def curate(row: Observation) -> None:
    row.state, row.pinned, row.note = State.ARCHIVED, True, "my note"
    row.save()
    row.tags.add(Tag.objects.create(name="mine"))


def test_curation_survives_importing_again(claude_mem: ClaudeMem, run_import: Import) -> None:
    claude_mem.observation("o")
    run_import(claude_mem.path)
    row = Observation.objects.get()
    curate(row)
    row.title = "edited here"
    row.save()
    before = Observation.objects.values().get()
    assert totals(run_import(claude_mem.path)) == {"unchanged": 2}
    assert Observation.objects.values().get() == before


def test_curation_survives_a_change_at_the_source(claude_mem: ClaudeMem, run_import: Import) -> None:
    id = claude_mem.observation("o")
    run_import(claude_mem.path)
    curate(Observation.objects.get())
    claude_mem.change("observations", id, title="changed")
    run_import(claude_mem.path)
    row = Observation.objects.get()
    assert (row.title, row.state, row.pinned, row.note) == ("changed", State.ARCHIVED, True, "my note")
    assert [tag.name for tag in row.tags.all()] == ["mine"]


def test_text_edited_here_wins_over_a_change_at_the_source(claude_mem: ClaudeMem, run_import: Import) -> None:
    id = claude_mem.observation("o", concepts=["one"])
    run_import(claude_mem.path)
    row = Observation.objects.get()
    row.title = "edited here"
    row.save()
    claude_mem.change("observations", id, title="changed there", agent_type="reviewer")
    report = run_import(claude_mem.path)
    assert report["findings"]["kept"][0]["count"] == 1
    row = Observation.objects.get()
    assert (row.title, row.agent) == ("edited here", "reviewer")
    claude_mem.change("observations", id, title="changed again")
    run_import(claude_mem.path)
    assert Observation.objects.get().title == "edited here"


def test_project_chosen_here_wins_and_one_changed_at_the_source_follows(
    claude_mem: ClaudeMem, run_import: Import
) -> None:
    chosen, followed = claude_mem.observation("chosen"), claude_mem.observation("followed", created_at_epoch=EPOCH + 1)
    run_import(claude_mem.path)
    Observation.objects.filter(title="chosen").update(project=Project.objects.create(name="mine"))
    for id in (chosen, followed):
        claude_mem.change("observations", id, merged_into_project="main")
    run_import(claude_mem.path)
    assert dict(Observation.objects.values_list("title", "project__name")) == {"chosen": "mine", "followed": "main"}


def test_session_grows_and_keeps_the_title_given_here(claude_mem: ClaudeMem, run_import: Import) -> None:
    run_import(claude_mem.path)
    Session.objects.update(title="my title")
    claude_mem.change("sdk_sessions", 1, status="completed", completed_at_epoch=EPOCH + 1, custom_title="theirs")
    assert totals(run_import(claude_mem.path)) == {"updated": 1}
    session = Session.objects.get()
    assert (session.title, session.status, session.completed_at is not None) == ("my title", "completed", True)


def test_new_memory_id_of_a_session_moves_its_rows_along(claude_mem: ClaudeMem, run_import: Import) -> None:
    claude_mem.observation("o")
    claude_mem.prompt("p")
    run_import(claude_mem.path)
    claude_mem.change("sdk_sessions", 1, memory_session_id="mem-new")
    claude_mem.change("observations", 1, memory_session_id="mem-new")
    assert totals(run_import(claude_mem.path)) == {"unchanged": 1, "updated": 2}
    assert (Observation.objects.count(), Session.objects.get().memory_session_id) == (1, "mem-new")


def test_placeholder_becomes_the_session_when_it_shows_up(
    claude_mem: ClaudeMem, run_import: Import, tmp_path: Path
) -> None:
    export = tmp_path / "export.json"
    rows = {
        "observations": [{"title": "o", "memory_session_id": "mem-1", "project": "demo", "created_at_epoch": EPOCH}],
        "prompts": [{"prompt_text": "p", "content_session_id": "content-1", "created_at_epoch": EPOCH}],
    }
    export.write_text(json.dumps(rows))
    run_import(export)
    assert list(Session.objects.values_list("is_placeholder", flat=True)) == [True, True]
    run_import(claude_mem.path)
    session = Session.objects.get()
    assert (session.is_placeholder, session.content_session_id, session.memory_session_id) == (
        False,
        "content-1",
        "mem-1",
    )
    assert Observation.objects.get().session == UserPrompt.objects.get().session == session
    assert f"=s{session.pk}" in Observation.objects.get().scope_terms.split()


def test_dry_run_counts_the_same_and_changes_nothing(claude_mem: ClaudeMem, run_import: Import) -> None:
    id = claude_mem.observation("o")
    claude_mem.observation("o")
    claude_mem.prompt("p")
    dry = run_import(claude_mem.path, "--dry-run")
    assert (Source.objects.count(), ImportBatch.objects.count(), Session.objects.count()) == (0, 0, 0)
    assert dry["totals"] == run_import(claude_mem.path)["totals"]
    claude_mem.change("observations", id, title="changed")
    claude_mem.observation("new", created_at_epoch=EPOCH + 9)
    dry = run_import(claude_mem.path, "--dry-run")
    assert Observation.objects.count() == 1
    assert totals(dry) == {"imported": 2, "unchanged": 2, "updated": 1}
    assert dry["totals"] == run_import(claude_mem.path)["totals"]


def test_same_text_twice_with_one_changed_is_two_memories(claude_mem: ClaudeMem, run_import: Import) -> None:
    first = claude_mem.observation("same")
    claude_mem.observation("same")
    run_import(claude_mem.path)
    claude_mem.change("observations", first, title="changed")
    run_import(claude_mem.path)
    assert sorted(Observation.objects.values_list("title", flat=True)) == ["changed", "same"]
    assert totals(run_import(claude_mem.path)) == {"unchanged": 3}


def test_batch_keeps_report_and_state(claude_mem: ClaudeMem, run_import: Import) -> None:
    claude_mem.observation("o")
    report = run_import(claude_mem.path)
    batch = ImportBatch.objects.get()
    assert (batch.pk, batch.status, batch.report["totals"]) == (report["batch"], "complete", report["totals"])
    assert batch.finished_at is not None
