"""Bounds on what single values may take of a page, in bytes of HTML: no field of a memory makes a page large."""

from django.utils.html import escape

from search.places import field_url
from search.query import FieldName

# Bytes of a name, a path, a heading; of a path the end says more than the beginning.
NAME, PATH, HEADING = 100, 200, 800
# Servers and proxies refuse much longer addresses.
ADDRESS = 2_000


def html_size(text: str) -> int:
    """Return how many bytes a text takes on a page."""
    return len(escape(text).encode("utf-8", "replace"))


def shortened(text: str, size: int = NAME) -> str:
    """Return the beginning of a text that takes at most `size` bytes on a page, with an ellipsis where it was cut."""
    if len(text) <= size and html_size(text) <= size:
        return text
    left, kept = size - len("…".encode()), 0
    for character in text:
        left -= html_size(character)
        if left < 0:
            break
        kept += 1
    return text[:kept].rstrip() + "…"


def shortened_path(path: str, size: int = PATH) -> str:
    """Return the end of a path that takes at most `size` bytes on a page, with an ellipsis where it was cut."""
    return shortened(path[::-1], size)[::-1]


def label_url(name: FieldName, value: str, project: str | None = None) -> str:
    """Return the address of the search for a label, as far as a server would take it; else an empty one."""
    is_long = len(value) + len(project or "") > ADDRESS
    return "" if is_long else bounded(field_url(name, value, project=project))


def bounded(address: str) -> str:
    """Return an address; empty when it is longer than a server would take."""
    return address if len(address) <= ADDRESS else ""
