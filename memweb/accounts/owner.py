"""The one user that a fresh memweb has."""

from django.contrib.auth.models import User

OWNER = "owner"


def ensure_owner() -> User:
    """Return the user to sign in: the first active superuser; made, without a password, when there is no user."""
    owner = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    if owner is None:
        owner, _ = User.objects.get_or_create(username=OWNER, defaults={"is_staff": True, "is_superuser": True})
        if not owner.password:
            owner.set_unusable_password()
            owner.save(update_fields=["password"])
    return owner
