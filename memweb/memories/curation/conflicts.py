"""Memories that were edited here and changed at their source: a person decides which words hold."""

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from memweb.memories.curation.permissions import require_curator
from memweb.memories.curation.recording import begin, change
from memweb.memories.curation.values import is_value
from memweb.memories.curation.verbs import memories_named
from memweb.memories.models import ChangeSet, ImportConflict


def settle(user: User, conflict: ImportConflict, *, take_theirs: bool) -> ChangeSet | None:
    """End a conflict: with the words of the source, which can be undone, or with those here (None is returned then).

    Raises ValidationError when the memory is gone, PermissionDenied for who may not curate.
    """
    require_curator(user)
    with transaction.atomic():
        change_set = None
        if take_theirs:
            memory = memories_named([conflict.ref], labels=True)[conflict.ref]
            theirs = {name: value for name, value in conflict.theirs.items() if is_value(memory.kind, name)}
            if not theirs:
                raise ValidationError("The source says nothing that this memory could take.")
            change_set = begin(user, "settle", f"Took the words of the source for {conflict.ref}")
            change(change_set, [(memory, theirs)])
        conflict.delete()
    return change_set
