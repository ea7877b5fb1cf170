"""Closet lines follow the drawers they are made of."""

from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from memweb.memories.models import Drawer
from search.closets import upkeep as module
from search.closets.building import Passage, closet_lines
from search.closets.groups import ensure_groups, group_faults, group_objects
from search.closets.upkeep import ClosetKeeper, Kept
from search.models import ClosetGroup, ClosetLine, ClosetPointer
from search.vectors.embedding import Embedded, EmbedderUnavailable
from search.vectors.stored import hash_text
from tests.embedders import FakeEmbedder
from tests.factories import make_drawer, make_observation, make_session, moment

pytestmark = pytest.mark.django_db

Stored = dict[str, dict[str, list[int]]]


def keep(embedder: FakeEmbedder | None = None) -> Kept:
    kept = ClosetKeeper(embedder or FakeEmbedder()).run()
    assert kept.is_complete
    return kept


def stored() -> Stored:
    """Return what each line of each group points at."""
    found: Stored = {}
    for line in ClosetLine.objects.order_by("pk"):
        ids = line.pointers.order_by("drawer_id").values_list("drawer_id", flat=True)
        found.setdefault(line.group_id, {})[line.text] = list(ids)
    return found


def wanted(*groups: tuple[str, list[Drawer]]) -> Stored:
    return {
        key: {line.text: sorted(line.drawers) for line in closet_lines([Passage(one.pk, one.text) for one in drawers])}
        for key, drawers in groups
    }


def make_talk(name: str = "talk", count: int = 3) -> list[Drawer]:
    session = make_session(name)
    texts = [f"The {name} number {number} mentions topic{number}." for number in range(count)]
    return [make_drawer(text, session=session, created_at=moment(place)) for place, text in enumerate(texts)]


def test_lines_are_made_for_sessions_and_for_files_without_one() -> None:
    talk = make_talk()
    chunks = [make_drawer(f"# Part {number}\nwalnut {number}", file="a.md", chunk_index=number) for number in (2, 1)]
    inside = make_drawer("harbour", session=talk[0].session, file="a.md", created_at=moment(9))
    make_drawer("belongs to nothing")
    make_observation("is no drawer")
    kept = keep()
    assert (kept.groups, kept.removed) == (2, 0)
    assert stored() == wanted(
        (f"s{talk[0].session_id}", [*talk, inside]), (f"f{chunks[0].file_id}", list(reversed(chunks)))
    )


def test_vectors_and_hashes_are_those_of_the_texts() -> None:
    make_talk()
    keep()
    line = ClosetLine.objects.get()
    assert bytes(line.text_hash) == hash_text(line.text)
    assert bytes(line.vector) == FakeEmbedder().embed_query(line.text).vectors[0].astype("<f2").tobytes()


def test_nothing_is_done_while_nothing_changes() -> None:
    [drawer, *_] = make_talk()
    keep()
    drawer.pinned = True
    drawer.save()
    assert keep() == Kept(is_complete=True)


def test_a_new_drawer_changes_the_lines_of_its_stretch_only() -> None:
    talk = make_talk(count=7)
    embedder = FakeEmbedder()
    keep(embedder)
    new = make_drawer("A walnut.", session=talk[0].session, created_at=moment(99))
    kept = keep(embedder)
    assert (kept.groups, kept.embedded, kept.removed) == (1, 1, 1)
    assert stored() == wanted((f"s{talk[0].session_id}", [*talk, new]))


def test_a_line_that_keeps_its_text_points_at_what_it_tells_of_now() -> None:
    session = make_session("talk")
    one = make_drawer("The walnut tree.", session=session, created_at=moment(1))
    keep()
    other = make_drawer("and", session=session, created_at=moment(2))
    third = make_drawer("The walnut tree.", session=session, created_at=moment(3))
    assert keep().embedded == 0
    assert list(stored().values()) == [{"The walnut tree.": [one.pk, other.pk, third.pk]}]
    empty = make_drawer("", session=session, created_at=moment(4))
    third.delete()
    assert keep().groups == 1
    assert list(stored().values()) == [{"The walnut tree.": [one.pk, other.pk]}]
    assert empty.pk not in ClosetPointer.objects.values_list("drawer_id", flat=True)


@pytest.mark.parametrize("change", ["edit", "edit one field", "delete", "trash", "mark as noise"])
def test_nothing_is_left_of_a_text_that_was_taken_back(change: str) -> None:
    talk = make_talk()
    keep()
    secret = talk[1]
    assert "topic1" in ClosetLine.objects.get().text
    match change:
        case "edit":
            secret.text = "nothing"
            secret.save()
        case "edit one field":
            secret.text = "nothing"
            secret.save(update_fields=["text"])
        case "delete":
            secret.delete()
        case "trash":
            Drawer.objects.filter(pk=secret.pk).update(state="trashed")
        case _:
            Drawer.objects.filter(pk=secret.pk).update(is_noise=True)
    assert not ClosetLine.objects.exists()  # at once, before any upkeep
    assert not ClosetPointer.objects.exists()
    keep()
    shown = Drawer.objects.filter(state="active", is_noise=False).order_by("created_at")
    assert stored() == wanted((f"s{talk[0].session_id}", list(shown)))


def test_a_drawer_that_moves_leaves_one_group_and_joins_the_other() -> None:
    one, other = make_talk("one"), make_talk("other")
    keep()
    one[2].session = other[0].session
    one[2].created_at = moment(50)
    one[2].save()
    keep()
    assert stored() == wanted((f"s{one[0].session_id}", one[:2]), (f"s{other[0].session_id}", [*other, one[2]]))


def test_closets_are_gone_with_their_drawers() -> None:
    talk = make_talk()
    keep()
    for drawer in talk:
        drawer.delete()
    keep()
    assert not ClosetGroup.objects.exists()
    assert not ClosetLine.objects.exists()


def test_another_model_makes_all_lines_anew() -> None:
    make_talk()
    make_talk("second")
    keep()
    before = set(ClosetLine.objects.values_list("pk", flat=True))
    kept = keep(FakeEmbedder("new", dimension=8))
    assert (kept.groups, kept.embedded, kept.removed) == (2, 2, 2)
    assert set(ClosetGroup.objects.values_list("model", flat=True)) == {"new/1"}
    assert {len(bytes(line.vector)) for line in ClosetLine.objects.all()} == {16}
    assert not before & set(ClosetLine.objects.values_list("pk", flat=True))


def test_work_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LINES_AT_ONCE", 1)
    groups = [(f"s{talk[0].session_id}", talk) for talk in (make_talk("one", 20), make_talk("other", 20))]
    runs = 0
    while not ClosetKeeper(FakeEmbedder()).run(limit_seconds=0).is_complete:
        runs += 1
        assert runs < 20
    assert runs == 8  # a line at a time
    assert stored() == wanted(*groups)
    assert keep() == Kept(is_complete=True)


def test_what_was_embedded_is_kept_when_the_embedder_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing(FakeEmbedder):
        def embed_documents(self, texts: Any) -> Embedded:
            if len(self.texts) == 2:
                raise EmbedderUnavailable("gone")
            return super().embed_documents(texts)

    monkeypatch.setattr(module, "LINES_AT_ONCE", 1)
    talk = make_talk(count=20)
    with pytest.raises(EmbedderUnavailable):
        ClosetKeeper(Failing()).run()
    assert ClosetLine.objects.count() == 2
    assert keep().embedded == 2
    assert stored() == wanted((f"s{talk[0].session_id}", talk))


def test_a_drawer_that_is_written_meanwhile_is_not_missed() -> None:
    talk = make_talk()
    late: list[Drawer] = []

    class Slow(FakeEmbedder):
        def embed_documents(self, texts: Any) -> Embedded:
            if not late:
                late.append(make_drawer("A walnut.", session=talk[0].session, created_at=moment(99)))
            return super().embed_documents(texts)

    assert ClosetKeeper(Slow()).run().is_complete
    assert stored() == wanted((f"s{talk[0].session_id}", [*talk, *late]))


def test_unknown_groups_do_no_harm() -> None:
    for key in ("", "x1", "s", "s1x", "f-1"):
        ClosetGroup.objects.create(key=key)
    assert keep() == Kept(is_complete=True)


def test_triggers_are_made_by_the_migration() -> None:
    assert group_faults() == []
    assert ensure_groups() is False


@pytest.mark.parametrize("name", [one.name for one in group_objects()])
def test_a_lost_trigger_is_noticed_and_all_groups_are_looked_at(name: str) -> None:
    talk = make_talk()
    keep()
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TRIGGER {name}")
    assert group_faults() == [f"trigger {name} is missing"]
    make_drawer("A walnut.", session=make_session("unnoticed"))
    talk[0].text = "A harbour."
    talk[0].save()
    Drawer.objects.filter(pk=talk[2].pk).delete()
    keep()
    assert group_faults() == []
    unnoticed = make_session("unnoticed")
    assert stored() == wanted(
        (f"s{talk[0].session_id}", talk[:2]), (f"s{unnoticed.pk}", list(Drawer.objects.filter(session=unnoticed)))
    )


def test_every_migrate_makes_the_triggers_again() -> None:
    with connection.cursor() as cursor:
        for one in group_objects():
            cursor.execute(f"DROP TRIGGER {one.name}")
    call_command("migrate", verbosity=0)
    assert group_faults() == []
