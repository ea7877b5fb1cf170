"""Rows that no upkeep would look at again are found by `doctor --deep` and put right by the next migrate."""

import pytest
from django.core.checks import Warning
from django.core.management import call_command
from django.db import connection

from memweb.memories.models import Drawer
from memweb.operations.diagnosis import Finding, diagnose, examine_derived
from search.checks import check_indexes
from search.closets.groups import GROUPS, LINES, POINTERS, group_objects
from search.closets.upkeep import ClosetKeeper
from search.leftovers import find_leftovers, mend_leftovers
from search.models import Embedding, EmbeddingTask
from search.vectors.indexer import Indexer
from search.vectors.queue import count_gone, drop_queue, ensure_queue, queue_objects
from tests.embedders import FakeEmbedder
from tests.factories import make_drawer, make_one_of_each, make_session

pytestmark = pytest.mark.django_db

STRAY_KEYS = ("", "x1", "s", "s1x")
LOST_LINE = f"INSERT INTO {LINES} (group_id, text, text_hash, vector) VALUES ('s99', 'a', x'00', x'00')"


@pytest.fixture(autouse=True)
def kept() -> None:
    """Memories of every kind with vectors, and drawers with closets: none of it is left over."""
    make_one_of_each("the tortoise sleeps")
    session = make_session("talk")
    for text in ("A walnut falls.", "The harbour froze."):
        make_drawer(text, session=session)
    Indexer(FakeEmbedder()).run()
    ClosetKeeper(FakeEmbedder()).run()


def run(*statements: str) -> None:
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)


def derived(deep: bool) -> list[Finding]:
    return list(examine_derived(deep))


def stray_tasks() -> None:
    EmbeddingTask.objects.create(kind="x", memory_id=1)
    run("INSERT INTO search_embeddingtask (kind, memory_id, changes) VALUES ('d', 'one', 0)")


def memories_gone_unnoticed() -> None:
    drop_queue()
    Drawer.objects.filter(text="A walnut falls.").delete()
    ensure_queue()
    EmbeddingTask.objects.all().delete()


def stray_groups() -> None:
    for key in STRAY_KEYS:
        run(f"INSERT INTO {GROUPS} (key, changes, built, model) VALUES ('{key}', 1, -1, '')")


def lost_lines() -> None:
    run(LOST_LINE)


def lost_pointers() -> None:
    run(
        *[f"DROP TRIGGER {one.name}" for one in group_objects()],
        f"INSERT INTO {POINTERS} (line_id, drawer_id) SELECT max(id), 999 FROM {LINES}",
        f"INSERT INTO {POINTERS} (line_id, drawer_id) SELECT 999, max(id) FROM memories_drawer",
        *[one.sql for one in group_objects()],
    )


SENTENCES = {
    stray_tasks: ("vector queue", "2 entries name nothing that could be a memory"),
    memories_gone_unnoticed: (
        "vector queue",
        "1 vectors are of passages that are gone, and do not wait for their removal",
    ),
    stray_groups: ("closets", "4 groups are of nothing that could have closets"),
    lost_lines: ("closets", "1 lines belong to no group"),
    lost_pointers: ("closets", "2 lines point at passages that are gone, or are gone themselves"),
}


def test_what_memweb_makes_is_no_leftover() -> None:
    assert find_leftovers() == []
    mend_leftovers()
    assert derived(deep=True) == []


@pytest.mark.parametrize("leave", SENTENCES)
def test_leftover_is_told_and_put_right(leave: object) -> None:
    assert callable(leave)
    leave()
    with connection.constraint_checks_disabled():
        subject, sentence = SENTENCES[leave]
        assert derived(deep=True) == [Finding(subject, sentence, "memweb migrate")]
        call_command("migrate", verbosity=0)
        assert derived(deep=True) == []
    Indexer(FakeEmbedder()).run()
    assert find_leftovers() == []
    assert set(Embedding.objects.filter(kind="d").values_list("memory_id", flat=True)) == set(
        Drawer.objects.values_list("pk", flat=True)
    )


@pytest.mark.parametrize(
    ("subject", "code", "name"),
    [
        *[("vector queue", "W002", one.name) for one in queue_objects(Drawer(text="").kind)],
        *[("closets", "W003", one.name) for one in group_objects()],
    ],
)
def test_lost_trigger_is_told_and_made_again(subject: str, code: str, name: str) -> None:
    run(f"DROP TRIGGER {name}")
    sentence = f"trigger {name} is missing"
    assert derived(deep=False) == [Finding(subject, sentence, "memweb migrate")]
    assert check_indexes(["default"]) == [
        Warning(f"{subject}: {sentence}", hint="run `memweb migrate`", id=f"search.{code}")
    ]
    call_command("migrate", verbosity=0)
    assert (derived(deep=True), check_indexes(["default"])) == ([], [])


def test_removed_memories_whose_vectors_wait_are_counted() -> None:
    assert count_gone() == 0
    Drawer.objects.filter(text="A walnut falls.").delete()
    assert count_gone() == 1
    [state] = [one for one in diagnose() if "removed memories" in one.state]
    assert (state.subject, state.state) == ("vector index", "1 removed memories wait for their vectors to be removed")
    assert find_leftovers() == []
    Indexer(FakeEmbedder()).run()
    assert count_gone() == 0
