"""Values of `file:`: what lies next on the way down the tree of paths, and files by their own name."""

from collections.abc import Iterator

from memweb.memories.indexing import file_token
from memweb.memories.models import FilePath
from search.completions.counts import count_tokens
from search.completions.suggestion import READ, SECONDS, SHOWN, Suggestion, end_of, is_writable, spellings
from search.keyword.limits import rows_within

_PATHS = FilePath._meta.db_table
_SEPARATORS = "/\\"


def suggest_files(typed: str) -> list[Suggestion]:
    """Return directories and files whose path begins with what is typed, then files whose name does.

    Of a path that begins with nothing remembered, those that hold it in their middle.
    """
    found = dict.fromkeys(_below(typed))
    if typed and not (found and _is_directory(typed)):
        found |= dict.fromkeys(_named(typed))
    if typed and not found:
        found = dict.fromkeys(_holding(typed))
    paths = [path for path in found if is_writable(path)][:SHOWN]
    ids = _ids([path for path in paths if not _is_directory(path)])
    counts = count_tokens(map(file_token, ids.values()))
    return [
        Suggestion(
            path,
            note="directory" if _is_directory(path) else "",
            count=counts.get(file_token(ids[path])) if path in ids else None,
            goes_on=_is_directory(path),
        )
        for path in paths
    ]


def _is_directory(path: str) -> bool:
    return path[-1:] in tuple(_SEPARATORS)


def _below(typed: str) -> Iterator[str]:
    """Yield the directories and files that come next below a beginning, in order; a few looks into an index each.

    A directory with only one way on is passed through.
    """
    low, high = typed, end_of(typed)
    for _ in range(SHOWN):
        path = _first_path("path >= %s AND path < %s ORDER BY path", low, high)
        if path is None:
            return
        directory = path[: _separator(path, len(typed)) + 1]
        if not directory:
            yield path
            low = path + "\0"
            continue
        # In the order of the index, whatever the first and the last have in common, all between them have.
        behind = directory[:-1] + chr(ord(directory[-1]) + 1)
        last = _first_path("path >= %s AND path < %s ORDER BY path DESC", directory, behind) or path
        yield path if path == last else directory_of(common_beginning(path, last))
        low = behind


def _separator(path: str, start: int) -> int:
    """Return where the first separator behind a place is, -1 when there is none; a leading one does not count."""
    places = [place for sign in _SEPARATORS if (place := path.find(sign, max(start, 1))) >= 0]
    return min(places, default=-1)


def common_beginning(one: str, other: str) -> str:
    """Return what two texts begin with alike."""
    length = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
    return one[:length]


def directory_of(path: str) -> str:
    """Return a path up to its last separator, this included."""
    return path[: max(path.rfind(sign) for sign in _SEPARATORS) + 1]


def _named(typed: str) -> list[str]:
    """Return paths whose last part begins as what is typed ends, and that hold all of it."""
    name = typed[len(directory_of(typed)) :]
    if not name:
        return []
    ranges = [(beginning, end_of(beginning)) for beginning in spellings(name)]
    asked = " OR ".join(["(name >= %s AND name < %s)"] * len(ranges))
    sql = f"SELECT path FROM {_PATHS} WHERE {asked} ORDER BY name, path LIMIT {READ}"
    paths = [path for (path,) in rows_within(SECONDS, sql, [end for one in ranges for end in one]).rows]
    wanted = f"/{typed.casefold()}".replace("\\", "/").replace("//", "/")
    return [path for path in paths if wanted in f"/{path.casefold()}".replace("\\", "/")][:SHOWN]


def _holding(typed: str) -> list[str]:
    sql = f"SELECT path FROM {_PATHS} WHERE instr(lower(path), lower(%s)) ORDER BY path LIMIT {SHOWN}"
    return [path for (path,) in rows_within(SECONDS, sql, [typed]).rows]


def _first_path(condition: str, low: str, high: str) -> str | None:
    rows = rows_within(SECONDS, f"SELECT path FROM {_PATHS} WHERE {condition} LIMIT 1", [low, high]).rows
    return rows[0][0] if rows else None


def _ids(paths: list[str]) -> dict[str, int]:
    return dict(FilePath.objects.filter(path__in=paths).values_list("path", "pk"))
