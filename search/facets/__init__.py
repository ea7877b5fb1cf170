"""Facets: the values that narrow a result, each with the number of memories that it would leave.

The facet's own filter is left out of its counts, so that the alternatives to what is chosen keep their numbers.
"""

from search.facets.counts import FACET_SECONDS, Facets, count_facets
from search.facets.names import FacetName

__all__ = ["FACET_SECONDS", "FacetName", "Facets", "count_facets"]
