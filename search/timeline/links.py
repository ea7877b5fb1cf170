"""Addresses of the timeline page: the same view with another anchor, depth or filter."""

from urllib.parse import urlencode

from django.urls import reverse

from search.query import And, Field, FieldName, Node, normalize, to_text, toggle_field
from search.request import SearchRequest
from search.timeline.builder import DEFAULT_DEPTH
from search.timeline.parameters import ALL_PROJECTS


class TimelineLinks:
    """Addresses of one view. Every filter becomes part of the query text, so that addresses stay short and stable."""

    def __init__(self, request: SearchRequest, anchor: str, before: int, after: int, *, all_projects: bool) -> None:
        times = [
            Field(name, (moment.isoformat(),))
            for name, moment in ((FieldName.AFTER, request.date_start), (FieldName.BEFORE, request.date_end))
            if moment
        ]
        self.tree: Node = normalize(And((request.parsed.tree, *request.filter_fields(), *times)))
        self.request, self.anchor, self.all_projects = request, anchor, all_projects
        self._before, self._after = before, after

    @property
    def text(self) -> str:
        """The filters as query text."""
        return to_text(self.tree)

    def url(
        self,
        *,
        anchor: str | None = None,
        tree: Node | None = None,
        before: int | None = None,
        after: int | None = None,
        all_projects: bool | None = None,
        fragment: str = "",
    ) -> str:
        """Return the address of the view with something changed; what has its default value is left out."""
        depths = {
            "before": self._before if before is None else before,
            "after": self._after if after is None else after,
        }
        parameters = {
            "anchor": self.anchor if anchor is None else anchor,
            "q": to_text(self.tree if tree is None else tree),
            **{name: "" if depth == DEFAULT_DEPTH else str(depth) for name, depth in depths.items()},
            "scope": ALL_PROJECTS if (self.all_projects if all_projects is None else all_projects) else "",
        }
        encoded = urlencode([(name, value) for name, value in parameters.items() if value])
        return f"{reverse('timeline')}?{encoded}" + (f"#{fragment}" if fragment else "")

    def toggled(self, name: FieldName, value: str) -> str:
        return self.edited(toggle_field(self.tree, name, value))

    def edited(self, tree: Node) -> str:
        """Return the address with other filters."""
        return self.url(tree=tree)
