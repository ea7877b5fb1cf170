"""Timelines for terminals and other programs: table, Markdown, JSON."""

from datetime import datetime, tzinfo

from rich.console import Console
from rich.table import Table
from rich.text import Text

from search.formatter import one_line, to_json
from search.results import Hit
from search.timeline.anchors import Anchor
from search.timeline.builder import Timeline
from search.timeline.days import by_day, split_by_trust

NARROW = 72


class TimelineFormatter:
    """Writes timelines in a time zone. Control characters of memories never get through."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone

    def to_json(self, timeline: Timeline) -> str:
        """Return the timeline as JSON; times are in UTC."""
        return to_json(timeline.to_dict())

    def to_markdown(self, timeline: Timeline) -> str:
        """Return the timeline as Markdown, a heading for each day."""
        lines = [f"# {self._headline(timeline)}"]
        lines += [f"\n> {one_line(note)}" for note in timeline.notes]
        for label, hits in self._groups(timeline):
            lines += ["", f"## {label}", ""]
            for hit in hits:
                sign = " ← anchor" if timeline.is_anchor(hit) else ""
                kind = one_line(getattr(hit.memory, "type", "") or str(hit.kind))
                lines.append(f"- {self._clock(hit)} `{hit.ref}` **{one_line(hit.title)}** ({kind}){sign}")
        return "\n".join([*lines, "", *self._edges(timeline)]) + "\n"

    def to_table(self, timeline: Timeline, *, width: int | None = None) -> str:
        """Return the timeline as tables for a terminal of `width` columns, one for each day."""
        console = Console(width=width, highlight=False, markup=False, emoji=False)
        with console.capture() as capture:
            console.print(Text(self._headline(timeline), style="bold"))
            for note in timeline.notes:
                console.print(Text(one_line(note), style="yellow"))
            for label, hits in self._groups(timeline):
                console.print(Text(f"\n{label}", style="bold"))
                console.print(self._table(timeline, hits, is_narrow=console.width < NARROW))
            for edge in self._edges(timeline):
                console.print(Text(edge, style="dim"))
        return capture.get()

    def _table(self, timeline: Timeline, hits: list[Hit], *, is_narrow: bool) -> Table:
        table = Table(box=None, pad_edge=False, show_edge=False, show_header=False)
        table.add_column(no_wrap=True)
        table.add_column(no_wrap=True)
        # However narrow the terminal, a ref must stay whole: it is what the next command takes.
        table.add_column(no_wrap=True, style="cyan", min_width=max(len(str(hit.ref)) for hit in hits))
        if not is_narrow:
            table.add_column(max_width=16, overflow="ellipsis", no_wrap=True)
        table.add_column(ratio=1)
        for hit in hits:
            is_anchor = timeline.is_anchor(hit)
            kind = one_line(getattr(hit.memory, "type", "") or str(hit.kind))
            title = Text(one_line(hit.title), style="bold reverse" if is_anchor else "")
            cells = [">" if is_anchor else " ", self._clock(hit), str(hit.ref)]
            table.add_row(*cells, *([] if is_narrow else [kind]), title)
        return table

    def _groups(self, timeline: Timeline) -> list[tuple[str, list[Hit]]]:
        trusted, doubted = split_by_trust(timeline.hits)
        groups = [
            (f"{day.date:%A} {day.date.day} {day.date:%B %Y}", [hit for run in day.runs for hit in run.hits])
            for day in by_day(trusted, self._zone)
        ]
        return [*groups, *([("Time unknown or doubtful", doubted)] if doubted else [])]

    def _headline(self, timeline: Timeline) -> str:
        anchor: Anchor = timeline.anchor
        if anchor.memory is None:
            return f"Around {self._local(anchor.moment)}" if anchor.moment else "Around an unknown time"
        found = f", the best match for “{one_line(anchor.query)}”" if anchor.query else ""
        return f"Around {anchor.memory.ref} {one_line(anchor.memory.heading)}{found}"

    def _edges(self, timeline: Timeline) -> list[str]:
        edges = ["The beginning is reached."] if timeline.found_oldest else []
        return edges + (["The end is reached."] if timeline.found_newest else [])

    def _clock(self, hit: Hit) -> str:
        moment = hit.memory.created_at
        return f"{moment.astimezone(self._zone):%H:%M:%S}" if moment else "unknown "

    def _local(self, moment: datetime) -> str:
        return f"{moment.astimezone(self._zone):%Y-%m-%d %H:%M:%S %Z}"
