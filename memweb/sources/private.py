"""Takes out what people marked as private, before anything is stored, hashed or indexed."""

import re

# An attribute may hold `>` inside quotes; a quote that is never closed must not save the tag from being seen.
_ATTRIBUTES = r"""(?:\s(?:"[^"]*"|'[^']*'|[^>"'])*|\s[^>]*)?"""
_TAG = re.compile(rf"<\s*(?P<close>/?)\s*private{_ATTRIBUTES}(?P<empty>/?)(?:>|\Z)", re.IGNORECASE)
# Bounded, so that thousands of openings take no longer than their length.
_ESCAPED_TAG = re.compile(r"&lt;\s{0,9}(?P<close>/?)\s{0,9}private\b[^&<>]{0,200}&gt;", re.IGNORECASE)


def strip_private(text: str) -> str:
    """Return the text without `<private>` passages: any case, attributes, nested, and unclosed to the end of the text.

    A tag alone in backticks is talk about the tag and stays; closing tags without an opening one are removed.
    HTML-escaped tags hide their passage when it is closed.
    """
    return strip_private_texts([text])[0]


def strip_private_texts(texts: list[str]) -> list[str]:
    """Return the texts of one cell (facts of a list) without private passages.

    A passage that is opened in one text and closed in a later one hides all between; one that is never closed hides to
    the end of its own text only.
    """
    if not any(map(may_hold_private, texts)):
        return texts
    last_close = max((number for number, text in enumerate(texts) if _closes(text)), default=-1)
    result, depth = [], 0
    for number, text in enumerate(texts):
        visible, depth = _strip(_strip_escaped(text), depth)
        result.append(visible)
        if number >= last_close:
            depth = 0
    return result


def may_hold_private(text: str) -> bool:
    """Return whether a closer look is needed; cheap, for every text that is imported."""
    return ("<" in text or "&" in text) and "private" in text.lower()


def _strip(text: str, depth: int) -> tuple[str, int]:
    visible, position = [], 0
    for match in _TAG.finditer(text):
        start, end = match.span()
        if not depth:
            if text[start - 1 : start] == "`" and text[end : end + 1] == "`":
                continue
            visible.append(text[position:start])
        position = end
        if match["close"]:
            depth = max(0, depth - 1)
        elif not match["empty"]:
            depth += 1
    if not depth:
        visible.append(text[position:])
    return "".join(visible), depth


def _closes(text: str) -> bool:
    return any(match["close"] for match in _TAG.finditer(text))


def _strip_escaped(text: str) -> str:
    """Return the text without passages between HTML-escaped tags; one that is not closed is talk about the tag.

    Where openings outnumber closings, all from the first opening to the last closing is hidden.
    """
    visible, position, depth = [], 0, 0
    start, end = -1, -1
    for match in _ESCAPED_TAG.finditer(text):
        if match["close"]:
            if depth:
                depth, end = depth - 1, match.end()
            continue
        if not depth:
            if end > position:
                visible.append(text[position:start])
                position = end
            start = match.start()
        depth += 1
    if end > position:
        visible.append(text[position:start])
        position = end
    visible.append(text[position:])
    return "".join(visible)
