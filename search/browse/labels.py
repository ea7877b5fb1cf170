"""Concepts and files with the number of memories that have them."""

import json
from dataclasses import dataclass

from memweb.memories.kinds import Kind
from memweb.memories.models import Concept
from search.browse.hidden import hidden_ids
from search.keyword.limits import rows_within

COUNT_SECONDS = 0.5
SHOWN = 500


@dataclass(frozen=True, slots=True)
class Counted:
    """A name and its number; `is_folder`: it stands for `files` paths below it."""

    name: str
    count: int
    is_folder: bool = False
    files: int = 0


@dataclass(frozen=True, slots=True)
class Counts:
    """The most frequent first; `more` are left out, `is_complete` is False when counting stopped."""

    values: list[Counted]
    more: int
    is_complete: bool


def count_concepts(find: str = "") -> Counts:
    """Return the concepts whose names hold a text, with the number of observations that have them."""
    wanted = find.casefold()
    # SQLite folds the case of English letters only.
    ids = [id for id, name in Concept.objects.values_list("pk", "name") if wanted in name.casefold()] if wanted else []
    sql = """
        SELECT c.name, count(*) AS number FROM memories_observationconcept AS l
        JOIN memories_concept AS c ON c.id = l.concept_id
        WHERE l.observation_id NOT IN (SELECT value FROM json_each(%s))
        AND (%s = '' OR c.id IN (SELECT value FROM json_each(%s)))
        GROUP BY c.id ORDER BY number DESC, c.name
    """
    rows = rows_within(COUNT_SECONDS, sql, [json.dumps(hidden_ids(Kind.OBSERVATION)), wanted, json.dumps(ids)])
    return _counts([Counted(name, count) for name, count in rows.rows], rows.is_complete)


def count_files(folder: str) -> Counts:
    """Return what lies directly in a folder (empty: at the top), with the number of mentions at or below each.

    `folder` ends with `/` as paths were written; observations, session summaries and passages mention files.
    """
    sql = """
        WITH mentions(file_id, number) AS (
            SELECT file_id, count(DISTINCT observation_id) FROM memories_observationfile
                WHERE observation_id NOT IN (SELECT value FROM json_each(%s)) GROUP BY file_id
            UNION ALL SELECT file_id, count(DISTINCT summary_id) FROM memories_summaryfile
                WHERE summary_id NOT IN (SELECT value FROM json_each(%s)) GROUP BY file_id
            UNION ALL SELECT file_id, count(*) FROM memories_drawer
                WHERE file_id IS NOT NULL AND id NOT IN (SELECT value FROM json_each(%s)) GROUP BY file_id
        ), below(rest, number, file_id) AS (
            SELECT substr(f.path, length(%s) + 1), mentions.number, f.id
            FROM mentions JOIN memories_filepath AS f ON f.id = mentions.file_id
            WHERE f.path >= %s AND (%s = '' OR f.path < %s)
        )
        SELECT CASE instr(rest, '/') WHEN 0 THEN rest ELSE substr(rest, 1, instr(rest, '/')) END AS part,
            count(DISTINCT file_id), sum(number)
        FROM below GROUP BY part ORDER BY sum(number) DESC, part
    """
    above = folder[:-1] + chr(ord(folder[-1]) + 1) if folder else ""
    hidden = [json.dumps(hidden_ids(kind)) for kind in (Kind.OBSERVATION, Kind.SUMMARY, Kind.DRAWER)]
    rows = rows_within(COUNT_SECONDS, sql, [*hidden, folder, folder, above, above])
    found = [Counted(part, number, part.endswith("/"), files) for part, files, number in rows.rows]
    return _counts(found, rows.is_complete)


def _counts(found: list[Counted], is_complete: bool) -> Counts:
    return Counts(found[:SHOWN], max(0, len(found) - SHOWN), is_complete)
