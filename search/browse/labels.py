"""Concepts and files with the number of memories that have them."""

import json
import re
from dataclasses import dataclass

from memweb.memories.kinds import Kind
from memweb.memories.models import Concept
from search.browse.hidden import hidden_ids
from search.browse.paging import in_order
from search.keyword.limits import rows_within

COUNT_SECONDS = 0.5


@dataclass(frozen=True, slots=True)
class Counted:
    """A name and its number; `is_folder`: it stands for `files` paths below it. `id` is that of one of its rows."""

    id: int
    name: str
    count: int
    is_folder: bool = False
    files: int = 0

    @property
    def rank(self) -> int:
        return -self.count


@dataclass(frozen=True, slots=True)
class Counts:
    """The most frequent first; `is_complete` is False when counting stopped."""

    values: list[Counted]
    is_complete: bool


def count_concepts(find: str = "") -> Counts:
    """Return the concepts whose names hold a text, with the number of observations that have them."""
    wanted = find.casefold()
    # SQLite folds the case of English letters only.
    ids = [id for id, name in Concept.objects.values_list("pk", "name") if wanted in name.casefold()] if wanted else []
    sql = """
        SELECT c.id, c.name, count(*) AS number FROM memories_observationconcept AS l
        JOIN memories_concept AS c ON c.id = l.concept_id
        WHERE l.observation_id NOT IN (SELECT value FROM json_each(%s))
        AND (%s = '' OR c.id IN (SELECT value FROM json_each(%s)))
        GROUP BY c.id
    """
    rows = rows_within(COUNT_SECONDS, sql, [json.dumps(hidden_ids(Kind.OBSERVATION)), wanted, json.dumps(ids)])
    return Counts(in_order([Counted(*row) for row in rows.rows]), rows.is_complete)


def count_files(folder: str, find: str = "") -> Counts:
    """Return what lies directly in a folder (empty: at the top), with the number of mentions at or below each.

    With a text to find, return the files anywhere below whose paths from there on hold it, English letters of either
    case. `folder` ends with `/` as paths were written; observations, session summaries and passages mention files.
    """
    part = "rest" if find else "CASE instr(rest, '/') WHEN 0 THEN rest ELSE substr(rest, 1, instr(rest, '/')) END"
    sql = f"""
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
        SELECT min(file_id), {part} AS part, count(DISTINCT file_id), sum(number)
        FROM below WHERE rest LIKE %s ESCAPE '!' GROUP BY part
    """
    above = folder[:-1] + chr(ord(folder[-1]) + 1) if folder else ""
    hidden = [json.dumps(hidden_ids(kind)) for kind in (Kind.OBSERVATION, Kind.SUMMARY, Kind.DRAWER)]
    pattern = "%" + re.sub("[!%_]", r"!\g<0>", find) + "%"
    rows = rows_within(COUNT_SECONDS, sql, [*hidden, folder, folder, above, above, pattern])
    found = [Counted(id, part, number, not find and part.endswith("/"), files) for id, part, files, number in rows.rows]
    return Counts(in_order(found), rows.is_complete)
