"""Joins the analyzer to memories: the term builder that the search package registers at start."""

from memweb.memories.indexing import IndexedText, IndexTerms
from search.analysis import index_terms


def terms_of(text: IndexedText) -> IndexTerms:
    """Return the four derived columns of a memory."""
    terms = index_terms(text.title, text.body)
    return IndexTerms(terms.title, terms.body, terms.variants, " ".join(text.scope))
