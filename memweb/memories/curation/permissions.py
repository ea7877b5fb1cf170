"""Who may change memories."""

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.core.exceptions import PermissionDenied

from memweb.memories.kinds import Kind
from memweb.memories.models import memory_model


def may_curate(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Return whether a user may change memories, of every kind."""
    return _may(user, "change")


def may_purge(user: AbstractBaseUser | AnonymousUser) -> bool:
    """Return whether a user may remove memories for good, which redacting does too."""
    return _may(user, "delete")


def require_curator(user: AbstractBaseUser | AnonymousUser) -> None:
    """Raise PermissionDenied for a user who may not change memories."""
    if not may_curate(user):
        raise PermissionDenied("You may read memories here, but not change them; ask the owner of this memweb.")


def require_purger(user: AbstractBaseUser | AnonymousUser) -> None:
    """Raise PermissionDenied for a user who may not remove memories for good."""
    if not may_purge(user):
        raise PermissionDenied("You may not remove anything for good here; ask the owner of this memweb.")


def _may(user: AbstractBaseUser | AnonymousUser, action: str) -> bool:
    return bool(user.is_active) and all(
        user.has_perm(f"memories.{action}_{memory_model(one)._meta.model_name}")  # type: ignore[union-attr]
        for one in Kind
    )
