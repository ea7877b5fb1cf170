"""Sign-in links: the way into memweb without a password."""

from django.conf import settings
from django.db import models


class SignInLink(models.Model):
    """A link that signs one user in, once, before it expires. Only the digest of its token is kept."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sign_in_links")
    digest = models.CharField(max_length=64, unique=True, help_text="SHA-256 of the token, in hexadecimal")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(expires_at__gt=models.F("created_at")), name="sign_in_link_expires_after_creation"
            )
        ]

    def __str__(self) -> str:
        return f"sign-in link {self.pk} for {self.user_id}"
