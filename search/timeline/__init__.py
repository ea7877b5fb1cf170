"""What happened around a memory or a moment: `TimelineBuilder` is the door."""

from search.timeline.anchors import AnchorError, GoneError, MissingError
from search.timeline.builder import Timeline, TimelineBuilder

__all__ = ["AnchorError", "GoneError", "MissingError", "Timeline", "TimelineBuilder"]
