"""What `memweb doctor` says of the vector index: subject, state, and what to do (empty when all is well)."""

from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from search.vectors.embedders import chosen_problem
from search.vectors.embedding import embedder_name
from search.vectors.index_folder import set_aside_folders
from search.vectors.index_problems import IndexUnavailable, folder_problem
from search.vectors.index_state import Action
from search.vectors.queue import count_gone
from search.vectors.upkeep import ask_owner, vector_status

SUBJECT, EMBEDDING = "vector index", "embedding"
REBUILD = "memweb index rebuild --only vectors"

_REMEDY = f"memweb puts it right by itself where it can; else: {REBUILD}, and read what `memweb up` printed"

Observation = tuple[str, str, str]


def examine_vectors() -> Iterator[Observation]:
    """Yield what can be seen without opening the index; nothing where nothing was ever embedded nor could be."""
    status = vector_status()
    if status.model is not None or embedder_name() is not None:
        if status.problem:
            yield SUBJECT, status.problem, _REMEDY
        elif settings.CHROMA is None and (problem := folder_problem(settings.DATA_DIR / "chroma")):
            yield SUBJECT, problem, "searches compare stored vectors one by one until then"
        elif status.in_chroma is None:
            yield SUBJECT, f"not counted yet, {status.vectors:,} vectors stored", ""
        else:
            place = f"on {settings.CHROMA.url}" if settings.CHROMA else "in the data folder"
            differences = (("missing", status.missing), ("ghosts", status.ghosts))
            differs = "".join(f", {count:,} {name}" for name, count in differences if count)
            yield SUBJECT, f"{status.in_chroma:,} of {status.vectors:,} vectors {place}{differs}", ""
        if gone := count_gone():
            # A running memweb is at it; without one nobody is.
            yield (
                SUBJECT,
                f"{gone:,} removed memories wait for their vectors to be removed",
                _remedy_of_gone(status.owner),
            )
    yield from _examine_embedder(status.embedding_problem)
    for aside in set_aside_folders(settings.DATA_DIR):
        size = _size_of(aside.path) / 2**20
        yield SUBJECT, f"was set aside: {aside.reason}; {aside.path} ({size:,.0f} MB) may be removed", ""


def examine_vectors_deeply() -> Iterator[Observation]:
    """Yield the same, and what comparing every vector of the index with its row finds."""
    yield from examine_vectors()
    if vector_status().model is None:
        return
    try:
        outcome = ask_owner(Action.CHECK, "memweb doctor", lambda name, done, total: None, waits=True)
    except IndexUnavailable as problem:
        yield SUBJECT, f"cannot be checked: {problem}", REBUILD
        return
    check = outcome.state.check if outcome.state else None
    if outcome.was_damaged:
        yield SUBJECT, f"was damaged, and was made anew just now: {outcome.was_damaged}", "memweb doctor --deep"
    elif check and not check.is_sound:
        found = f"{check.unreachable:,} vectors were not found and {check.stale:,} were stale, which was put right"
        yield SUBJECT, found, "memweb doctor --deep"
    else:
        yield SUBJECT, "every vector is found and equals its row", ""


def _remedy_of_gone(owner: str) -> str:
    return "" if owner or embedder_name() is None else "memweb up"


def _examine_embedder(problem: str | None) -> Iterator[Observation]:
    """Yield what the running process says of embedding, else what shows without one."""
    name = embedder_name()
    if name is None:
        return
    problem = problem or chosen_problem()
    if problem is None:
        yield EMBEDDING, f"{name} can be loaded", ""
        return
    state, _, remedy = problem.partition("; run ")
    yield EMBEDDING, state, remedy.strip("`") or "memweb model status"


def _size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
