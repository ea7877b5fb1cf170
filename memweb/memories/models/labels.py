"""What memories are filtered by and many share: concepts, file paths, tags."""

from pathlib import PurePosixPath
from typing import Any

from django.db import models


class FileRole(models.TextChoices):
    """How an agent touched a file."""

    READ = "read"
    MODIFIED = "modified"


class Concept(models.Model):
    """A concept of observations, such as gotcha or how-it-works; names differ when any character differs."""

    name = models.TextField(unique=True)

    def __str__(self) -> str:
        return self.name


class Tag(models.Model):
    """A word that a person puts on memories."""

    name = models.TextField(unique=True)

    def __str__(self) -> str:
        return self.name


class FilePath(models.Model):
    """A path that memories mention, as it was written; `name` is its last part, for search by base name."""

    path = models.TextField(unique=True)
    name = models.TextField(db_index=True, editable=False)

    def __str__(self) -> str:
        return self.path

    def save(self, **kwargs: Any) -> None:
        self.name = base_name(self.path)
        super().save(**kwargs)


def base_name(path: str) -> str:
    """Return the last part of a POSIX or Windows path."""
    return PurePosixPath(path.replace("\\", "/")).name or path
