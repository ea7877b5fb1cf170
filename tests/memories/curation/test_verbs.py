"""Verbs on many memories: what is changed, what is refused, what is noted; search follows at once."""

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError

from memweb.memories.curation import VERBS, carry_out, tag_names, undo, values_of
from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import Change, ChangeSet, Project, ProjectAlias, Tag
from search.keyword.maintenance import check_index
from tests.factories import make_observation, make_one_of_each, make_project, refs
from tests.search.searching import found

pytestmark = pytest.mark.django_db

# What a verb is told, and a search that finds exactly what it was done to.
EXAMPLES = {
    "archive": ("", "needle is:archived"),
    "trash": ("", "needle is:trashed"),
    "restore": ("", "needle"),
    "pin": ("", "needle is:pinned"),
    "unpin": ("", "needle -is:pinned"),
    "tag": ("review, to do", 'needle tag:"to do" tag:review'),
    "untag": ("later", "needle -tag:later"),
    "wrong": ("it was the cache", "needle is:wrong"),
    "right": ("", "needle -is:wrong"),
    "move": ("other", "needle project:other"),
    "retype": ("decision", "needle type:decision"),
}


def test_every_verb_has_an_example() -> None:
    assert set(EXAMPLES) == set(VERBS)


@pytest.mark.parametrize("name", VERBS)
def test_search_follows_every_verb_and_its_undoing(user: User, name: str) -> None:
    make_project("other")
    memories = make_one_of_each("needle")
    before = {memory.ref: values_of(memory) for memory in memories}
    argument, query = EXAMPLES[name]
    opposite = {"restore": ("trash", ""), "unpin": ("pin", ""), "untag": ("tag", "later"), "right": ("wrong", "why")}
    if name in opposite:
        carry_out(user, opposite[name][0], before, opposite[name][1])
        assert found(query) == []
    outcome = carry_out(user, name, before, argument)
    wanted = [memory for memory in memories if memory.kind in VERBS[name].kinds]
    assert sorted(found(query)) == sorted(refs(wanted))
    assert outcome.changed == len(wanted)
    undo(user, outcome.change_set)
    if name not in opposite:
        assert {memory.ref: values_of(type(memory).objects.get(pk=memory.pk)) for memory in memories} == before
        assert len(found("needle")) == 4
    assert all(fault is None for fault in check_index().values())


def test_what_is_wrong_or_archived_is_found_only_when_asked_for(user: User) -> None:
    memories = make_one_of_each("needle")
    carry_out(user, "wrong", [memories[0].ref], "guessed")
    carry_out(user, "archive", [memories[1].ref])
    assert sorted(found("needle")) == sorted(refs(memories[2:]))
    assert len(found("needle is:any")) == 4


def test_tag_in_other_capitals_is_the_same_tag(user: User) -> None:
    one, other = make_observation("one"), make_observation("other")
    carry_out(user, "tag", [one.ref], "Review")
    carry_out(user, "tag", [other.ref], "review")
    assert list(Tag.objects.values_list("name", flat=True)) == ["Review"]


def test_memories_go_to_the_project_that_another_was_merged_into(user: User) -> None:
    target, memory = make_project("target"), make_observation("one")
    make_project("old", merged_into=target)
    ProjectAlias.objects.create(name="alias", project=Project.objects.get(name="old"))
    carry_out(user, "move", [memory.ref], "alias")
    memory.refresh_from_db()
    assert memory.project == target


def test_a_change_set_says_who_did_what_and_why(user: User) -> None:
    memory = make_observation("one")
    carry_out(user, "wrong", [memory.ref], "guessed", reason="asked the author")
    change_set = ChangeSet.objects.get()
    assert (change_set.user, change_set.actor, change_set.verb) == (user, "curator", "wrong")
    assert (change_set.summary, change_set.reason) == (f"Mark as wrong: {memory.ref} (guessed)", "asked the author")
    change = Change.objects.get()
    assert (change.ref, change.before, change.after) == (
        memory.ref,
        {"wrong_reason": None},
        {"wrong_reason": "guessed"},
    )


def test_what_is_so_already_is_counted_and_not_recorded(user: User) -> None:
    one, other = make_observation("one", pinned=True), make_observation("other")
    outcome = carry_out(user, "pin", [one.ref, other.ref])
    assert (outcome.changed, outcome.unchanged, Change.objects.count()) == (1, 1, 1)
    assert str(outcome) == "1 memory pinned; 1 needed no change."


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
        carry_out(user, "tag", [memory.ref], text)
    assert message in raised.value.messages[0]
    assert (memory.tags.count(), ChangeSet.objects.count()) == (0, 0)


def test_names_of_all_scripts_are_tags() -> None:
    assert tag_names("später, 東京 , c++,  a  b ") == ["später", "東京", "c++", "a b"]


@pytest.mark.parametrize(
    ("name", "argument", "message"),
    [
        ("explode", "", "“explode” is nothing that can be done; accepted are archive"),
        ("wrong", "  ", "The reason is missing"),
        ("wrong", "x" * 501, "longer than 500"),
        ("retype", "\u202ex", "cannot be shown"),
        ("move", "nowhere", "There is no project “nowhere”"),
    ],
)
def test_what_cannot_be_done_is_said(user: User, name: str, argument: str, message: str) -> None:
    memory = make_observation("one")
    with pytest.raises(ValidationError) as raised:
        carry_out(user, name, [memory.ref], argument)
    assert message in raised.value.messages[0]
    assert ChangeSet.objects.count() == 0


def test_missing_memory_is_named_and_nothing_changes(user: User) -> None:
    memory = make_observation("one")
    with pytest.raises(ValidationError, match="There is no memory p999; nothing was changed"):
        carry_out(user, "pin", [memory.ref, Ref(Kind.PROMPT, 999)])
    memory.refresh_from_db()
    assert (memory.pinned, ChangeSet.objects.count()) == (False, 0)


@pytest.mark.parametrize("count", [0, 501])
def test_none_and_too_many_are_refused(user: User, count: int) -> None:
    with pytest.raises(ValidationError, match=r"No memory was chosen|501 memories are too many at once"):
        carry_out(user, "pin", [Ref(Kind.PROMPT, number) for number in range(count)])


@pytest.mark.parametrize("name", VERBS)
def test_readers_change_nothing(reader: User, name: str) -> None:
    make_project("other")
    memory = make_observation("one")
    with pytest.raises(PermissionDenied, match="read memories here, but not change"):
        carry_out(reader, name, [memory.ref], EXAMPLES[name][0])
    assert ChangeSet.objects.count() == 0


@pytest.mark.parametrize("name", VERBS)
def test_statements_do_not_grow_with_the_number_of_memories(
    user: User, name: str, django_assert_max_num_queries: object
) -> None:
    make_project("other")
    some = [make_observation(f"title {number}", concepts=["c"], files=["f"], tags=["t"]).ref for number in range(60)]
    with django_assert_max_num_queries(30):  # type: ignore[operator]
        carry_out(user, name, some, EXAMPLES[name][0])


@pytest.mark.parametrize("name", ["a, b", "!!!", "x" * 80])
def test_tags_that_could_not_be_typed_are_taken_off(user: User, name: str) -> None:
    memory = make_observation("one", tags=[name, "a"])
    carry_out(user, "untag", [memory.ref], name)
    assert [tag.name for tag in memory.tags.all()] == ["a"]
