"""Who makes a request."""

from typing import cast

from django.contrib.auth.models import User
from django.http import HttpRequest


def signed_in(request: HttpRequest) -> User:
    """Return the user of a request to a page that is for people who are signed in: all but a short list."""
    return cast(User, request.user)
