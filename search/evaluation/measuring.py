"""Fills the index of an evaluation and asks all questions in every way that is wanted, where nothing else is."""

from collections.abc import Callable
from typing import Any

from memweb.sources.imports import ImportOptions, import_reader
from search.evaluation.asking import ask_all
from search.evaluation.isolation import Measurement
from search.evaluation.reader import ConversationReader
from search.evaluation.results import Scope
from search.request import Mode

# Called with the fields of a message; `is` names it.
Send = Callable[..., None]


def measure(measurement: Measurement, send: Send) -> None:
    """Import what is not there yet, ask, and send progress, runs, notices and at last `done`."""

    def step(name: str) -> Callable[[int, int | None], None]:
        return lambda done, total: _send(send, "progress", step=name, done=done, total=total or 0)

    conversations = measurement.conversations()
    reader = ConversationReader(conversations, measurement.path, with_notes=measurement.with_notes)
    import_reader(reader, ImportOptions(), step("import"))
    for mode in modes(measurement):
        for scope in [Scope.CONVERSATION, *([Scope.COLLECTION] if measurement.unfiltered else [])]:
            run = ask_all(
                conversations,
                mode,
                scope,
                measurement.limit,
                with_notes=measurement.with_notes,
                progress=step(f"{mode}, {scope}"),
            )
            _send(send, "run", run=run.to_dict())
    _send(send, "done", embedder="")


def modes(measurement: Measurement) -> list[Mode]:
    """Return the modes to measure: those asked for, else all, the automatic one last."""
    if measurement.modes:
        return [Mode(name) for name in measurement.modes]
    return [*(mode for mode in Mode if mode is not Mode.AUTO), Mode.AUTO]


def _send(send: Send, name: str, **fields: Any) -> None:
    send(**{"is": name, **fields})
