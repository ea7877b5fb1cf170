"""Projects whose names differ by a letter, a blank or a folder stay apart until a person merges them."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memweb.memories.models import Observation, Project, ProjectAlias
from tests.factories import refs
from tests.search.conftest import Importing
from tests.search.searching import found, search_for

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module", autouse=True)
def memories(shared: Path, imported: Importing) -> Iterator[None]:
    with imported(shared / "cases/files/B13_project_case_and_basename.db"):
        yield


@pytest.mark.parametrize("name", ["api", "API", "api ", "/srv/client-a/api", "client-b/api", "zurich-v1", ""], ids=repr)
def test_name_is_exact(name: str) -> None:
    [hit] = search_for(f'project:"{name}"').hits
    assert hit.memory.title == f"row of project '{name}'"
    assert hit.memory.project.name == name


@pytest.mark.parametrize("name", ["api", "API", "api ", "client-b/api"], ids=repr)
def test_parameter_is_exact(name: str) -> None:
    [hit] = search_for(project=name).hits
    assert hit.memory.project.name == name


@pytest.mark.parametrize("name", ["Api", "ap", "apis", " api", "zurich", "client-b", "demo"], ids=repr)
def test_other_names_find_nothing_and_are_said(name: str) -> None:
    result = search_for(f'project:"{name}"')
    assert (result.total, len(result.notes)) == (0, 1)
    assert result.notes[0].startswith(f"No project is called “{name}”.")


def test_several_names_are_alternatives() -> None:
    assert len(found("project:api,API")) == len(found(project="api,API")) == 2
    assert len(found("project:api project:API")) == 0


def test_negation_leaves_out_one_project() -> None:
    assert len(found("-project:api")) == 6
    assert len(found("-project:api,API")) == 5


def test_facet_counts_each_name_by_itself() -> None:
    values = {one.value: one.count for one in search_for().facets["project"]}
    assert values == dict.fromkeys(["api", "API", "api ", "/srv/client-a/api", "client-b/api", "zurich-v1", ""], 1)


def test_alias_and_merged_project_find_the_same() -> None:
    api, upper = Project.objects.get(name="api"), Project.objects.get(name="API")
    upper.merged_into = api
    upper.save()
    ProjectAlias.objects.create(name="the-api", project=api)
    both = refs(Observation.objects.filter(project__in=[api, upper]).order_by("-created_at"))
    assert found("project:api") == found("project:API") == found("project:the-api") == both
