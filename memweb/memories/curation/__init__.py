"""The verbs of curation: what people do to memories, with history, checks and undo. Every surface goes through here."""

from memweb.memories.curation.conflicts import settle
from memweb.memories.curation.editing import (
    Difference,
    EditConflict,
    create_memory,
    edit_memory,
    editable_names,
    value_label,
    version_of,
)
from memweb.memories.curation.labels import move_folder, rename_label
from memweb.memories.curation.merging import merge, split, split_field, supersede, united_values, unsupersede
from memweb.memories.curation.names import tag_names
from memweb.memories.curation.permissions import may_curate, may_purge
from memweb.memories.curation.projects import create_project, merge_projects, rename_project, unmerge_project
from memweb.memories.curation.purging import purge
from memweb.memories.curation.redacting import find_secret, redact
from memweb.memories.curation.undoing import Undone, can_undo, undo
from memweb.memories.curation.values import value_names, values_of
from memweb.memories.curation.verbs import MOST_AT_ONCE, VERBS, Asks, Outcome, Verb, carry_out, verb_named

__all__ = [
    "MOST_AT_ONCE",
    "VERBS",
    "Asks",
    "Difference",
    "EditConflict",
    "Outcome",
    "Undone",
    "Verb",
    "can_undo",
    "carry_out",
    "create_memory",
    "create_project",
    "edit_memory",
    "editable_names",
    "find_secret",
    "may_curate",
    "may_purge",
    "merge",
    "merge_projects",
    "move_folder",
    "purge",
    "redact",
    "rename_label",
    "rename_project",
    "settle",
    "split",
    "split_field",
    "supersede",
    "tag_names",
    "undo",
    "united_values",
    "unmerge_project",
    "unsupersede",
    "value_label",
    "value_names",
    "values_of",
    "verb_named",
    "version_of",
]
