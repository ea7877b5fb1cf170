"""Fills the index of an evaluation and asks all questions in every way that is wanted, where nothing else is."""

from collections.abc import Callable
from typing import Any

from memweb.sources.imports import ImportOptions, import_reader
from search.evaluation.asking import ask_all
from search.evaluation.conversations import EvaluationError
from search.evaluation.embedding import embed_everything
from search.evaluation.isolation import Measurement
from search.evaluation.reader import ConversationReader
from search.evaluation.results import Scope
from search.request import Mode
from search.vectors.embedding import EmbedderUnavailable

# Without an embedder these are left out, and the automatic mode is a search by words.
BY_MEANING = (Mode.SEMANTIC, Mode.HYBRID)

# Called with the fields of a message; `is` names it.
Send = Callable[..., None]


def measure(measurement: Measurement, send: Send) -> None:
    """Import and embed what is not there yet, ask, and send progress, runs, notices and at last `done`.

    Raises EvaluationError when a mode was asked for by name that cannot be used.
    """

    def step(name: str) -> Callable[[int, int | None], None]:
        return lambda done, total: _send(send, "progress", step=name, done=done, total=total or 0)

    conversations = measurement.conversations()
    reader = ConversationReader(conversations, measurement.path, with_notes=measurement.with_notes)
    import_reader(reader, ImportOptions(), step("import"))
    wanted, embedder = modes(measurement), ""
    if wanted != [Mode.KEYWORD]:
        try:
            embedder = embed_everything(step("embed"))
        except EmbedderUnavailable as error:
            wanted = _without_meaning(measurement, str(error))
            _send(send, "notice", text=f"Measured without search by meaning: {error}")
    for mode in wanted:
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
    _send(send, "done", embedder=embedder)


def modes(measurement: Measurement) -> list[Mode]:
    """Return the modes to measure: those asked for, else all, the automatic one last."""
    if measurement.modes:
        return [Mode(name) for name in measurement.modes]
    return [*(mode for mode in Mode if mode is not Mode.AUTO), Mode.AUTO]


def _without_meaning(measurement: Measurement, problem: str) -> list[Mode]:
    for mode in BY_MEANING:
        if mode in measurement.modes:
            raise EvaluationError(f"{mode} search cannot be measured: {problem}")
    return [mode for mode in modes(measurement) if mode not in BY_MEANING]


def _send(send: Send, name: str, **fields: Any) -> None:
    send(**{"is": name, **fields})
