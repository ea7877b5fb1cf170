"""ResultFormatter: results as a text table, Markdown or JSON."""

import json
import re
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from search.analysis import clean
from search.pages import relaxed_label
from search.results import Hit, SearchResult
from search.texts import whole_characters

# Controls that JSON may hold as they are, marks of direction, and what has no width.
_ACTING = re.compile("[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]")

NARROW = 72
LONGEST_HEADLINE = 240


class ResultFormatter:
    """Writes search results for terminals and for other programs. Control characters of memories never get through."""

    def to_json(self, result: SearchResult) -> str:
        """Return the result as JSON, in the shape that every interface promises."""
        return to_json(result.to_dict())

    def to_markdown(self, result: SearchResult) -> str:
        """Return the result as a Markdown list."""
        lines = [f"**{_headline(result)}**", ""]
        for hit in result.hits:
            lines.append(f"- `{hit.ref}` **{one_line(hit.title)}** — {_place(hit)}")
            if hit.snippet:
                lines.append(f"  {one_line(hit.snippet)}")
        return "\n".join([*lines, *(f"\n> {note}" for note in _remarks(result))]) + "\n"

    def to_table(self, result: SearchResult, *, width: int | None = None, explain: bool = False) -> str:
        """Return the result as a table for a terminal of `width` columns."""
        console = Console(width=width, highlight=False, markup=False, emoji=False)
        with console.capture() as capture:
            console.print(Text(_shortened(_headline(result)), style="bold"))
            for remark in _remarks(result):
                console.print(Text(remark, style="yellow"))
            if result.hits:
                console.print(_table(result.hits, explain=explain, is_narrow=console.width < NARROW))
            if result.next:
                console.print(Text(f"More: --cursor {result.next}", style="dim"))
        return capture.get()


def to_json(data: Any) -> str:
    """Return data as indented JSON that a terminal may print: what it could act on or hide is escaped.

    Half characters of broken texts become U+FFFD.
    """
    text = whole_characters(json.dumps(data, ensure_ascii=False, indent=2))
    return _ACTING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _table(hits: tuple[Hit, ...], *, explain: bool, is_narrow: bool) -> Table:
    table = Table(box=None, pad_edge=False, show_edge=False)
    # However narrow the terminal, a ref must stay whole: it is what `memweb show` takes.
    table.add_column("ref", no_wrap=True, style="cyan", min_width=max((len(str(hit.ref)) for hit in hits), default=3))
    table.add_column("when", no_wrap=True)
    if not is_narrow:
        table.add_column("project", max_width=24, overflow="ellipsis", no_wrap=True)
        table.add_column("type", max_width=16, overflow="ellipsis", no_wrap=True)
    table.add_column("title and text", ratio=1)
    if explain:
        table.add_column("why", max_width=36)
    for hit in hits:
        moment = hit.memory.created_at
        text = Text(one_line(hit.title), style="bold")
        if hit.snippet and hit.snippet != hit.title:
            text.append("\n" + one_line(hit.snippet)[:200], style="not bold dim")
        cells: list[str | Text] = [
            str(hit.ref),
            f"{moment:%Y-%m-%d}" if moment and is_narrow else f"{moment:%Y-%m-%d %H:%M}" if moment else "unknown",
        ]
        if not is_narrow:
            cells += [
                one_line(hit.memory.project.label),
                one_line(getattr(hit.memory, "type", "") or str(hit.kind)),
            ]
        cells.append(text)
        table.add_row(*cells, *([_why(hit)] if explain else []))
    return table


def _headline(result: SearchResult) -> str:
    more = "more than " if result.total_is_capped else ""
    return f"{more}{result.total:,} found: {one_line(result.explanation)} ({result.took_ms:.0f} ms)"


def _shortened(text: str) -> str:
    return text if len(text) <= LONGEST_HEADLINE else f"{text[: LONGEST_HEADLINE - 1]}…"


def _remarks(result: SearchResult) -> list[str]:
    remarks = list(result.notes)
    if result.fallback:
        remarks.append(f"Degraded: {result.fallback.reason}")
    remarks += filter(None, [relaxed_label(result)])
    if result.did_you_mean:
        remarks.append(f"Did you mean “{result.did_you_mean.query}”? It finds {result.did_you_mean.total:,}.")
    return [one_line(remark) for remark in remarks]


def _why(hit: Hit) -> str:
    explain = hit.explain
    parts = [
        f"#{explain.keyword_rank} by words" if explain.keyword_rank else "",
        f"BM25 {explain.bm25}" if explain.bm25 else "",
        f"#{explain.vector_rank} by meaning" if explain.vector_rank else "",
        f"similarity {explain.similarity}" if explain.similarity is not None else "",
        "weak" if hit.is_weak else "",
    ]
    return " · ".join(filter(None, [*parts, explain.matched_via, *explain.bonuses]))


def _place(hit: Hit) -> str:
    moment = hit.memory.created_at
    when = f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "time unknown"
    return ", ".join(filter(None, [one_line(hit.memory.project.label), getattr(hit.memory, "type", ""), when]))


def one_line(text: str) -> str:
    """Return a text without line breaks and without what a terminal would act on."""
    return " ".join(clean(text).split())
