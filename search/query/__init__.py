"""The query language: text -> tree -> text, its explanation in words, and edits of the tree."""

from search.query.caret import Piece, piece_at
from search.query.edits import (
    add_field,
    exclude_field,
    fields,
    has_field,
    is_excluded,
    positive_words,
    remove_exclusion,
    remove_field,
    remove_node,
    required_part,
    toggle_exclusion,
    toggle_field,
    top_members,
    with_period,
    without_fields,
)
from search.query.explanation import clauses, explain
from search.query.fields import KINDS, STATES, TIME_FIELDS, FieldName, is_ref_text, is_time_text
from search.query.notes import Note, NoteCode
from search.query.parser import ParsedQuery, parse
from search.query.sentence import Sentence, describe, time_label
from search.query.text import normalize, to_text, value_text
from search.query.tree import EMPTY, And, Field, Node, Not, Or, Phrase, Prefix, Word
from search.query.unfinished import edited_text, open_last_word

__all__ = [
    "EMPTY",
    "KINDS",
    "STATES",
    "TIME_FIELDS",
    "And",
    "Field",
    "FieldName",
    "Node",
    "Not",
    "Note",
    "NoteCode",
    "Or",
    "ParsedQuery",
    "Phrase",
    "Piece",
    "Prefix",
    "Sentence",
    "Word",
    "add_field",
    "clauses",
    "describe",
    "edited_text",
    "exclude_field",
    "explain",
    "fields",
    "has_field",
    "is_excluded",
    "is_ref_text",
    "is_time_text",
    "normalize",
    "open_last_word",
    "parse",
    "piece_at",
    "positive_words",
    "remove_exclusion",
    "remove_field",
    "remove_node",
    "required_part",
    "time_label",
    "to_text",
    "toggle_exclusion",
    "toggle_field",
    "top_members",
    "value_text",
    "with_period",
    "without_fields",
]
