"""Projects, concepts, tags and files under other names."""

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError

from memweb.memories.curation import (
    create_project,
    merge_projects,
    move_folder,
    rename_label,
    rename_project,
    undo,
    unmerge_project,
)
from memweb.memories.models import ProjectAlias
from search.keyword.maintenance import check_index
from tests.factories import make_drawer, make_observation, make_project, make_summary, refs
from tests.search.searching import found

pytestmark = pytest.mark.django_db


def test_a_renamed_project_is_found_by_both_names(user: User) -> None:
    memory = make_observation("needle", project=make_project("old"))
    rename_project(user, memory.project, "new")
    assert found("needle project:new") == found("needle project:old") == [str(memory.ref)]
    rename_project(user, memory.project, "old")
    assert (memory.project.name, list(ProjectAlias.objects.values_list("name", flat=True))) == ("old", ["new"])


def test_merged_projects_are_searched_together_until_they_are_parted(user: User) -> None:
    one, two = (
        make_observation("needle", project=make_project("one")),
        make_observation("nail", project=make_project("two")),
    )
    merge_projects(user, one.project, two.project)
    assert sorted(found("project:two")) == sorted(refs([one, two]))
    with pytest.raises(ValidationError, match="“one” is part of “two” already"):
        merge_projects(user, two.project, one.project)
    unmerge_project(user, one.project)
    assert found("project:two") == [str(two.ref)]


@pytest.mark.parametrize("name", ["taken", "alias", "", " "])
def test_names_that_cannot_be_given_are_refused(user: User, name: str) -> None:
    ProjectAlias.objects.create(name="alias", project=make_project("taken"))
    project = make_project("mine")
    with pytest.raises(ValidationError):
        rename_project(user, project, name)
    with pytest.raises(ValidationError):
        create_project(user, name)


def test_concepts_become_one_and_part_again(user: User) -> None:
    one, both = make_observation("one", concepts=["gotchas"]), make_observation("both", concepts=["gotcha", "gotchas"])
    change_set = rename_label(user, "concept", "gotchas", "gotcha")
    assert sorted(found("concept:gotcha")) == sorted(refs([one, both]))
    assert found("concept:gotchas") == []
    undo(user, change_set)
    assert sorted(found("concept:gotchas")) == sorted(refs([one, both]))
    assert found("concept:gotcha") == [str(both.ref)]


def test_tags_are_renamed(user: User) -> None:
    memory = make_observation("one", tags=["todo"])
    rename_label(user, "tag", "todo", "to do")
    assert found('tag:"to do"') == [str(memory.ref)]
    with pytest.raises(ValidationError, match="There is no tag “never”"):
        rename_label(user, "tag", "never", "x")
    with pytest.raises(ValidationError, match="one name, without commas"):
        rename_label(user, "tag", "to do", "a, b")


def test_a_moved_folder_takes_its_files_along_for_every_kind(user: User) -> None:
    memories = [
        make_observation("o", files=["src/a.py"], modified=["src/a.py", "src_other/b.py"]),
        make_summary("s", files=["src/deep/c.py"]),
        make_drawer("d", file="src/a.py"),
    ]
    change_set = move_folder(user, "src", "lib/src/")
    assert sorted(found("file:lib/src/")) == sorted(refs(memories))
    assert found("file:src_other/b.py") == [str(memories[0].ref)]
    undo(user, change_set)
    assert found("file:lib/src/") == []
    assert all(fault is None for fault in check_index().values())
    with pytest.raises(ValidationError, match="Nothing is remembered about files"):
        move_folder(user, "nowhere", "somewhere")
