"""The facets: values that narrow a result, the field of the query language that each edits, and where it is kept."""

from enum import StrEnum

from memweb.memories.indexing import (
    concept_token,
    file_token,
    flag_token,
    platform_token,
    project_token,
    tag_token,
    type_token,
)
from memweb.memories.kinds import Kind
from search.query import FieldName


class FacetName(StrEnum):
    """The facets in the order in which a page shows them."""

    KIND = "kind"
    TYPE = "type"
    PROJECT = "project"
    CONCEPT = "concept"
    TAG = "tag"
    PLATFORM = "platform"
    AGENT = "agent"
    ROOM = "room"
    STATE = "state"
    FILE = "file"

    @property
    def field(self) -> FieldName:
        return FieldName.IS if self is FacetName.STATE else FieldName(self)


# Kinds that can have values of a facet; the other facets are of all kinds.
KINDS = {
    FacetName.TYPE: {Kind.OBSERVATION},
    FacetName.CONCEPT: {Kind.OBSERVATION},
    FacetName.ROOM: {Kind.DRAWER},
    FacetName.FILE: {Kind.DRAWER, Kind.OBSERVATION, Kind.SUMMARY},
}

# What the filter tokens of a facet begin with; the others are columns.
TOKEN_PREFIXES = {
    FacetName.TYPE: type_token(""),
    FacetName.PROJECT: project_token(0).removesuffix("0"),
    FacetName.CONCEPT: concept_token(0).removesuffix("0"),
    FacetName.TAG: tag_token(0).removesuffix("0"),
    FacetName.PLATFORM: platform_token(""),
    FacetName.FILE: file_token(0).removesuffix("0"),
    FacetName.STATE: flag_token(""),
}
