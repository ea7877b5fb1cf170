"""HybridSearchStrategy: what a filter finds, in the order of how near it comes to a text; nothing is lost."""

from collections.abc import Mapping

from memweb.memories.kinds import Kind
from search.keyword.plan import Plan
from search.keyword.rows import Key
from search.strategies.chroma import ChromaSearchStrategy
from search.strategies.sqlite import Found
from search.vectors.nearest import Neighbour


class HybridSearchStrategy:
    """Ids by metadata, a ranking by vectors restricted to them, their intersection in that order; the rows come last.

    Members that have no vector follow after the others, so that no match is ever lost.
    """

    name = "hybrid"

    def __init__(self, text: str, plans: Mapping[Kind, Plan]) -> None:
        self.semantic = ChromaSearchStrategy(text, plans, is_filtered=True)

    def rank(self, found: Mapping[Kind, Found]) -> dict[Key, Neighbour | None]:
        """Return what a filter found, each with how near it comes, None for those without a vector."""
        members = [(kind, id) for kind, one in found.items() for id in one.ids]
        near = self.semantic.near_among({kind: one.ids for kind, one in found.items() if one.ids}, len(members))
        ranked: dict[Key, Neighbour | None] = {(one.kind, one.id): one for one in near}
        for key in sorted(members, key=lambda key: (key[1], key[0]), reverse=True):
            ranked.setdefault(key, None)
        return ranked
