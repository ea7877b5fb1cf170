"""Tagging and pinning: what is changed, what is refused, what is noted; search follows at once."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from memweb.memories.curation import pin_memories, tag_memories, tag_names, untag_memory
from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import Tag
from tests.factories import make_observation, make_one_of_each, refs
from tests.search.searching import found

pytestmark = pytest.mark.django_db


@pytest.fixture
def user() -> User:
    return User.objects.create_user("curator")


def test_tags_are_put_on_memories_of_every_kind_and_found_at_once(user: User) -> None:
    memories = make_one_of_each("needle")
    assert tag_memories(user, [memory.ref for memory in memories], " review,  to do ,review") == 4
    assert sorted(found('tag:"to do"')) == sorted(refs(memories))
    assert set(Tag.objects.values_list("name", flat=True)) == {"review", "to do"}


def test_tag_in_other_capitals_is_the_same_tag(user: User) -> None:
    one, other = make_observation("one"), make_observation("other")
    tag_memories(user, [one.ref], "Review")
    tag_memories(user, [other.ref], "review")
    assert list(Tag.objects.values_list("name", flat=True)) == ["Review"]


def test_tag_is_taken_off(user: User) -> None:
    memory = make_observation("one", tags=["review", "later"])
    untag_memory(user, memory.ref, "review")
    untag_memory(user, memory.ref, "never there")
    assert ([tag.name for tag in memory.tags.all()], found("tag:review")) == (["later"], [])


def test_pins_are_set_taken_out_and_found(user: User) -> None:
    memories = make_one_of_each("needle")
    chosen = [memory.ref for memory in memories]
    assert pin_memories(user, chosen, pinned=True) == 4
    assert sorted(found("is:pinned")) == sorted(refs(memories))
    assert pin_memories(user, chosen, pinned=True) == 0
    assert pin_memories(user, chosen[:1], pinned=False) == 1
    assert len(found("is:pinned")) == 3


def test_every_change_is_noted_with_who_made_it(user: User) -> None:
    memory = make_observation("one")
    pin_memories(user, [memory.ref], pinned=True)
    tag_memories(user, [memory.ref], "b, a")
    untag_memory(user, memory.ref, "a")
    entries = LogEntry.objects.filter(object_id=str(memory.pk)).order_by("pk")
    assert [(entry.user, entry.change_message) for entry in entries] == [
        (user, "Pinned."),
        (user, "Tagged b, a."),
        (user, "Took the tag a off."),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "No tag was given"),
        (" , ,", "No tag was given"),
        ("x" * 61, "is longer than 60 characters"),
        (",".join(f"t{number}" for number in range(21)), "21 tags are too many at once"),
        ("a\x00b", r"“a\x00b” cannot be a tag"),
        ("\u202e", "cannot be a tag"),
        ("!!!", "“!!!” cannot be a tag"),
    ],
)
def test_what_is_no_tag_is_named_and_nothing_changes(user: User, text: str, message: str) -> None:
    memory = make_observation("one")
    with pytest.raises(ValidationError) as raised:
        tag_memories(user, [memory.ref], text)
    assert message in raised.value.messages[0]
    assert (memory.tags.count(), LogEntry.objects.count()) == (0, 0)


def test_names_of_all_scripts_are_tags() -> None:
    assert tag_names("später, 東京 , c++,  a  b ") == ["später", "東京", "c++", "a b"]


def test_missing_memory_is_named_and_nothing_changes(user: User) -> None:
    memory = make_observation("one")
    with pytest.raises(ValidationError, match="There is no memory p999; nothing was changed"):
        pin_memories(user, [memory.ref, Ref(Kind.PROMPT, 999)], pinned=True)
    memory.refresh_from_db()
    assert memory.pinned is False


@pytest.mark.parametrize("count", [0, 201])
def test_none_and_too_many_are_refused(user: User, count: int) -> None:
    with pytest.raises(ValidationError, match=r"No memory was chosen|201 memories are too many at once"):
        pin_memories(user, [Ref(Kind.PROMPT, number) for number in range(count)], pinned=True)
