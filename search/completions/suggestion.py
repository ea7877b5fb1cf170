"""What is suggested while somebody types, and how many of it are shown."""

from dataclasses import dataclass

SHOWN = 10
# So many rows of an index are read for one prefix, and so much time is spent on one statement.
READ = 200
SECONDS = 0.04


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A value that a field may take. `label` is what people read when it is not the value itself.

    `count` is how many memories have it, None where that is not known. A value that goes on is the beginning of
    others, such as a directory.
    """

    value: str
    label: str = ""
    note: str = ""
    count: int | None = None
    goes_on: bool = False


def spellings(typed: str) -> list[str]:
    """Return a beginning in the capitals that names are usually written with; indexes tell capitals apart."""
    return list(dict.fromkeys((typed, typed.lower(), typed.capitalize(), typed.upper())))


def end_of(prefix: str) -> str:
    """Return a text that lies behind all that begin with a prefix."""
    return prefix + "\U0010ffff"


def is_writable(value: str) -> bool:
    """Return whether a value can be typed into a box of one line."""
    return "\n" not in value and "\r" not in value and "\0" not in value


def matching(values: list[str], typed: str) -> list[str]:
    """Return the values that begin with what is typed, then those that hold it; capitals do not matter."""
    wanted = typed.casefold()
    first = [value for value in values if value.casefold().startswith(wanted)]
    return first + [value for value in values if wanted in value.casefold() and value not in set(first)]
