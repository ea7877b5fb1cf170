"""Purging and redacting: what is gone is gone from rows, index, history and the file."""

import sqlite3
from contextlib import closing
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.management import call_command
from django.db import connection

from memweb.memories.curation import carry_out, edit_memory, find_secret, merge, purge, redact, undo
from memweb.memories.models import Change, ChangeSet, FilePath, Observation, Session
from search.keyword.maintenance import check_index
from tests.factories import make_observation, make_one_of_each, make_session
from tests.search.searching import found

pytestmark = pytest.mark.django_db

SECRET = "hunter2-Zq9"  # noqa: S105


def everything() -> str:
    """Return all that the database holds, as SQL."""
    connection.ensure_connection()
    return "\n".join(connection.connection.iterdump())


def test_purging_needs_the_trash_first(user: User) -> None:
    memory = make_observation("needle")
    with pytest.raises(ValidationError, match=f"{memory.ref} must be moved to the trash first"):
        purge(user, [memory.ref])
    assert Observation.objects.count() == 1


def test_what_is_purged_is_nowhere_any_more(user: User) -> None:
    memories = make_one_of_each(f"needle {SECRET}")
    named = [memory.ref for memory in memories]
    for memory in memories:
        edit_memory(user, memory.ref, {"note": f"about {SECRET}"})
    carry_out(user, "trash", named)
    purge(user, named)
    with connection.cursor() as cursor:
        for table in ("observations_fts", "session_summaries_fts", "user_prompts_fts", "drawers_fts"):
            cursor.execute(f"INSERT INTO {table}({table}) VALUES ('optimize')")  # noqa: S608
    assert found("needle is:any") == []
    assert SECRET not in everything()
    assert "zq9" not in everything().lower()
    assert all(fault is None for fault in check_index().values())
    assert Change.objects.filter(after__isnull=False).count() == 0


def test_what_a_purged_memory_replaced_stands_for_itself_again(user: User) -> None:
    keep, other = make_observation("needle keep"), make_observation("needle other")
    merge(user, keep.ref, [other.ref])
    carry_out(user, "trash", [keep.ref])
    purge(user, [keep.ref])
    assert found("needle") == [str(other.ref)]


def test_a_purge_cannot_be_undone(user: User) -> None:
    memory = make_observation("needle")
    carry_out(user, "trash", [memory.ref])
    with pytest.raises(ValidationError, match="cannot be undone"):
        undo(user, purge(user, [memory.ref]))


def test_a_secret_is_redacted_wherever_it_is_kept(user: User) -> None:
    session = make_session("s", title=f"title {SECRET}", first_prompt=f'say "{SECRET}"')
    memories = [
        make_observation(
            f"token {SECRET}", facts=[SECRET, {"key": SECRET}], files=[f"/home/{SECRET}/a"], tags=[f"t {SECRET}"]
        ),
        make_observation("other", session=session, source_data={"a": [f'x"{SECRET}']}),
    ]
    change_set = edit_memory(user, memories[1].ref, {"narrative": SECRET}, reason=f"because {SECRET}")
    assert change_set is not None
    edit_memory(user, memories[1].ref, {"narrative": "gone"})
    assert len(find_secret(SECRET).refs) == 2
    _, redacted = redact(user, SECRET)
    assert sorted(map(str, redacted.refs)) == sorted(str(memory.ref) for memory in memories)
    assert SECRET not in everything()
    assert found(f'"{SECRET}" is:any') == []
    assert Session.objects.get().title == "title [redacted]"
    assert FilePath.objects.get().path == "/home/[redacted]/a"
    assert all(fault is None for fault in check_index().values())


def test_other_capitals_are_another_text(user: User) -> None:
    make_observation(SECRET.upper())
    with pytest.raises(ValidationError, match="occurs nowhere"):
        redact(user, SECRET)
    assert ChangeSet.objects.count() == 0


@pytest.mark.parametrize("text", ["", "abc", "   a "])
def test_too_short_a_text_is_refused(user: User, text: str) -> None:
    with pytest.raises(ValidationError, match="at least 4 characters"):
        redact(user, text)


def test_only_who_may_delete_removes(reader: User) -> None:
    memory = make_observation("needle")
    with pytest.raises(PermissionDenied):
        purge(reader, [memory.ref])
    with pytest.raises(PermissionDenied):
        redact(reader, "needle")


@pytest.mark.django_db(transaction=True)
def test_nothing_of_it_is_left_in_the_file_after_optimizing(user: User, tmp_path: Path) -> None:
    memory = make_observation(f"needle {SECRET}", f"{SECRET} " * 500)
    edit_memory(user, memory.ref, {"narrative": "short now"})
    carry_out(user, "trash", [memory.ref])
    purge(user, [memory.ref])
    call_command("index", "optimize", stdout=StringIO())
    # The database of the tests is in memory; its pages are copied as they are, free ones too.
    copy = tmp_path / "copy.sqlite3"
    with closing(sqlite3.connect(copy)) as target:
        connection.connection.backup(target)
    held = copy.read_bytes().lower()
    assert b"needle" not in held
    assert SECRET.lower().encode() not in held
