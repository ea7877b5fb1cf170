"""Searches that people keep under a name."""

import secrets
import uuid

from django.conf import settings
from django.db import models
from django.urls import reverse

LONGEST_NAME = 100


def new_token() -> str:
    """Return 256 random bits: who has them may read the feed."""
    return secrets.token_urlsafe(32)


class SavedSearch(models.Model):
    """A search under a name: the query string of the search page, in its one normal form.

    The feed's token is kept as it is, not as a digest, so that its owner can see the address again: whoever could read
    it in the database could read the memories beside it.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_searches")
    name = models.CharField(max_length=LONGEST_NAME)
    key = models.TextField(editable=False, help_text="the name without the difference of capitals")
    query = models.TextField(blank=True, help_text="query string of the search page")
    time_zone = models.CharField(max_length=64, help_text="zone in which the days of the search begin")
    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False, help_text="names the feed for ever")
    feed_token = models.CharField(max_length=64, default=new_token, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True, blank=True)
    seen = models.JSONField(default=dict, help_text="last id of each kind of memories when it was last opened")

    class Meta:
        verbose_name_plural = "saved searches"
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_saved_search_for_each_name")]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("saved-search", args=[self.pk])

    @property
    def feed_url(self) -> str:
        return reverse("saved-feed", args=[self.pk, self.feed_token])
