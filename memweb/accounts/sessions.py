"""Sessions in the database, which tell a session that is gone from a database that cannot be written."""

from django.contrib.sessions.backends import db
from django.contrib.sessions.backends.base import UpdateError
from django.db.utils import OperationalError


class SessionStore(db.SessionStore):
    """Django's, except that a failure to write is raised as what it is."""

    def save(self, must_create: bool = False) -> None:
        """Write the session. UpdateError: it was deleted meanwhile; OperationalError: the database said no."""
        try:
            super().save(must_create)
        except UpdateError as error:
            # Django calls every failure so, and answers 400 as if the person had signed out.
            if isinstance(error.__context__, OperationalError):
                raise error.__context__ from None
            raise
