"""What people did to memories holds when their source is imported again, and conflicts are kept for a person."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from memweb.memories.curation import carry_out, edit_memory, merge, move_folder, purge, rename_label, settle, undo
from memweb.memories.models import (
    Change,
    ChangeSet,
    ImportBatch,
    ImportConflict,
    ImportUpdate,
    Observation,
    PurgedRow,
    Source,
)
from memweb.sources.undo import undo_batch
from memweb.sources.updates import values_before
from search.keyword.maintenance import check_index
from tests.factories import make_drawer
from tests.search.searching import found
from tests.sources.claude_mem import EPOCH, ClaudeMem
from tests.sources.conftest import Import

pytestmark = pytest.mark.django_db


@pytest.fixture
def user(db: None) -> User:
    return User.objects.create_superuser("curator")


def only() -> Any:
    return Observation.objects.get()


def test_an_edited_value_stays_and_the_others_follow(claude_mem: ClaudeMem, run_import: Import, user: User) -> None:
    id = claude_mem.observation("o", narrative="theirs", concepts=["one"])
    run_import(claude_mem.path)
    edit_memory(user, only().ref, {"title": "mine", "created_at": "2020-01-01T00:00:00+00:00"})
    claude_mem.change("observations", id, title="changed", narrative="changed too")
    run_import(claude_mem.path)
    assert (only().title, only().narrative, only().created_at.year) == ("mine", "changed too", 2020)
    assert ImportConflict.objects.get().theirs == {"title": "changed"}


def test_a_conflict_goes_when_the_source_says_the_same(claude_mem: ClaudeMem, run_import: Import, user: User) -> None:
    id = claude_mem.observation("o")
    run_import(claude_mem.path)
    edit_memory(user, only().ref, {"title": "mine"})
    claude_mem.change("observations", id, title="changed")
    run_import(claude_mem.path)
    claude_mem.change("observations", id, title="mine")
    run_import(claude_mem.path)
    assert (ImportConflict.objects.count(), only().title) == (0, "mine")


def test_an_undone_edit_no_longer_holds(claude_mem: ClaudeMem, run_import: Import, user: User) -> None:
    id = claude_mem.observation("o")
    run_import(claude_mem.path)
    change_set = edit_memory(user, only().ref, {"title": "mine"})
    assert change_set is not None
    undo(user, change_set)
    claude_mem.change("observations", id, title="changed")
    run_import(claude_mem.path)
    assert (only().title, ImportConflict.objects.count()) == ("changed", 0)


def test_what_was_trashed_or_merged_stays_so(claude_mem: ClaudeMem, run_import: Import, user: User) -> None:
    ids = [claude_mem.observation(f"o{number}", created_at_epoch=EPOCH + number) for number in range(3)]
    run_import(claude_mem.path)
    keep, merged, trashed = Observation.objects.order_by("title")
    merge(user, keep.ref, [merged.ref])
    carry_out(user, "trash", [trashed.ref])
    for id in ids:
        claude_mem.change("observations", id, narrative="changed")
    run_import(claude_mem.path)
    assert found("is:any -is:trashed -is:superseded kind:observation") == [str(keep.ref)]
    assert found("is:superseded") == [str(merged.ref)]


@pytest.mark.parametrize("changed", [False, True])
def test_what_was_purged_does_not_come_back(
    claude_mem: ClaudeMem, run_import: Import, user: User, changed: bool
) -> None:
    id = claude_mem.observation("secret")
    run_import(claude_mem.path)
    carry_out(user, "trash", [only().ref])
    purge(user, [only().ref])
    if changed:
        claude_mem.change("observations", id, title="secret again")
    report = run_import(claude_mem.path)
    assert (Observation.objects.count(), PurgedRow.objects.count()) == (0, 1)
    assert report["totals"]["skipped"] == 1
    assert report["findings"]["skipped"][0]["reason"] == "removed here for good"


def test_renamed_labels_stay_renamed_for_rows_that_come_later(
    claude_mem: ClaudeMem, run_import: Import, user: User
) -> None:
    claude_mem.observation("old", concepts=["gotchas", "gotcha"], files_read=["src/a.py"])
    run_import(claude_mem.path)
    rename_label(user, "concept", "gotchas", "gotcha")
    move_folder(user, "src", "lib")
    claude_mem.observation(
        "new", concepts=["gotchas", "gotcha"], files_read=["src/a.py"], created_at_epoch=EPOCH + 60_000
    )
    assert run_import(claude_mem.path)["totals"]["imported"] == 1
    assert len(found("concept:gotcha file:lib/a.py")) == 2
    assert found("concept:gotchas") == []
    assert all(fault is None for fault in check_index().values())


def test_history_tells_what_an_import_changed_and_ends_in_the_present(
    claude_mem: ClaudeMem, run_import: Import, user: User
) -> None:
    id = claude_mem.observation("o", narrative="one")
    run_import(claude_mem.path)
    edit_memory(user, only().ref, {"subtitle": "mine"})
    claude_mem.change("observations", id, narrative="two")
    run_import(claude_mem.path)
    change = Change.objects.get(change_set__verb="import")
    assert (change.before, change.after) == ({"narrative": "one"}, {"narrative": "two"})
    undo_batch(ImportBatch.objects.order_by("-pk")[0])
    assert (only().narrative, only().subtitle) == ("one", "mine")


def test_undone_import_takes_its_history_along(claude_mem: ClaudeMem, run_import: Import, user: User) -> None:
    claude_mem.observation("o")
    run_import(claude_mem.path)
    edit_memory(user, only().ref, {"title": "mine"})
    undo_batch(ImportBatch.objects.get())
    assert (Change.objects.count(), ImportConflict.objects.count()) == (0, 0)
    assert ChangeSet.objects.count() == 1


def test_taking_the_words_of_the_source_lets_it_have_its_way_again(
    claude_mem: ClaudeMem, run_import: Import, user: User
) -> None:
    id = claude_mem.observation("o")
    run_import(claude_mem.path)
    edit_memory(user, only().ref, {"title": "mine"})
    claude_mem.change("observations", id, title="changed")
    run_import(claude_mem.path)
    settle(user, ImportConflict.objects.get(), take_theirs=True)
    assert only().title == "changed"
    claude_mem.change("observations", id, title="changed again")
    run_import(claude_mem.path)
    assert (only().title, ImportConflict.objects.count()) == ("changed again", 0)


def test_undoing_an_import_leaves_the_file_that_a_person_gave_to_a_passage(user: User) -> None:
    memory = make_drawer("text", file="src/before.py")
    batch = ImportBatch.objects.create(source=Source.objects.create(format="x", location="/x"), status="complete")
    ImportUpdate.objects.create(batch=batch, model="drawer", row_id=memory.pk, before=values_before(memory))
    edit_memory(user, memory.ref, {"file": "src/mine.py"})
    undo_batch(batch)
    assert found("file:src/mine.py") == [str(memory.ref)]
    assert found("file:src/before.py") == []
