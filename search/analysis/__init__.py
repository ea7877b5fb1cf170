"""Text -> index terms: the one analyzer of write time, query time, highlighting and re-ranking.

`characters` decides what is kept of a text, `words` cuts a blank-delimited chunk into atoms, `stems` knows English,
and `terms`, `queries` and `spans` are the three ways to read the result.
"""

from search.analysis.characters import clean, normalize
from search.analysis.queries import Alternative, QueryWord, phrase_atoms, query_words
from search.analysis.spans import Span, spans
from search.analysis.stems import STOP_WORDS
from search.analysis.terms import ANALYZER_VERSION, Terms, index_terms

__all__ = [
    "ANALYZER_VERSION",
    "STOP_WORDS",
    "Alternative",
    "QueryWord",
    "Span",
    "Terms",
    "clean",
    "index_terms",
    "normalize",
    "phrase_atoms",
    "query_words",
    "spans",
]
