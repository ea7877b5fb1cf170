"""The life of a sign-in link: made for a user, used once, refused afterwards."""

import secrets
from datetime import timedelta
from enum import StrEnum
from hashlib import sha256

from django.contrib.auth.models import User
from django.db import transaction
from django.urls import reverse
from django.utils import timezone

from memweb.accounts.models import SignInLink

LIFETIME = timedelta(hours=1)
# Links that can no longer be used are kept this long, so that a late visitor is told what happened to theirs.
REMEMBERED = timedelta(days=7)


class LinkProblem(StrEnum):
    """Why a link signs nobody in, in words for the person who opened it."""

    USED = "This sign-in link was used before. Each link works once."
    EXPIRED = "This sign-in link has expired. Each link works for one hour."
    UNKNOWN = "This sign-in link is not one of ours. It may have been cut short when it was copied."


def create_link(user: User) -> str:
    """Make a sign-in link for the user and return its token (256 random bits); the token itself is not kept."""
    token = secrets.token_urlsafe(32)
    now = timezone.now()
    with transaction.atomic():
        SignInLink.objects.filter(expires_at__lt=now - REMEMBERED).delete()
        SignInLink.objects.create(user=user, digest=digest_of(token), expires_at=now + LIFETIME)
    return token


def sign_in_address(user: User, site: str) -> str:
    """Make a sign-in link for the user and return its full address on the site, such as http://127.0.0.1:8000."""
    return site + reverse("sign_in_link", args=[create_link(user)])


def use_link(token: str) -> User | LinkProblem:
    """Use the link up and return its user, or return why it signs nobody in. Of two at once only one gets the user."""
    now = timezone.now()
    links = SignInLink.objects.filter(digest=digest_of(token))
    if links.filter(used_at=None, expires_at__gt=now, user__is_active=True).update(used_at=now):
        return User.objects.get(sign_in_links__digest=digest_of(token))
    link = links.first()
    if link is None:
        return LinkProblem.UNKNOWN
    return LinkProblem.EXPIRED if link.used_at is None else LinkProblem.USED


def digest_of(token: str) -> str:
    """Return the digest that a token is kept as. A plain hash suffices: 256 random bits cannot be guessed."""
    return sha256(token.encode()).hexdigest()
