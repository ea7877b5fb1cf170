"""Names and lines that people type: cleaned, and refused with a reason where they cannot be used."""

import re

from django.core.exceptions import ValidationError

LONGEST_TAG = 60
MOST_TAGS = 20
_BLANKS = re.compile(r"\s+")


def tag_names(text: str) -> list[str]:
    """Return the names in a text with commas between them, each once; raises ValidationError for what is no tag."""
    names = list(dict.fromkeys(name for part in text.split(",") if (name := _BLANKS.sub(" ", part).strip())))
    if not names:
        raise ValidationError("No tag was given; write one or more, with commas between them.")
    if len(names) > MOST_TAGS:
        raise ValidationError(f"{len(names)} tags are too many at once; at most {MOST_TAGS} can be given.")
    for name in names:
        if len(name) > LONGEST_TAG:
            raise ValidationError(f"The tag “{name[:LONGEST_TAG]}…” is longer than {LONGEST_TAG} characters.")
        if not name.isprintable() or not any(character.isalnum() for character in name):
            raise ValidationError(f"“{ascii(name)[1:-1]}” cannot be a tag; a tag has letters or digits.")
    return names


def text_line(text: str, what: str, *, longest: int) -> str:
    """Return one line of text; raises ValidationError, which names `what`, for an empty or too long one."""
    line = _BLANKS.sub(" ", text).strip()
    if not line:
        raise ValidationError(f"The {what} is missing; write a few words.")
    if len(line) > longest:
        raise ValidationError(f"The {what} is longer than {longest} characters; shorten it.")
    if not line.isprintable():
        raise ValidationError(f"The {what} has characters that cannot be shown; leave them out.")
    return line
