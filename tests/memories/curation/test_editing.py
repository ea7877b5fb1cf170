"""Editing and making memories by hand, and what happens when two people edit at once."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError

from memweb.memories.curation import EditConflict, create_memory, edit_memory, undo, values_of, version_of
from memweb.memories.kinds import Kind
from memweb.memories.models import Change, ChangeSet, Memory, Observation, memory_model
from search.keyword.maintenance import check_index
from tests.factories import make_drawer, make_observation, make_one_of_each, make_project, make_session
from tests.search.searching import found

pytestmark = pytest.mark.django_db

NEW: dict[str, Any] = {
    "type": "decision",
    "title": "New title",
    "subtitle": "New subtitle",
    "narrative": "New narrative",
    "facts": ["one", "two"],
    "text": "New text",
    "request": "New request",
    "investigated": "New look",
    "learned": "New lesson",
    "completed": "New end",
    "next_steps": "New steps",
    "notes": "New notes",
    "room": "hall",
    "speaker": "somebody",
    "chunk_index": 7,
    "tags": ["a", "b"],
    "concepts": ["gotcha"],
    "files": [["src/new.py", "modified"], ["src/new.py", "read"]],
    "file": "src/passage.py",
    "note": "A note",
    "created_at": "2025-03-04T05:06:07+00:00",
    "time_quality": "corrected",
}


def fresh(memory: Memory) -> Any:
    return memory_model(memory.kind).objects.get(pk=memory.pk)


def test_every_value_of_every_kind_can_be_edited_and_undone(user: User) -> None:
    project, session = make_project("other"), make_session("other-session")
    for memory in make_one_of_each("needle"):
        before = values_of(memory)
        new = {name: value for name, value in NEW.items() if name in before}
        new |= {"project_id": project.pk, "session_id": session.pk}
        change_set = edit_memory(user, memory.ref, new, version=version_of(memory))
        assert change_set is not None
        after = values_of(fresh(memory))
        assert after == {**before, **new}
        undo(user, change_set)
        assert values_of(fresh(memory)) == before
    assert all(fault is None for fault in check_index().values())


def test_old_words_are_no_longer_found_after_an_edit(user: User) -> None:
    memory = make_observation("alpha-old", concepts=["formerly"], files=["src/former.py"])
    edit_memory(user, memory.ref, {"title": "alpha-new", "concepts": ["lately"], "files": [["src/late.py", "read"]]})
    assert [found(query) for query in ("old", "formerly", "concept:formerly", "file:src/former.py")] == [[]] * 4
    named = [str(memory.ref)]
    assert [found(query) for query in ("new", "concept:lately", "file:src/late.py")] == [named] * 3


def test_an_edit_without_a_difference_is_none(user: User) -> None:
    memory = make_observation("same")
    assert edit_memory(user, memory.ref, {"title": "same"}) is None
    assert ChangeSet.objects.count() == 0


def test_second_saver_gets_the_difference_and_overwrites_nothing(user: User) -> None:
    memory = make_observation("title", "narrative")
    version = version_of(memory)
    edit_memory(user, memory.ref, {"title": "theirs"}, version=version)
    with pytest.raises(EditConflict) as raised:
        edit_memory(user, memory.ref, {"title": "mine", "narrative": "mine too"}, version=version)
    assert [(one.name, one.theirs, one.yours) for one in raised.value.differences] == [
        ("title", "theirs", "mine"),
        ("narrative", "narrative", "mine too"),
    ]
    assert fresh(memory).title == "theirs"
    edit_memory(user, memory.ref, {"title": "mine"}, version=raised.value.version)
    assert fresh(memory).title == "mine"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("title", 7, "must be a text"),
        ("title", "x" * 2_001, "longer than 2,000"),
        ("narrative", "x" * 1_000_001, "longer than 1,000,000"),
        ("narrative", "\ud800", "halves of characters"),
        ("facts", "no list", "must be a list"),
        ("tags", ["x" * 61], "longer than 60"),
        ("files", [["a", "deleted"]], "A file is read or modified"),
        ("created_at", "yesterday", "not a time; write it like"),
        ("created_at", "2026-01-01T00:00", "needs its zone"),
        ("created_at", "0001-01-01T00:00+14:00", "is not between 1900 and 2199"),
        ("project_id", 999, "no such project"),
        ("session_id", 999, "no such session"),
        ("project_id", "x", "not a whole number"),
        ("state", "trashed", "has no state that can be edited"),
        ("time_quality", "sure", "Say one of"),
    ],
)
def test_what_cannot_be_saved_is_said_of_its_field(user: User, name: str, value: Any, message: str) -> None:
    memory = make_observation("one")
    with pytest.raises(ValidationError) as raised:
        edit_memory(user, memory.ref, {name: value, "subtitle": "fine"})
    assert message in raised.value.message_dict[name][0]
    assert fresh(memory).subtitle == ""


def test_facts_that_are_no_texts_stay_as_they_are(user: User) -> None:
    memory = make_observation("one", facts=[{"a": 1}, 2, "three"])
    edit_memory(user, memory.ref, {"facts": [{"a": 1}, 2, "drei"]})
    assert fresh(memory).facts == [{"a": 1}, 2, "drei"]


def test_time_can_be_taken_away_and_is_unknown_then(user: User) -> None:
    memory = make_observation("one")
    edit_memory(user, memory.ref, {"created_at": ""})
    assert (fresh(memory).created_at, fresh(memory).time_quality) == (None, "unknown")


def test_memories_of_all_kinds_can_be_made(user: User) -> None:
    project = make_project("demo")
    texts = {Kind.OBSERVATION: "title", Kind.SUMMARY: "request", Kind.PROMPT: "text", Kind.DRAWER: "text"}
    made = [
        create_memory(user, kind, {name: "needle", "project_id": project.pk, "tags": ["own"]})
        for kind, name in texts.items()
    ]
    assert sorted(found("needle tag:own")) == sorted(str(memory.ref) for memory in made)
    assert Change.objects.filter(before__isnull=True).count() == 4
    assert all(memory.agent == "curator" and memory.created_at for memory in made)


def test_undoing_a_creation_moves_it_to_the_trash(user: User) -> None:
    memory = create_memory(user, Kind.PROMPT, {"text": "needle", "project_id": make_project("demo").pk})
    undo(user, ChangeSet.objects.get())
    assert fresh(memory).state == "trashed"


@pytest.mark.parametrize(("values", "field"), [({"title": "x"}, "project_id"), ({"title": " "}, "text")])
def test_a_new_memory_needs_a_project_and_a_text(user: User, values: dict[str, Any], field: str) -> None:
    more = {} if field == "project_id" else {"project_id": make_project("demo").pk}
    with pytest.raises(ValidationError) as raised:
        create_memory(user, Kind.OBSERVATION, {**values, **more})
    assert list(raised.value.message_dict) == [field]
    assert Observation.objects.count() == 0


def test_readers_neither_edit_nor_make(reader: User) -> None:
    memory = make_drawer("one")
    with pytest.raises(PermissionDenied):
        edit_memory(reader, memory.ref, {"text": "two"})
    with pytest.raises(PermissionDenied):
        create_memory(reader, Kind.PROMPT, {"text": "x", "project_id": memory.project_id})
