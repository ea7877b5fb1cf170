"""What can stop memweb from running, in one line that says what to do."""

from django.conf import settings
from django.db.utils import DatabaseError


class Problem(Exception):
    """Something that the person at the terminal can put right; the message says how, in one line."""


def database_problem(error: DatabaseError) -> Problem:
    """Return what a failure of the database means for the person who runs memweb."""
    path = settings.DATABASES["default"]["NAME"]
    text = str(error)
    if "locked" in text:
        return Problem(f"the database {path} is in use by another program; end that one, then try again")
    if "full" in text:
        return Problem(f"the disk that holds {path} is full; free some space, then try again")
    if "readonly" in text or "unable to open" in text:
        return Problem(f"the database {path} cannot be written; correct its owner and mode (0600)")
    if "not a database" in text or "malformed" in text:
        return Problem(f"{path} is damaged or no SQLite database; put a backup in its place, or move it away")
    if "no such" in text:
        return Problem(f"the database {path} is not up to date ({text}); `memweb up` or `memweb migrate` brings it so")
    return Problem(f"the database {path} cannot be used: {text}")
