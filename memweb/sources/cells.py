"""Reads cells that should hold a JSON list of texts and hold anything else in practice."""

import ast
import json
import warnings
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any

LONGEST_LITERAL = 100_000
LONGEST_REMEMBERED = 200
DEEPEST = 20
_PATH_KEYS = ("path", "file_path", "filePath", "file", "name")


class Contents(Enum):
    """What a cell lists; decides at which characters plain text is split."""

    FACTS = "|"
    CONCEPTS = "|,\n"
    FILES = "|\n"


@dataclass(frozen=True, slots=True)
class ListCell:
    """The texts of a cell, not to be changed. It is clean when it was a JSON list of texts or empty: then nothing else
    needs keeping.
    """

    values: list[str]
    is_clean: bool


_EMPTY = ListCell([], True)


def read_list(cell: object, contents: Contents) -> ListCell:
    """Return the texts of a cell of any shape; blank entries and nulls are dropped, broken JSON is one text."""
    if cell is None or cell == "" or cell == "[]":
        return _EMPTY
    if isinstance(cell, str) and len(cell) <= LONGEST_REMEMBERED and contents is not Contents.FACTS:
        return _read_remembered(cell, contents)
    return _read(cell, contents)


@lru_cache(maxsize=4096)
def _read_remembered(cell: str, contents: Contents) -> ListCell:
    # The same few concepts and files stand in thousands of rows.
    return _read(cell, contents)


def _read(cell: object, contents: Contents) -> ListCell:
    if isinstance(cell, str):
        value, is_json_list = _parse(cell.strip(), contents)
    else:
        value, is_json_list = cell, isinstance(cell, list)
    items = value if isinstance(value, list) else [value]
    if is_json_list and all(type(item) is str and item and not item.isspace() for item in items):
        return ListCell(items, True)
    return ListCell([text for item in items for text in _texts(item, contents)], value is None or value == [])


def _parse(text: str, contents: Contents) -> tuple[Any, bool]:
    """Return the value in a text, and whether the text was a JSON list."""
    if text[:1] not in {"[", "{", '"'} and text not in {"null", "true", "false"}:
        return _split(text, contents), False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return _parse_literal(text), False
    if isinstance(value, str):
        # Encoded twice, or a bare JSON string; a text inside is read like a cell of its own.
        inner = value.strip()
        return (_parse(inner, contents)[0] if len(inner) < len(text) else inner), False
    return value, isinstance(value, list)


def _parse_literal(text: str) -> Any:
    """Return a list in Python's notation, else the text as one raw value."""
    if text[:1] == "[" and len(text) <= LONGEST_LITERAL:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return text
        if isinstance(value, list):
            return value
    return text


def _split(text: str, contents: Contents) -> list[str]:
    for separator in contents.value[1:]:
        text = text.replace(separator, "|")
    return [part.strip() for part in text.split("|")]


def _texts(item: object, contents: Contents, depth: int = 0) -> list[str]:
    """Return the texts of one entry: lists are flattened, objects are their path or their JSON."""
    if item is None:
        return []
    if isinstance(item, str):
        return [item.strip()] if item.strip() else []
    if isinstance(item, list | tuple) and depth < DEEPEST:
        return [text for part in item for text in _texts(part, contents, depth + 1)]
    if isinstance(item, dict) and contents is Contents.FILES:
        for key in _PATH_KEYS:
            if isinstance(item.get(key), str) and item[key].strip():
                return [item[key].strip()]
    try:
        return [json.dumps(item, ensure_ascii=False, default=str)]
    except (ValueError, TypeError, RecursionError):
        return [str(item)[:LONGEST_LITERAL]]
