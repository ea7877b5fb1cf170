"""Superseding, merging and splitting, and taking each back."""

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from memweb.memories.curation import (
    carry_out,
    edit_memory,
    merge,
    split,
    supersede,
    undo,
    undoing,
    unsupersede,
    values_of,
)
from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import ChangeSet, Observation
from tests.factories import make_observation, make_prompt
from tests.search.searching import found

pytestmark = pytest.mark.django_db


def test_what_is_superseded_leaves_search_and_comes_back(user: User) -> None:
    old, new = make_observation("needle old"), make_observation("needle new")
    change_set = supersede(user, [old.ref], new.ref)
    assert (found("needle"), found("needle is:superseded")) == ([str(new.ref)], [str(old.ref)])
    undo(user, change_set)
    assert sorted(found("needle")) == sorted([str(old.ref), str(new.ref)])


def test_nothing_supersedes_itself_whatever_the_way_round(user: User) -> None:
    one, two, three = (make_observation(str(number)) for number in range(3))
    supersede(user, [one.ref], two.ref)
    supersede(user, [two.ref], three.ref)
    with pytest.raises(ValidationError, match="cannot replace it"):
        supersede(user, [three.ref], one.ref)
    with pytest.raises(ValidationError, match="cannot replace itself"):
        supersede(user, [one.ref], one.ref)
    with pytest.raises(ValidationError, match="Only memories of one kind"):
        supersede(user, [make_prompt("p").ref], one.ref)


def test_a_merge_unites_labels_and_facts_and_keeps_its_sources(user: User) -> None:
    keep = make_observation("needle", facts=["a", "b"], concepts=["x"], files=["f1"], tags=["t"])
    other = make_observation("other", "its narrative", facts=["b", "c"], concepts=["y"], files=["f2"], pinned=True)
    before = [values_of(keep), values_of(other)]
    change_set = merge(user, keep.ref, [other.ref], {"title": "composed needle"})
    after = values_of(Observation.objects.get(pk=keep.pk))
    assert (after["title"], after["narrative"], after["facts"]) == ("composed needle", "its narrative", ["a", "b", "c"])
    assert (after["concepts"], after["tags"], after["pinned"]) == (["x", "y"], ["t"], True)
    assert after["files"] == [["f1", "read"], ["f2", "read"]]
    assert Observation.objects.get(pk=other.pk).superseded_by_id == keep.pk
    assert found("other is:any") == [str(other.ref)]
    undo(user, change_set)
    assert [values_of(Observation.objects.get(pk=row.pk)) for row in (keep, other)] == before


def test_one_source_can_be_taken_out_of_a_merge_later(user: User) -> None:
    keep, one, two = (make_observation(f"needle {number}") for number in range(3))
    merge(user, keep.ref, [one.ref, two.ref])
    edit_memory(user, keep.ref, {"title": "needle edited since"})
    unsupersede(user, one.ref)
    assert sorted(found("needle")) == sorted([str(keep.ref), str(one.ref)])
    with pytest.raises(ValidationError, match="Nothing replaces"):
        unsupersede(user, one.ref)


def test_unmerging_after_an_edit_frees_the_sources_and_keeps_the_edit(user: User) -> None:
    keep, other = make_observation("needle", facts=["a"]), make_observation("other", facts=["b"])
    change_set = merge(user, keep.ref, [other.ref])
    edit_memory(user, keep.ref, {"facts": ["edited"]})
    undone = undo(user, change_set)
    assert (undone.restored, undone.kept) == (1, [keep.ref])
    assert Observation.objects.get(pk=keep.pk).facts == ["edited"]
    assert Observation.objects.get(pk=other.pk).superseded_by_id is None


def test_undo_that_could_do_nothing_is_refused_and_leaves_no_trace(user: User) -> None:
    memory = make_observation("one")
    first = edit_memory(user, memory.ref, {"title": "two"})
    edit_memory(user, memory.ref, {"title": "three"})
    assert first is not None
    with pytest.raises(ValidationError, match=f"{memory.ref} changed again since"):
        undo(user, first)
    first.refresh_from_db()
    assert not hasattr(first, "undone_by")
    assert ChangeSet.objects.count() == 2


def test_refused_undo_of_more_than_one_transaction_leaves_no_trace(user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(undoing, "AT_ONCE", 2)
    memories = [make_observation(str(number)).ref for number in range(5)]
    outcome = carry_out(user, "archive", memories)
    carry_out(user, "trash", memories)
    with pytest.raises(ValidationError, match="changed again since"):
        undo(user, outcome.change_set)
    assert ChangeSet.objects.count() == 2


def test_an_undo_can_be_undone_and_nothing_is_undone_twice(user: User) -> None:
    memory = make_observation("one")
    change_set = edit_memory(user, memory.ref, {"title": "two"})
    assert change_set is not None
    undone = undo(user, change_set)
    with pytest.raises(ValidationError, match="has been undone already"):
        undo(user, type(change_set).objects.get(pk=change_set.pk))
    undo(user, undone.change_set)
    assert Observation.objects.get(pk=memory.pk).title == "two"


def test_a_split_makes_new_memories_beside_the_first(user: User) -> None:
    memory = make_observation("needle", "first part\n\nsecond part", concepts=["x"], tags=["t"], type="bugfix")
    change_set, made = split(user, memory.ref, ["first part", "second part"])
    assert Observation.objects.get(pk=memory.pk).narrative == "first part"
    new = values_of(Observation.objects.get(pk=made[0].pk))
    assert (new["narrative"], new["title"], new["concepts"], new["tags"]) == ("second part", "needle (2)", ["x"], ["t"])
    undo(user, change_set)
    assert Observation.objects.get(pk=memory.pk).narrative == "first part\n\nsecond part"
    assert found("second") == [str(memory.ref)]


@pytest.mark.parametrize("parts", [[], ["one"], ["one", " "], ["x"] * 51])
def test_a_split_needs_two_parts(user: User, parts: list[str]) -> None:
    with pytest.raises(ValidationError, match="parts are needed"):
        split(user, make_observation("one").ref, parts)


def test_missing_memories_are_named(user: User) -> None:
    memory = make_observation("one")
    with pytest.raises(ValidationError, match="There is no memory o999"):
        merge(user, memory.ref, [Ref(Kind.OBSERVATION, 999)])
