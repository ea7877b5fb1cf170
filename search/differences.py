"""What differs between two values of a memory, ready to be shown."""

from typing import Any

from memweb.memories.curation import value_label
from memweb.memories.differences import Piece, as_text, word_difference
from search.analysis import clean


def shown_difference(name: str, old: Any, new: Any) -> tuple[str, list[Piece]]:
    """Return the name of a value as people read it, and the pieces that lead from one to the other."""
    return value_label(name), [Piece(clean(one.text), one.state) for one in word_difference(as_text(old), as_text(new))]
