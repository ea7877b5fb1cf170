"""Memories keep what they are given, refuse what cannot be, and always carry the terms of their present text."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import ProtectedError
from django.test.utils import CaptureQueriesContext

from memweb.memories.indexing import date_tokens
from memweb.memories.kinds import Kind
from memweb.memories.models import (
    MEMORY_MODELS,
    Concept,
    Drawer,
    FilePath,
    FileRole,
    Memory,
    Observation,
    ObservationConcept,
    ObservationFile,
    Project,
    ProjectAlias,
    Session,
    SessionSummary,
    Tag,
    UserPrompt,
    memory_model,
)
from memweb.memories.models.base import field_texts
from memweb.memories.models.labels import base_name
from memweb.memories.models.memories import HEADING_LENGTH, first_line
from memweb.memories.queries import TERM_COLUMNS
from search.terms import terms_of
from tests.factories import (
    make_concept,
    make_drawer,
    make_file,
    make_observation,
    make_one_of_each,
    make_project,
    make_prompt,
    make_session,
    make_summary,
    make_tag,
    moment,
)

pytestmark = pytest.mark.django_db

MAKE: list[Callable[..., Any]] = [make_observation, make_prompt, make_summary, make_drawer]
every_kind = pytest.mark.parametrize("make", MAKE)


def terms(memory: Memory) -> list[str]:
    return [getattr(memory, name) for name in TERM_COLUMNS]


def wanted_terms(memory: Memory) -> list[str]:
    found = terms_of(MEMORY_MODELS[memory.kind].objects.get(pk=memory.pk).indexed_text())
    return [found.title, found.body, found.variants, found.scope]


@every_kind
def test_saved_memory_carries_its_terms(make: Callable[..., Any]) -> None:
    memory = make("needle", session=make_session(), tags=["a", "b"], note="a note", state="archived", pinned=True)
    memory.refresh_from_db()
    assert terms(memory) == wanted_terms(memory)
    tags = [f"=g{make_tag(name).pk}" for name in ("a", "b")]
    owners = [f"=p{memory.project_id}", f"=s{memory.session_id}", "=wclaude"]
    day = date_tokens(memory.created_at)
    assert memory.scope_terms.split() == ["=a", *owners, *day, *tags, "=xarchived", "=xpinned"]
    assert "needle" in f"{memory.title_terms} {memory.body_terms}".split()
    assert "a note =| a =| b" in memory.body_terms


@every_kind
@pytest.mark.parametrize("fields", [["note"], ["state"], ["pinned", "is_noise"], ["project"]])
def test_saving_some_fields_keeps_the_terms_true(make: Callable[..., Any], fields: list[str]) -> None:
    memory = make("needle")
    memory.note, memory.state, memory.pinned, memory.is_noise = "changed", "trashed", True, True
    memory.project = make_project("other")
    before = memory.updated_at
    memory.save(update_fields=fields)
    memory.refresh_from_db()
    assert terms(memory) == wanted_terms(memory)
    assert memory.updated_at > before


@every_kind
def test_older_copy_of_a_memory_does_not_bring_its_old_terms_back(make: Callable[..., Any]) -> None:
    memory = make("needle")
    older = MEMORY_MODELS[memory.kind].objects.get(pk=memory.pk)
    memory.note = "newer"
    memory.tags.add(make_tag("urgent"))
    memory.save()
    older.state = "archived"
    older.save(update_fields=["state"])
    memory.refresh_from_db()
    assert terms(memory) == terms(older) == wanted_terms(memory)
    assert {"newer", "urgent"} <= set(memory.body_terms.split())


@every_kind
def test_state_is_one_of_three(make: Callable[..., Any]) -> None:
    with pytest.raises(IntegrityError, match="state_known"), transaction.atomic():
        make("x", state="gone")


@every_kind
def test_missing_time_must_be_called_unknown(make: Callable[..., Any]) -> None:
    with pytest.raises(IntegrityError, match="unknown_time_is_said"), transaction.atomic():
        make("x", created_at=None, time_quality="exact")
    assert make("x", created_at=None).flags == ["doubtful"]


@every_kind
def test_memory_cannot_supersede_itself(make: Callable[..., Any]) -> None:
    memory = make("x")
    memory.superseded_by = memory
    with pytest.raises(IntegrityError, match="not_superseded_by_itself"), transaction.atomic():
        memory.save()


@every_kind
def test_source_key_is_unique_and_may_be_missing(make: Callable[..., Any]) -> None:
    make("x", source_key=None)
    make("x", source_key=None)
    make("x", source_key="k")
    with pytest.raises(IntegrityError, match="source_key"), transaction.atomic():
        make("x", source_key="k")


@every_kind
def test_flags_are_the_rare_states(make: Callable[..., Any]) -> None:
    other = make("x")
    memory = make("x", state="trashed", is_noise=True, superseded_by=other, pinned=True, time_quality="doubtful")
    assert memory.flags == ["trashed", "noise", "superseded", "pinned", "doubtful"]
    assert make("x", time_quality="corrected").flags == other.flags == []


@every_kind
def test_deleting_the_successor_leaves_the_memory(make: Callable[..., Any]) -> None:
    new = make("new")
    old = make("old", superseded_by=new)
    new.delete()
    old.refresh_from_db()
    assert old.superseded_by is None


@every_kind
def test_project_with_memories_cannot_be_deleted_and_sessions_can(make: Callable[..., Any]) -> None:
    session = make_session()
    memory = make("x", session=session)
    with pytest.raises(ProtectedError):
        memory.project.delete()
    session.delete()
    memory.refresh_from_db()
    assert memory.session is None


@every_kind
def test_name_and_address(make: Callable[..., Any]) -> None:
    memory = make("needle")
    assert memory.get_absolute_url() == f"/m/{memory.ref}/"
    assert str(memory) == f"{memory.ref} needle"
    assert memory_model(memory.kind) is type(memory)


HEADINGS: list[tuple[Memory, str]] = [
    (Observation(title="title", narrative="text"), "title"),
    (Observation(title=b"  \\n ".decode("unicode_escape"), subtitle="sub"), "sub"),
    (Observation(narrative="\n\n first \nsecond"), "first"),
    (Observation(facts=["", "a fact"]), "a fact"),
    (Observation(text="old text"), "old text"),
    (Observation(), "(empty observation)"),
    (SessionSummary(request="asked", completed="done"), "asked"),
    (SessionSummary(learned="learned", completed="done"), "done"),
    (SessionSummary(notes="notes"), "notes"),
    (SessionSummary(), "(empty summary)"),
    (UserPrompt(text="\n do it"), "do it"),
    (UserPrompt(), "(empty prompt)"),
    (Drawer(text="passage\nmore"), "passage"),
    (Drawer(text="\t"), "(empty passage)"),
]


@pytest.mark.parametrize(("memory", "heading"), HEADINGS)
def test_heading_is_never_empty(memory: Memory, heading: str) -> None:
    assert memory.heading == heading


def test_long_heading_is_shortened() -> None:
    assert first_line("x" * 500) == "x" * (HEADING_LENGTH - 1) + "…"
    assert first_line("x" * HEADING_LENGTH) == "x" * HEADING_LENGTH
    assert first_line() == first_line("", "\n") == ""


@pytest.mark.parametrize(
    ("value", "texts"),
    [
        (None, []),
        ("", []),
        ("a", ["a"]),
        (["a", "", None, "b"], ["a", "b"]),
        ([["a", ["b"]], 7], ["a", "b", "7"]),
        ({"a": 1}, ["{'a': 1}"]),
        ([0, False], ["0", "False"]),
    ],
)
def test_texts_of_any_value_of_a_field(value: object, texts: list[str]) -> None:
    assert field_texts(value) == texts


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("src/a.ts", "a.ts"),
        ("a.ts", "a.ts"),
        ("/srv/app/", "app"),
        (r"C:\Users\me\a.ts", "a.ts"),
        (r"mixed\dir/b.ts", "b.ts"),
        ("/", "/"),
        ("", ""),
        ("..", ".."),
    ],
)
def test_base_name_of_a_path(path: str, name: str) -> None:
    assert base_name(path) == name
    assert FilePath.objects.create(path=path).name == name


@pytest.mark.parametrize("make", [make_project, make_concept, make_tag, make_file])
def test_names_differ_when_any_character_differs(make: Callable[[str], Any]) -> None:
    names = ["api", "API", "api ", " api", "a-p-i", "ápi", "a\u0301pi"]
    made = [make(name) for name in names]
    assert len({one.pk for one in made}) == len(names)
    with pytest.raises(IntegrityError), transaction.atomic():
        type(made[0]).objects.bulk_create([type(made[0])(**{"path" if make is make_file else "name": "api"})])


def test_project_cannot_be_merged_into_itself_and_has_a_label() -> None:
    project = make_project("")
    assert (project.label, str(make_project("api"))) == ("(no project)", "api")
    assert str(ProjectAlias.objects.create(name="old", project=make_project("api"))) == "old → api"
    project.merged_into = project
    with pytest.raises(IntegrityError, match="project_not_merged_into_itself"), transaction.atomic():
        project.save()
    assert Project.objects.filter(merged_into__isnull=False).count() == 0


@pytest.mark.parametrize(
    ("values", "label"),
    [
        ({"title": "title", "first_prompt": "prompt"}, "title"),
        ({"first_prompt": " first\nsecond"}, "first"),
        ({"content_session_id": "c", "memory_session_id": "m"}, "c"),
        ({"memory_session_id": "m"}, "m"),
        ({"is_placeholder": True, "content_session_id": "c"}, "unknown session"),
        ({}, "session None"),
    ],
)
def test_session_label(values: dict[str, Any], label: str) -> None:
    assert str(Session(**values)) == label


def test_links_are_unique_and_roles_known() -> None:
    observation = make_observation("x", concepts=["c"], files=["f"], modified=["f"])
    assert sorted(observation.file_links.values_list("role", flat=True)) == ["modified", "read"]
    assert observation.scope_terms.split().count(f"=f{make_file('f').pk}") == 1
    with pytest.raises(IntegrityError), transaction.atomic():
        ObservationConcept.objects.create(observation=observation, concept=make_concept("c"))
    with pytest.raises(IntegrityError), transaction.atomic():
        ObservationFile.objects.create(observation=observation, file=make_file("f"), role=FileRole.READ)
    with pytest.raises(IntegrityError, match="observation_file_role_known"), transaction.atomic():
        ObservationFile.objects.create(observation=observation, file=make_file("f"), role="guessed")


def test_deleting_a_memory_leaves_concepts_files_and_tags() -> None:
    memory = make_observation("x", concepts=["c"], files=["f"], tags=["t"])
    memory.delete()
    assert (Concept.objects.count(), FilePath.objects.count(), Tag.objects.count()) == (1, 1, 1)
    assert (ObservationConcept.objects.count(), ObservationFile.objects.count()) == (0, 0)


@pytest.mark.parametrize("kind", Kind)
@pytest.mark.parametrize("name", ["for_indexing", "for_display"])
def test_rows_are_read_with_a_fixed_number_of_statements(kind: Kind, name: str) -> None:
    model = MEMORY_MODELS[kind]

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            for memory in getattr(model.objects, name)():
                assert memory.project_id
                memory.indexed_text()
                assert name == "for_indexing" or memory.project.name
        return len(queries)

    make_one_of_each("x", tags=["a"], session=make_session())
    make_observation("x", concepts=["a"], files=["a"], created_at=moment(1))
    make_summary("x", files=["a"])
    make_drawer("x", file="a")
    make_prompt("x", tags=["a"])
    few = statements()
    for number in range(3):
        names = [f"{number}"]
        make_observation("x", concepts=names, files=names, tags=names, session=make_session("b"))
        make_summary("x", files=[f"{number}"], tags=["a"])
        make_drawer("x", file=f"{number}", tags=["a"])
        make_prompt("x", tags=["a"], session=make_session("c"))
    assert statements() == few <= 6


def test_list_reads_no_terms_but_the_filter_tokens() -> None:
    make_observation("x")
    with CaptureQueriesContext(connection) as queries:
        [memory] = Observation.objects.for_list()
        assert memory.scope_terms.startswith("=a ")
        assert memory.project.name == "demo"
    assert len(queries) == 1
    assert memory.get_deferred_fields() == {"title_terms", "body_terms", "variant_terms"}
