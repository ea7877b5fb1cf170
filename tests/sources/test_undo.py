"""A whole import taken back."""

import pytest

from memweb.memories.kinds import Kind
from memweb.memories.models import (
    Concept,
    FilePath,
    ImportBatch,
    ImportUpdate,
    Observation,
    Project,
    Session,
    State,
    memory_model,
)
from memweb.sources.undo import undo_batch
from search.keyword.maintenance import check_index
from tests.sources.claude_mem import EPOCH, ClaudeMem
from tests.sources.conftest import Import

pytestmark = pytest.mark.django_db


def undo(report: dict) -> None:
    undo_batch(ImportBatch.objects.get(pk=report["batch"]))


def snapshot() -> dict:
    """Everything that an undo must give back, without the time of writing."""
    rows = {
        kind: [
            {
                **{name: value for name, value in row.items() if name != "updated_at"},
                "concepts": sorted(
                    memory_model(kind).objects.filter(pk=row["id"]).values_list("concepts__name", flat=True)
                )
                if kind is Kind.OBSERVATION
                else [],
            }
            for row in memory_model(kind).objects.order_by("pk").values()
        ]
        for kind in Kind
    }
    return {
        **rows,
        "sessions": list(Session.objects.order_by("pk").values()),
        "projects": list(Project.objects.order_by("pk").values()),
        "concepts": list(Concept.objects.order_by("pk").values()),
        "files": list(FilePath.objects.order_by("pk").values()),
    }


def test_undo_of_the_only_import_leaves_nothing(claude_mem: ClaudeMem, run_import: Import) -> None:
    claude_mem.observation("o", concepts=["c"], files_read=["f"], files_modified=["f"])
    claude_mem.observation("orphan", memory_session_id="gone", project="other")
    claude_mem.summary("s", files_edited=["g"])
    claude_mem.prompt("p")
    before = snapshot()
    report = run_import(claude_mem.path)
    row = Observation.objects.get(title="o")
    row.state, row.note = State.ARCHIVED, "curated"
    row.save()
    undo(report)
    assert snapshot() == before
    assert ImportBatch.objects.get().status == "undone"
    assert set(check_index().values()) == {None}


def test_undo_keeps_what_others_use(claude_mem: ClaudeMem, run_import: Import) -> None:
    claude_mem.observation("old", concepts=["kept"], files_read=["kept.py"])
    first = run_import(claude_mem.path)
    before = snapshot()
    claude_mem.session(content_session_id="c2", memory_session_id="m2", project="new project")
    claude_mem.observation(
        "new", memory_session_id="m2", project="demo", concepts=["kept", "gone"], files_read=["x.py"]
    )
    second = run_import(claude_mem.path)
    Observation.objects.filter(title="old").update(session=Session.objects.get(memory_session_id="m2"))
    Observation.objects.filter(title="old").update(session=Session.objects.get(memory_session_id="mem-1"))
    undo(second)
    assert snapshot() == before
    undo(first)
    assert Observation.objects.count() == 0


def test_undo_puts_changed_rows_back(claude_mem: ClaudeMem, run_import: Import) -> None:
    id = claude_mem.observation("before", concepts=["one"], files_read=["a.py"], facts=["f"])
    summary = claude_mem.summary("before")
    run_import(claude_mem.path)
    before = snapshot()
    claude_mem.change(
        "observations", id, title="after", concepts='["two"]', files_read="[]", merged_into_project="main"
    )
    claude_mem.change("session_summaries", summary, request="after")
    claude_mem.change("sdk_sessions", 1, custom_title="after", completed_at_epoch=EPOCH)
    report = run_import(claude_mem.path)
    assert report["totals"]["updated"] == 3
    undo(report)
    assert snapshot() == before
    assert ImportUpdate.objects.count() == 0
    assert run_import(claude_mem.path)["totals"]["updated"] == 3


def test_undo_of_the_middle_import_keeps_the_last_and_its_way_back(claude_mem: ClaudeMem, run_import: Import) -> None:
    id = claude_mem.observation("one")
    run_import(claude_mem.path)
    claude_mem.change("observations", id, title="two")
    second = run_import(claude_mem.path)
    claude_mem.change("observations", id, title="three")
    third = run_import(claude_mem.path)
    undo(second)
    assert Observation.objects.get().title == "three"
    undo(third)
    assert Observation.objects.get().title == "one"


def test_undone_rows_can_be_imported_again(claude_mem: ClaudeMem, run_import: Import) -> None:
    claude_mem.observation("o")
    undo(run_import(claude_mem.path))
    assert run_import(claude_mem.path)["totals"]["imported"] == 2


def test_undo_of_all_imports_in_any_order_leaves_nothing(claude_mem: ClaudeMem, run_import: Import) -> None:
    before = snapshot()
    claude_mem.observation("one")
    first = run_import(claude_mem.path)
    claude_mem.observation("two")
    second = run_import(claude_mem.path)
    undo(first)
    assert list(Observation.objects.values_list("title", flat=True)) == ["two"]
    undo(second)
    assert snapshot() == before


def test_second_undo_does_nothing(claude_mem: ClaudeMem, run_import: Import) -> None:
    claude_mem.observation("o")
    report = run_import(claude_mem.path)
    undo(report)
    undo(report)
    assert Session.objects.count() == 0
