"""Reads the JSON that claude-mem exports, in all the shapes its versions and scripts have written."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

from memweb.sources.claude_mem_rows import RowMethod, RowReader
from memweb.sources.records import ReadOptions, Record, SourceError
from memweb.sources.report import Tally, shorten

LISTS: dict[str, tuple[str, RowMethod]] = {
    "sessions": ("totalSessions", RowReader.session),
    "observations": ("totalObservations", RowReader.observation),
    "summaries": ("totalSummaries", RowReader.summary),
    "prompts": ("totalPrompts", RowReader.prompt),
}
_KINDS = {"sessions": "session", "observations": "observation", "summaries": "summary", "prompts": "prompt"}


class ClaudeMemExport:
    """An export of claude-mem. It is read as a whole first: a file that is cut off is refused, not imported in part."""

    format: ClassVar[str] = "claude-mem"

    def __init__(self, path: Path, options: ReadOptions | None = None) -> None:
        self.location = str(path)
        self.tally = Tally()
        self._options = options or ReadOptions()
        self._lists = self._find_lists(read_json(path))

    def total(self) -> int:
        return sum(map(len, self._lists.values()))

    def records(self) -> Iterator[Record]:
        reader = RowReader(self.tally, self._options)
        for name, (_, read) in LISTS.items():
            for number, row in enumerate(self._lists.get(name, ()), 1):
                if not isinstance(row, dict):
                    self.tally.skip(_KINDS[name], "is no object", f"{name}, entry {number}: {row!r}")
                    continue
                id = row.get("id")
                record = read(reader, row, f"{name}/{id}" if isinstance(id, int | str) else f"{name}/entry {number}")
                if record is not None:
                    yield record

    def close(self) -> None:
        self._lists = {}

    def _find_lists(self, document: Any) -> dict[str, list[Any]]:
        if _is_tool_answer(document):
            said = document["content"][0].get("text") if document["content"] else ""
            self.tally.warn(f"nothing to import: the export holds an answer instead of rows: {shorten(str(said))}")
            return {}
        if not isinstance(document, dict) or not LISTS.keys() & document.keys():
            raise SourceError(
                f"{self.location} is JSON, but not an export of claude-mem: it has none of {', '.join(LISTS)};"
                f" it is {_describe(document)}."
            )
        lists = {}
        for name, (total, _) in LISTS.items():
            rows = document.get(name)
            if rows is None:
                rows = []
            elif not isinstance(rows, list):
                self.tally.warn(f"{name} is not a list and was left out")
                rows = []
            said = document.get(total)
            if isinstance(said, int) and said != len(rows):
                self.tally.warn(f"{total} says {said:,}, but the file holds {len(rows):,}: it may not be complete")
            lists[name] = rows
        return lists


def read_json(path: Path) -> Any:
    """Return the JSON in a file; raises SourceError with line and column where it breaks off."""
    try:
        return json.loads(path.read_bytes())
    except OSError as error:
        raise SourceError(f"{path} cannot be read: {error.strerror or error}") from error
    except json.JSONDecodeError as error:
        raise SourceError(
            f"{path} is not whole JSON: {error.msg} at line {error.lineno}, column {error.colno}. Nothing was imported;"
            " export again or repair the file."
        ) from error
    except UnicodeDecodeError as error:
        raise SourceError(f"{path} is not JSON in UTF-8 (byte {error.start}). Nothing was imported.") from error
    except ValueError as error:
        raise SourceError(f"{path} holds a number that is too long to be read. Nothing was imported.") from error
    except RecursionError as error:
        raise SourceError(f"{path} is nested too deeply to be an export. Nothing was imported.") from error


def _is_tool_answer(document: Any) -> bool:
    """Return whether this is what claude-mem's search tool answers instead of rows, when it finds nothing."""
    content = document.get("content") if isinstance(document, dict) else None
    return isinstance(content, list) and all(isinstance(part, dict) and "type" in part for part in content)


def _describe(document: Any) -> str:
    match document:
        case dict():
            return "an object with " + (", ".join(sorted(map(str, document))[:8]) or "no key")
        case list():
            return f"a list of {len(document):,} entries"
        case _:
            return "a single value"
