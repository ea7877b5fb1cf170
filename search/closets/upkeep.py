"""Keeps closet lines equal to the drawers they are made of.

Everything is committed in small parts, and a group counts as built in the transaction that finishes it. So the work
can be ended at any moment, kill -9 included, and the next run goes on where it was.
"""

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper

from search.closets.building import RECIPE, Line, closet_lines
from search.closets.groups import GROUPS, LINES, POINTERS, Group, changed_groups, ensure_groups, passages_of
from search.vectors.embedding import Embedder
from search.vectors.stored import hash_text

GROUPS_AT_ONCE = 64
# Lines embedded for one transaction: about half a second.
LINES_AT_ONCE = 16


@dataclass(slots=True)
class Kept:
    """What a run did: groups whose lines are as they should be now, lines embedded, lines removed.

    `is_complete`: nothing waits any more.
    """

    groups: int = 0
    embedded: int = 0
    removed: int = 0
    is_complete: bool = False


def stored_name(embedder: str) -> str:
    """Return the name under which lines of this embedder are stored."""
    return f"{embedder}/{RECIPE}"


class ClosetKeeper:
    """Follows the drawers with the lines of one embedder. One at a time; lines of two do no harm."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._name = stored_name(embedder.name)
        self._has_begun = False

    def run(self, limit_seconds: float | None = None) -> Kept:
        """Do what waits, for about so many seconds (None: until nothing is left), and return what was done.

        Raises EmbedderUnavailable; what was done until then is kept.
        """
        deadline = None if limit_seconds is None else time.monotonic() + limit_seconds
        kept = Kept()

        def has_time() -> bool:
            return deadline is None or time.monotonic() < deadline

        self._begin()
        while groups := changed_groups(GROUPS_AT_ONCE):
            for group in groups:
                self._build(group, kept, has_time)
                if not has_time():
                    return kept
        kept.is_complete = True
        return kept

    def _begin(self) -> None:
        """See to it that changes are counted, and that lines of another model are made anew."""
        if self._has_begun:
            return
        ensure_groups()
        with connection.cursor() as cursor:
            cursor.execute(f"UPDATE {GROUPS} SET built = -1 WHERE model <> %s AND built <> -1", [self._name])
        self._has_begun = True

    def _build(self, group: Group, kept: Kept, has_time: Callable[[], bool]) -> None:
        """Make the lines of a group what they should be, as far as there is time and the group does not change."""
        lines = closet_lines(passages_of(group))
        wanted = {hash_text(line.text): line for line in lines}
        with transaction.atomic(), connection.cursor() as cursor:
            if not _is_unchanged(cursor, group):
                return
            stored = _stored_lines(cursor, group.key) if group.model == self._name else {}
            kept.removed += _remove_lines(cursor, group.key, [id for hash, id in stored.items() if hash in wanted])
            for hash, id in stored.items():
                if hash in wanted:
                    _point(cursor, id, wanted[hash].drawers)
            cursor.execute(f"UPDATE {GROUPS} SET model = %s WHERE key = %s", [self._name, group.key])
            missing = [line for hash, line in wanted.items() if hash not in stored]
            if not missing:
                _finish(cursor, group, is_empty=not wanted)
                kept.groups += 1
        for start in range(0, len(missing), LINES_AT_ONCE):
            if start and not has_time():
                return
            part = missing[start : start + LINES_AT_ONCE]
            vectors = self._embedder.embed_documents([line.text for line in part]).vectors
            kept.embedded += len(part)
            with transaction.atomic(), connection.cursor() as cursor:
                if not _is_unchanged(cursor, group):
                    return
                for line, vector in zip(part, vectors, strict=True):
                    if np.isfinite(vector).all() and vector.any():
                        _insert_line(cursor, group.key, line, vector.astype("<f2").tobytes())
                if start + LINES_AT_ONCE >= len(missing):
                    _finish(cursor, group, is_empty=False)
                    kept.groups += 1


def _is_unchanged(cursor: CursorWrapper, group: Group) -> bool:
    """Return whether the group is there and has not changed since it was read; nobody else can write until the end."""
    cursor.execute(f"SELECT 1 FROM {GROUPS} WHERE key = %s AND changes = %s", [group.key, group.changes])
    return cursor.fetchone() is not None


def _stored_lines(cursor: CursorWrapper, key: str) -> dict[bytes, int]:
    cursor.execute(f"SELECT text_hash, id FROM {LINES} WHERE group_id = %s", [key])
    return dict(cursor.fetchall())


def _remove_lines(cursor: CursorWrapper, key: str, but: Sequence[int]) -> int:
    """Remove the lines of a group except some; return how many there were."""
    chosen = f"SELECT id FROM {LINES} WHERE group_id = %s AND id NOT IN (SELECT value FROM json_each(%s))"
    values = [key, json.dumps(list(but))]
    cursor.execute(f"DELETE FROM {POINTERS} WHERE line_id IN ({chosen})", values)
    cursor.execute(f"DELETE FROM {LINES} WHERE id IN ({chosen})", values)
    return max(cursor.rowcount, 0)


def _insert_line(cursor: CursorWrapper, key: str, line: Line, vector: bytes) -> None:
    cursor.execute(
        f"INSERT INTO {LINES} (group_id, text, text_hash, vector) VALUES (%s, %s, %s, %s)"
        " ON CONFLICT (group_id, text_hash) DO NOTHING RETURNING id",
        [key, line.text, hash_text(line.text), vector],
    )
    inserted = cursor.fetchone()
    if inserted is not None:
        _point(cursor, inserted[0], line.drawers)


def _point(cursor: CursorWrapper, line: int, drawers: Iterable[int]) -> None:
    """Make a line point at these drawers and no others."""
    chosen = json.dumps(list(drawers))
    cursor.execute(
        f"DELETE FROM {POINTERS} WHERE line_id = %s AND drawer_id NOT IN (SELECT value FROM json_each(%s))",
        [line, chosen],
    )
    cursor.execute(
        f"INSERT INTO {POINTERS} (line_id, drawer_id) SELECT %s, value FROM json_each(%s) WHERE true"
        " ON CONFLICT DO NOTHING",
        [line, chosen],
    )


def _finish(cursor: CursorWrapper, group: Group, *, is_empty: bool) -> None:
    """Note that a group is built; one without lines goes, and comes again with its next drawer."""
    if is_empty:
        cursor.execute(f"DELETE FROM {GROUPS} WHERE key = %s", [group.key])
    else:
        cursor.execute(f"UPDATE {GROUPS} SET built = %s WHERE key = %s", [group.changes, group.key])
