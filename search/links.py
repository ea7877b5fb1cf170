"""Links of the search page: addresses for edits of one request, the orders and the filters it has."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from urllib.parse import urlencode

from django.urls import reverse

from search.query import FieldName, Node, edited_text, toggle_field
from search.request import DEFAULT_LIMIT, Group, Mode, Order, SearchRequest
from search.vectors.embedding import embedder_name

GROUP_LABELS = {None: "Ungrouped", Group.SESSION: "Session", Group.DAY: "Day"}
ORDER_LABELS = {Order.RELEVANCE: "Relevance", Order.NEWEST: "Newest", Order.OLDEST: "Oldest"}
MODE_LABELS = {
    Mode.AUTO: ("Auto", "Words and meaning together, where meaning can be searched"),
    Mode.KEYWORD: ("Words", "Only memories that have the words"),
    Mode.SEMANTIC: ("Meaning", "What comes nearest in meaning, whatever its words"),
    Mode.HYBRID: ("Both", "Words and meaning together; says so when meaning cannot be searched"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    label: str
    selected: bool
    url: str
    title: str = ""


class Links:
    """Addresses of the search page for edits of one request. Filters live in the query text, so URLs stay short."""

    def __init__(self, request: SearchRequest) -> None:
        self._request = request
        self.tree = request.parsed.tree
        self._path = reverse("search")
        self._toggled: dict[tuple[FieldName, str], str] = {}

    def url(
        self, *, query: str | None = None, order: Order | None = None, mode: Mode | None = None, **more: str
    ) -> str:
        """Return the address of the search with another text, order or mode; what has its default value is left out."""
        chosen = order or self._request.order
        mode = mode or self._request.mode
        parameters: dict[str, object] = {
            "q": self._request.query if query is None else query,
            "order": str(chosen or ""),
            "mode": "" if mode is Mode.AUTO else str(mode),
            "group": str(self._request.group or ""),
            "limit": "" if self._request.limit == DEFAULT_LIMIT else str(self._request.limit),
            **self._filters,
            **more,
        }
        encoded = urlencode([(name, value) for name, value in _pairs(parameters) if value != ""])
        return self._path + (f"?{encoded}" if encoded else "")

    def canonical(self) -> str:
        return self.url()

    def at(self, path: str, **more: str) -> str:
        """Return the address of another page about the same search."""
        address = self.url()
        return (
            path
            + address.removeprefix(self._path)
            + (f"{'&' if '?' in address else '?'}{urlencode(more)}" if more else "")
        )

    def page(self, cursor: str) -> str:
        return self.url(cursor=cursor)

    def orders(self) -> list[Choice]:
        current = self._request.effective_order
        offered = [order for order in Order if order is not Order.RELEVANCE or self._request.has_words]
        return [Choice(str(order), ORDER_LABELS[order], order is current, self.url(order=order)) for order in offered]

    def modes(self) -> list[Choice]:
        """Return the ways to search; none when there are no words, or embedding is switched off."""
        if not self._request.has_words or embedder_name() is None:
            return []
        return [
            Choice(str(mode), label, mode is self._request.mode, self.url(mode=mode, order=Order.RELEVANCE), title)
            for mode, (label, title) in MODE_LABELS.items()
        ]

    def groups(self) -> list[Choice]:
        """Return the ways to put results together."""
        current = self._request.group
        return [
            Choice(str(group or "none"), label, group is current, self.url(group=str(group or "")))
            for group, label in GROUP_LABELS.items()
        ]

    def edited(self, tree: Node) -> str:
        """Return the address of the search with an edited tree of its text."""
        return self.url(query=edited_text(tree, self._request.parsed))

    def toggled(self, name: FieldName, value: str) -> str:
        # Many hits of a page share a project and concepts.
        url = self._toggled.get((name, value))
        if url is None:
            url = self._toggled[name, value] = self.edited(toggle_field(self.tree, name, value))
        return url

    def hidden_fields(self) -> list[tuple[str, str]]:
        """Return what the search form must send along with the text."""
        order = [("order", str(self._request.order))] if self._request.order else []
        mode = [("mode", str(self._request.mode))] if self._request.mode is not Mode.AUTO else []
        group = [("group", str(self._request.group))] if self._request.group else []
        return order + mode + group + list(_pairs(self._filters))

    @cached_property
    def _filters(self) -> dict[str, list[str]]:
        """Return filters that came beside the query text, by parameter name."""
        found = {str(one.name): list(one.values) for one in self._request.filter_fields()}
        if self._request.date_start:
            found["after"] = [self._request.date_start.isoformat()]
        if self._request.date_end:
            found["before"] = [self._request.date_end.isoformat()]
        if self._request.max_distance is not None:
            found["max_distance"] = [f"{self._request.max_distance:g}"]
        return found


def _pairs(parameters: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    for name, value in parameters.items():
        if isinstance(value, list):
            yield from ((name, str(one)) for one in value)
        else:
            yield name, str(value)
