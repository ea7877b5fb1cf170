"""`memweb index`: look after the keyword index and the vector index."""

from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from rich.console import Console
from rich.progress import Progress

from search.formatter import to_json
from search.keyword.maintenance import check_index, index_status, optimize_index, rebuild_index
from search.vectors.index_problems import IndexUnavailable
from search.vectors.index_state import Action, Check, IndexState, Phase
from search.vectors.upkeep import Outcome, VectorStatus, ask_owner, vector_status

KEYWORD, VECTORS = "keyword", "vectors"
VECTORS_NEED_REBUILD = "run `memweb index rebuild --only vectors`"


class Command(BaseCommand):
    help = "Show, check, rebuild or optimize the keyword index and the vector index."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "action",
            choices=["status", "check", "rebuild", "optimize"],
            help="status: counts; check: compare every entry with its row; rebuild: make anew; optimize: compact",
        )
        parser.add_argument("--only", choices=[KEYWORD, VECTORS], help="leave the other index alone")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it to both, also when one has a fault; the faults are told at the end."""
        found: dict[str, Any] = {}
        faults = []
        for name in (KEYWORD, VECTORS):
            if options["only"] in (None, name):
                found[name], lines, fault = getattr(self, f"_{options['action']}_{name}")()
                faults += [fault] if fault else []
                for line in lines if not options["json"] else []:
                    self.stdout.write(line)
        if options["json"]:
            self.stdout.write(to_json(found))
        if faults:
            raise CommandError("; ".join(faults))

    def _status_keyword(self) -> tuple[Any, list[str], str]:
        statuses = index_status()
        rows = [
            {
                "kind": str(one.kind),
                "table": one.table,
                "rows": one.rows,
                "indexed": one.indexed,
                "faults": list(one.faults),
            }
            for one in statuses
        ]
        lines = []
        for one in statuses:
            state = (
                "ok" if one.is_healthy else "; ".join(one.faults) or "rows and index differ; run `memweb index rebuild`"
            )
            indexed = "unreadable" if one.indexed is None else f"{one.indexed:,}"
            lines.append(f"{one.table:22} {one.rows:>10,} rows {indexed:>10} indexed  {state}")
        is_healthy = all(one.is_healthy for one in statuses)
        return rows, lines, "" if is_healthy else "the keyword index needs a rebuild: run `memweb index rebuild`"

    def _check_keyword(self) -> tuple[Any, list[str], str]:
        found = check_index()
        lines = [f"{kind.plural:18} {fault or 'ok'}" for kind, fault in found.items()]
        is_damaged = any(found.values())
        fault = "the keyword index is damaged: run `memweb index rebuild`" if is_damaged else ""
        return {str(kind): fault for kind, fault in found.items()}, lines, fault

    def _rebuild_keyword(self) -> tuple[Any, list[str], str]:
        with _bars() as show:
            rebuilt = rebuild_index(progress=lambda kind, done, total: show(kind.plural, done, total))
        lines = [f"{kind.plural:18} {count:>10,} indexed" for kind, count in rebuilt.items()]
        return {str(kind): count for kind, count in rebuilt.items()}, lines, ""

    def _optimize_keyword(self) -> tuple[Any, list[str], str]:
        optimize_index()
        return {"optimized": True}, ["The keyword index is compact."], ""

    def _status_vectors(self) -> tuple[Any, list[str], str]:
        status = vector_status()
        return asdict(status), list(_lines(status)), status.problem or ""  # told as the command's fault, not twice

    def _check_vectors(self) -> tuple[Any, list[str], str]:
        outcome, fault = _ask(Action.CHECK, waits=True)
        if outcome is None or outcome.state is None:
            return {"checked": None, "stale": None, "unreachable": None, "damage": None, "asked": None}, [], fault
        check = outcome.state.check or Check(0)
        damage = outcome.was_damaged
        found = {
            "checked": check.total,
            "stale": check.stale,
            "unreachable": check.unreachable,
            "damage": damage,
            "asked": str(outcome.asked) if outcome.asked else None,
        }
        lines = [f"{'vectors':18} {check.total:,} checked, {check.unreachable:,} not found, {check.stale:,} stale"]
        if outcome.asked:
            lines.append(f"{'':18} held by {outcome.asked}, which checked them")
        if damage:
            fault = f"the vector index was damaged and has been made anew: {damage}"
        elif not check.is_sound:
            fault = "the vector index differed from its rows, which was put right; check again"
        return found, lines, fault

    def _rebuild_vectors(self) -> tuple[Any, list[str], str]:
        outcome, fault = _ask(Action.REBUILD)
        return _told(outcome, fault, "indexed", lambda held: f"{'vectors':18} {held:>10,} indexed")

    def _optimize_vectors(self) -> tuple[Any, list[str], str]:
        outcome, fault = _ask(Action.OPTIMIZE)
        return _told(outcome, fault, "optimized", lambda held: "The vector index is compact.")


def _told(outcome: Outcome | None, fault: str, key: str, words: Any) -> tuple[Any, list[str], str]:
    """Return what to print of a request: the count that came of it, or who was asked."""
    if outcome is None:
        return {key: None, "asked": None}, [], fault
    if outcome.asked is not None:
        line = f"{'vectors':18} held by {outcome.asked}, which does it; `memweb index status` shows how far it is"
        return {key: None, "asked": str(outcome.asked)}, [line], fault
    held = outcome.state.held or 0 if outcome.state else 0
    return {key: held, "asked": None}, [words(held)], fault


def _ask(action: Action, *, waits: bool = False) -> tuple[Outcome | None, str]:
    try:
        if vector_status().model is None:
            return Outcome(IndexState(Phase.EMPTY, held=0, missing=0, ghosts=0)), ""
        with _bars() as show:
            return ask_owner(action, f"memweb index {action}", show, waits=waits), ""
    except IndexUnavailable as problem:
        return None, f"{action} of the vector index failed: {problem}"


def _lines(status: VectorStatus) -> Iterator[str]:
    model = f"of {status.model}" if status.model else "no model has embedded anything yet"
    counts = [
        ("memories", status.memories, ""),
        ("embedded", status.embedded, model),
        ("waiting", status.waiting, status.embedding_problem or ""),
        *([("embedded next", status.next_embedded, f"of {status.next_model}")] if status.next_model else []),
        ("nothing to embed", status.nothing_to_embed, ""),
        ("vectors", status.vectors, ""),
        ("in Chroma", status.in_chroma, f"held by {status.owner}" if status.owner else "no memweb runs"),
        ("missing", status.missing, ""),
        ("ghosts", status.ghosts, ""),
    ]
    for name, count, remark in counts:
        shown = "unknown" if count is None else f"{count:,}"
        yield f"{'vectors: ' + name:26} {shown:>12}  {remark}".rstrip()


@contextmanager
def _bars() -> Iterator[Any]:
    """Show a bar on stderr for each name that progress is told of."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks: dict[str, Any] = {}

        def show(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bars.add_task(name, total=total)
            bars.update(tasks[name], completed=done, total=total)

        yield show
