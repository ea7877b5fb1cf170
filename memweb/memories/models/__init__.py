"""What is remembered: projects, sessions and the four kinds of memories."""

from memweb.memories.models.base import Memory, State, TimeQuality
from memweb.memories.models.history import Change, ChangeSet, ImportConflict, LabelAlias, PurgedRow
from memweb.memories.models.imports import ImportBatch, ImportUpdate, Source
from memweb.memories.models.labels import Concept, FilePath, FileRole, Tag
from memweb.memories.models.memories import (
    MEMORY_MODELS,
    Drawer,
    Observation,
    ObservationConcept,
    ObservationFile,
    SessionSummary,
    SummaryFile,
    UserPrompt,
    memory_model,
)
from memweb.memories.models.projects import Project, ProjectAlias, Session

__all__ = [
    "MEMORY_MODELS",
    "Change",
    "ChangeSet",
    "Concept",
    "Drawer",
    "FilePath",
    "FileRole",
    "ImportBatch",
    "ImportConflict",
    "ImportUpdate",
    "LabelAlias",
    "Memory",
    "Observation",
    "ObservationConcept",
    "ObservationFile",
    "Project",
    "ProjectAlias",
    "PurgedRow",
    "Session",
    "SessionSummary",
    "Source",
    "State",
    "SummaryFile",
    "Tag",
    "TimeQuality",
    "UserPrompt",
    "memory_model",
]
