"""Texts that every database and every answer can carry."""

import re

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")


def whole_characters(text: str) -> str:
    """Return the text with U+FFFD for every lone surrogate, which UTF-8 cannot write."""
    return _HALF_CHARACTER.sub("\ufffd", text)
