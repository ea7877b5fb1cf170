"""Sign-in links: once, for an hour, kept as a digest only."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from memweb.accounts.links import REMEMBERED, LinkProblem, create_link, digest_of, sign_in_address, use_link
from memweb.accounts.models import SignInLink
from memweb.accounts.owner import OWNER, ensure_owner

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> User:
    return ensure_owner()


def expire(token: str, ago: timedelta) -> None:
    expired = timezone.now() - ago
    SignInLink.objects.filter(digest=digest_of(token)).update(
        created_at=expired - timedelta(hours=1), expires_at=expired
    )


def test_link_signs_its_user_in_once(owner: User) -> None:
    token = create_link(owner)
    assert use_link(token) == owner
    assert use_link(token) is LinkProblem.USED


def test_link_is_refused_after_an_hour(owner: User) -> None:
    token = create_link(owner)
    link = SignInLink.objects.get()
    assert link.expires_at - link.created_at <= timedelta(hours=1)
    expire(token, timedelta(seconds=1))
    assert use_link(token) is LinkProblem.EXPIRED


@pytest.mark.parametrize("token", ["", "x", "a" * 43, "a" * 5000, "ünïcode", "' OR 1=1 --"])
def test_link_that_was_never_made_is_unknown(owner: User, token: str) -> None:
    create_link(owner)
    assert use_link(token) is LinkProblem.UNKNOWN


def test_link_of_a_user_who_may_no_longer_sign_in_is_refused(owner: User) -> None:
    token = create_link(owner)
    User.objects.update(is_active=False)
    assert use_link(token) is LinkProblem.EXPIRED


def test_token_has_256_bits_and_is_not_kept(owner: User) -> None:
    tokens = {create_link(owner) for _ in range(3)}
    assert {len(token) for token in tokens} == {43}  # 32 bytes in base64 without padding
    kept = set(SignInLink.objects.values_list("digest", flat=True))
    assert len(tokens) == len(kept) == 3
    assert not tokens & kept


def test_links_long_expired_are_forgotten_when_a_new_one_is_made(owner: User) -> None:
    late, forgotten = create_link(owner), create_link(owner)
    expire(late, timedelta(hours=1))
    expire(forgotten, REMEMBERED + timedelta(hours=1))
    create_link(owner)
    assert (use_link(late), use_link(forgotten)) == (LinkProblem.EXPIRED, LinkProblem.UNKNOWN)


def test_sign_in_address_is_the_page_that_uses_the_link(owner: User) -> None:
    address = sign_in_address(owner, "http://127.0.0.1:8000")
    token = address.removeprefix("http://127.0.0.1:8000/accounts/link/").removesuffix("/")
    assert use_link(token) == owner


def test_owner_is_made_once_and_has_no_password() -> None:
    first, second = ensure_owner(), ensure_owner()
    assert first == second == User.objects.get()
    assert (first.username, first.is_staff, first.is_superuser, first.has_usable_password()) == (
        OWNER,
        True,
        True,
        False,
    )


def test_owner_is_the_superuser_who_is_there_already() -> None:
    admin = User.objects.create_superuser("alice", password="a password")  # noqa: S106
    assert ensure_owner() == admin
    assert User.objects.count() == 1
