"""Reads claude-mem's SQLite database: any schema version, by the columns that are there."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from memweb.sources.claude_mem_rows import RowMethod, RowReader
from memweb.sources.records import ReadOptions, Record, SourceError
from memweb.sources.report import Tally
from memweb.sources.snapshot import open_snapshot

TABLES: dict[str, RowMethod] = {
    "sdk_sessions": RowReader.session,
    "observations": RowReader.observation,
    "session_summaries": RowReader.summary,
    "user_prompts": RowReader.prompt,
}
ROWS_AT_ONCE = 1000


class ClaudeMemDatabase:
    """A claude-mem database, read from a snapshot so that its writer is never held up.

    Raises SourceError when the file is no claude-mem database, damaged, or locked for longer than can be waited for.
    """

    format: ClassVar[str] = "claude-mem"

    def __init__(self, path: Path, options: ReadOptions | None = None) -> None:
        self.location = str(path)
        self.tally = Tally()
        self._options = options or ReadOptions()
        self._connection = open_snapshot(path, self.tally)
        try:
            self._columns = self._find_tables()
            self._rows = {table: self._count(table) for table in self._columns}
        except sqlite3.DatabaseError as error:
            self.close()
            raise damaged(path, error) from error
        except SourceError:
            self.close()
            raise

    def total(self) -> int:
        return sum(self._rows.values())

    def records(self) -> Iterator[Record]:
        reader = RowReader(self.tally, self._options)
        for table, read in TABLES.items():
            if table in self._columns:
                for id, row in self._rows_of(table):
                    record = read(reader, row, f"{table}/{id}")
                    if record is not None:
                        yield record

    def close(self) -> None:
        self._connection.close()

    def _find_tables(self) -> dict[str, list[str]]:
        """Return the columns of each of the four tables that exist."""
        names = [
            name
            for (name,) in self._connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
        ]
        columns = {
            table: [row[1] for row in self._connection.execute(f"PRAGMA table_info({table})")]
            for table in TABLES
            if table in names
        }
        if not columns:
            raise SourceError(
                f"{self.location} is an SQLite database, but not of claude-mem: it has none of the tables"
                f" {', '.join(TABLES)}; it has {', '.join(names[:8]) or 'no table at all'}."
                " Choose the file claude-mem.db, usually in ~/.claude-mem."
            )
        for table in TABLES.keys() - columns.keys():
            self.tally.warn(f"the database has no table {table}")
        return columns

    def _count(self, table: str) -> int:
        # Touches every cell, so that a damaged page is met before anything is imported. Tables are constants, columns
        # quoted.
        cells = " + ".join(f"coalesce(length({quoted(column)}), 0)" for column in self._columns[table])
        count, _ = self._connection.execute(f"SELECT count(*), sum({cells}) FROM {table}").fetchone()  # noqa: S608
        return int(count)

    def _rows_of(self, table: str) -> Iterator[tuple[int, dict[str, Any]]]:
        names = self._columns[table]
        columns = ", ".join(map(quoted, names))
        sql = f"SELECT rowid, {columns} FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT {ROWS_AT_ONCE}"  # noqa: S608
        last = -(2**63)
        while True:
            rows = self._fetch(sql, last)
            for id, *cells in rows:
                yield id, dict(zip(names, cells, strict=True))
            if len(rows) < ROWS_AT_ONCE:
                return
            last = rows[-1][0]

    def _fetch(self, sql: str, last: int) -> list[Any]:
        try:
            return self._connection.execute(sql, (last,)).fetchall()
        except sqlite3.OperationalError as error:
            if "UTF-8" not in str(error):
                raise
            self._connection.text_factory = lambda cell: cell.decode("utf-8", "replace")
            try:
                return self._connection.execute(sql, (last,)).fetchall()
            finally:
                self._connection.text_factory = str


def damaged(path: Path, error: Exception) -> SourceError:
    """Return the error for a database that SQLite cannot read."""
    return SourceError(
        f"{path} is damaged ({error}). Restore it from a backup, or save what can be saved with"
        f' `sqlite3 "{path}" .recover | sqlite3 recovered.db` and import recovered.db.'
    )


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
