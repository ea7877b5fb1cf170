"""Makes any cell of a source a text that can be stored: no NUL, no lone surrogate, nothing private."""

import json
from typing import Any

from memweb.sources.private import may_hold_private, strip_private


def clean_text(cell: object) -> str:
    """Return a cell as a text that every database stores and that holds nothing private; None becomes empty."""
    if cell is None or cell == "":
        return ""
    if isinstance(cell, str) and cell.isascii() and "\0" not in cell and "<" not in cell and "&" not in cell:
        return cell  # nearly all of them
    text = sound_text(cell)
    return strip_private(text) if may_hold_private(text) else text


def sound_text(cell: object) -> str:
    """Return a cell as a text without NUL characters; halves of surrogate pairs become U+FFFD."""
    if isinstance(cell, str):
        text = cell
    elif isinstance(cell, bytes):
        text = cell.decode("utf-8", "replace")
    elif isinstance(cell, dict | list):
        text = json.dumps(cell, ensure_ascii=False)
    else:
        text = str(cell)
    if "\0" in text:
        text = text.replace("\0", "")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            # Through UTF-16, so that the two halves of a pair become one character again.
            text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def clean_value(value: Any) -> Any:
    """Return a JSON value with every text in it clean; keys too."""
    if isinstance(value, dict):
        return {clean_text(key): clean_value(item) for key, item in value.items()}
    if isinstance(value, list):
        return [clean_value(item) for item in value]
    if isinstance(value, str | bytes):
        return clean_text(value)
    if isinstance(value, float) and not abs(value) < float("inf"):
        return str(value)  # NaN and infinity are not JSON
    return value
