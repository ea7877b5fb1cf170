"""Reads of memories that more than one place needs."""

from typing import Any, Self

from django.db import models

TERM_COLUMNS = ("title_terms", "body_terms", "variant_terms", "scope_terms")


class MemoryQuerySet(models.QuerySet[Any, Any]):
    """Rows of one kind of memory.

    `update` knows no index terms. It refuses texts; after it changed another indexed column (project, session, type,
    time, state and the like), `refreshing.refresh_terms` brings the terms up to date.
    """

    def update(self, **values: Any) -> int:
        """Change columns of all rows and return how many. TypeError for texts without their index terms."""
        texts = {*self.model.title_fields, *self.model.body_fields, "note"}.intersection(values)
        if texts and not set(TERM_COLUMNS) <= set(values):
            raise TypeError(
                f"{', '.join(sorted(texts))}: an update would leave old words in the index; save the memories one by"
                " one, or bulk_update them with the columns of their terms after compute_terms()"
            )
        return super().update(**values)

    update.alters_data = True  # type: ignore[attr-defined]

    def for_indexing(self) -> Self:
        """With everything that `Memory.indexed_text` reads, in a fixed number of queries."""
        return self.select_related("session").prefetch_related(*self._attachments())

    def for_display(self) -> Self:
        """With everything that a page shows, without the derived columns, in a fixed number of queries."""
        return self.select_related("project", "session").prefetch_related(*self._attachments()).defer(*TERM_COLUMNS)

    def for_list(self) -> Self:
        """With what a list of hits shows: filter tokens say what is attached, so nothing else is read."""
        return self.select_related("project", "session").defer(*TERM_COLUMNS[:3])

    def _attachments(self) -> list[str]:
        names = {field.name for field in self.model._meta.get_fields()}
        return ["tags"] + [
            name for name in ("concepts", "files", "file_links__file", "file") if name.split("__")[0] in names
        ]


class MemoryManager(models.Manager[Any]):
    """The door to the rows of one kind of memory."""

    def get_queryset(self) -> MemoryQuerySet:
        return MemoryQuerySet(self.model, using=self._db)

    def for_indexing(self) -> MemoryQuerySet:
        return self.get_queryset().for_indexing()

    def for_display(self) -> MemoryQuerySet:
        return self.get_queryset().for_display()

    def for_list(self) -> MemoryQuerySet:
        return self.get_queryset().for_list()
