"""Index terms stay true whatever changes what memories share, and from whichever side."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from memweb.memories import refreshing
from memweb.memories.models import MEMORY_MODELS, Concept, FilePath, Memory, Observation, Session, Tag, UserPrompt
from memweb.memories.queries import TERM_COLUMNS
from search.terms import terms_of
from tests.factories import (
    make_concept,
    make_drawer,
    make_file,
    make_observation,
    make_one_of_each,
    make_prompt,
    make_session,
    make_summary,
    make_tag,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def memories() -> Sequence[Memory]:
    """Memories of every kind with every label there is, and one that has none of them."""
    session = make_session("content-1", platform="claude")
    shared: dict[str, Any] = {"session": session, "tags": ["old", "kept"]}
    return [
        make_observation("a", concepts=["old", "kept"], files=["src/old.py"], modified=["src/old.py"], **shared),
        make_summary("b", files=["src/old.py", "src/kept.py"], **shared),
        make_drawer("c", file="src/old.py", **shared),
        make_prompt("d", **shared),
        make_observation("apart"),
    ]


def stale(memories: Sequence[Memory]) -> list[str]:
    """Return the refs of memories whose terms are not those of what they have now."""
    found = []
    for memory in memories:
        row = MEMORY_MODELS[memory.kind].objects.get(pk=memory.pk)
        terms = terms_of(row.indexed_text())
        if [getattr(row, name) for name in TERM_COLUMNS] != [terms.title, terms.body, terms.variants, terms.scope]:
            found.append(str(memory.ref))
    return found


def words(memory: Memory) -> set[str]:
    row = MEMORY_MODELS[memory.kind].objects.get(pk=memory.pk)
    return set(f"{row.body_terms} {row.scope_terms}".split())


def rename(label: Any, name: str, value: str) -> None:
    setattr(label, name, value)
    label.save()


CHANGES: dict[str, Callable[[Sequence[Any]], object]] = {
    "concept renamed": lambda memories: rename(make_concept("old"), "name", "new"),
    "tag renamed": lambda memories: rename(make_tag("old"), "name", "new"),
    "path renamed": lambda memories: rename(make_file("src/old.py"), "path", "lib/new.py"),
    "platform of a session": lambda memories: rename(Session.objects.get(), "platform", "codex"),
    "one field saved": lambda memories: [
        setattr(tag := make_tag("old"), "name", "new"),
        tag.save(update_fields=["name"]),
    ],
    "concept deleted": lambda memories: make_concept("old").delete(),
    "tag deleted": lambda memories: make_tag("old").delete(),
    "tags deleted": lambda memories: Tag.objects.all().delete(),
    "session deleted": lambda memories: Session.objects.get().delete(),
    "tag added": lambda memories: [memory.tags.add(make_tag("new")) for memory in memories],
    "tag removed": lambda memories: [memory.tags.remove(make_tag("old")) for memory in memories],
    "tags set": lambda memories: [memory.tags.set([make_tag("new"), make_tag("kept")]) for memory in memories],
    "tags cleared": lambda memories: [memory.tags.clear() for memory in memories],
    "memories added to a tag": lambda memories: make_tag("new").observations.add(memories[0], memories[4]),
    "memories removed from a tag": lambda memories: make_tag("old").userprompts.remove(memories[3]),
    "memories of a tag cleared": lambda memories: make_tag("old").drawers.clear(),
    "concept added": lambda memories: memories[4].concepts.add(make_concept("new")),
    "concept removed": lambda memories: memories[0].concepts.remove(make_concept("old")),
    "concepts cleared from their side": lambda memories: make_concept("old").observations.clear(),
    "path added": lambda memories: memories[1].files.add(make_file("new.py"), through_defaults={"role": "read"}),
    "paths cleared": lambda memories: memories[0].files.clear(),
}


@pytest.mark.parametrize("name", CHANGES)
def test_terms_follow_every_change_of_what_is_shared(memories: Sequence[Memory], name: str) -> None:
    assert stale(memories) == []
    before = [words(memory) for memory in memories]
    CHANGES[name](memories)
    assert stale(memories) == []
    assert [words(memory) for memory in memories] != before


def test_renamed_label_is_found_by_its_new_name_only(memories: Sequence[Memory]) -> None:
    rename(make_tag("old"), "name", "fresh")
    assert ["fresh" in words(memory) for memory in memories] == [True] * 4 + [False]
    rename(make_concept("old"), "name", "fresh")
    assert not any({"old"} & words(memory) for memory in (memories[3], memories[4]))


@pytest.mark.parametrize("label", ["concept", "tag", "filepath"])
def test_terms_follow_a_rename_in_the_admin(memories: Sequence[Memory], label: str, client: Client) -> None:
    client.force_login(User.objects.create_superuser("owner"))
    names: dict[str, tuple[Any, str, str]] = {
        "concept": (Concept, "name", "old"),
        "tag": (Tag, "name", "old"),
        "filepath": (FilePath, "path", "src/old.py"),
    }
    model, field, value = names[label]
    pk = model.objects.get(**{field: value}).pk
    response = client.post(f"/admin/memories/{label}/{pk}/change/", {field: "renamed"})
    assert response.status_code == 302
    assert stale(memories) == []
    assert "renamed" in words(memories[0])


@pytest.mark.parametrize("label", [make_concept, make_tag, make_file])
def test_save_that_renames_nothing_reads_no_memory(label: Callable[[str], Any]) -> None:
    row = label("same")
    with CaptureQueriesContext(connection) as queries:
        row.save()
    assert len([one for one in queries if "SELECT" in one["sql"]]) == 1


def test_many_memories_are_refreshed_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refreshing, "BATCH", 2)
    tag = make_tag("old")
    memories = [make_prompt(f"p {number}", tags=["old"]) for number in range(5)]
    rename(tag, "name", "new")
    assert stale(memories) == []


def test_true_terms_are_not_written_again(memories: Sequence[Memory]) -> None:
    with CaptureQueriesContext(connection) as queries:
        refreshing.refresh_terms(Observation, [memory.pk for memory in memories if memory.kind == "observation"])
    assert [one for one in queries if "UPDATE" in one["sql"]] == []


TEXTS = [(memory_model, name) for memory_model in MEMORY_MODELS.values() for name in memory_model.body_fields]


@pytest.mark.parametrize(("model", "name"), [*TEXTS, (Observation, "title"), (UserPrompt, "note")])
def test_update_of_a_text_is_refused(model: type[Memory], name: str) -> None:
    make_one_of_each("needle")
    row = model.objects.get()
    with pytest.raises(TypeError, match=f"^{name}: an update would leave old words in the index; save the memories"):
        model.objects.update(**{name: "other"})
    with pytest.raises(TypeError, match=f"^{name}: an update would leave"):
        model.objects.bulk_update([row], [name])


def test_bulk_update_of_a_text_with_its_terms_is_allowed() -> None:
    row = make_prompt("needle")
    row.text = "other"
    row.compute_terms()
    assert UserPrompt.objects.bulk_update([row], ["text", *TERM_COLUMNS]) == 1
    assert stale([row]) == []
    assert UserPrompt.objects.filter(pk=row.pk).update(pinned=True) == 1
