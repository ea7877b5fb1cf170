"""Page objects of concepts and of the tree of files."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from search.analysis import clean
from search.browse.bounds import PATH, bounded, label_url, shortened, shortened_path
from search.browse.labels import count_concepts, count_files
from search.browse.paging import Place, page_after
from search.query import FieldName

PAGE = 100


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A concept, a file, or a folder with the address that opens it (else empty)."""

    label: str
    url: str
    open_url: str
    count_label: str
    files_label: str = ""


@dataclass(frozen=True, slots=True)
class LabelsPage:
    """What `/concepts/` and `/files/` show; `path` is as it is read, `folder` as an address has it."""

    rows: list[LabelRow]
    find: str
    path: str
    folder: str
    here_url: str
    crumbs: list[tuple[str, str]]
    first_url: str
    next_url: str
    more: str
    is_complete: bool


def concepts_page(find: str, after: Place | None) -> LabelsPage:
    """Return one page of the concepts whose names hold a text."""
    counts = count_concepts(find)
    shown, last, more = page_after(counts.values, after, PAGE)
    rows = [
        LabelRow(
            shortened(clean(one.name), PATH),
            label_url(FieldName.CONCEPT, one.name),
            "",
            _memories(one.count),
        )
        for one in shown
    ]
    return LabelsPage(
        rows=rows,
        find=find,
        path="",
        folder="",
        here_url="",
        crumbs=[],
        first_url=_url("concepts", find=find) if after else "",
        next_url=_url("concepts", find=find, after=last) if last else "",
        more=_more(more),
        is_complete=counts.is_complete,
    )


def files_page(path: str, find: str, after: Place | None) -> LabelsPage:
    """Return one page of what lies directly in a folder, or of the files below it whose paths hold a text.

    A path without `/` at its end is read as a folder too.
    """
    folder = path if not path or path.endswith("/") else f"{path}/"
    counts = count_files(folder, find)
    shown, last, more = page_after(counts.values, after, PAGE)
    rows = []
    for one in shown:
        whole = folder + one.name
        rows.append(
            LabelRow(
                label=shortened_path(clean(one.name)) or "(empty)",
                url=label_url(FieldName.FILE, whole),
                open_url=bounded(_url("files", path=whole)) if one.is_folder else "",
                count_label=_mentions(one.count),
                files_label=f"{one.files:,} file{'' if one.files == 1 else 's'}" if one.is_folder else "",
            )
        )
    return LabelsPage(
        rows=rows,
        find=find,
        path=clean(folder),
        folder=folder,
        here_url=label_url(FieldName.FILE, folder) if folder.strip("/") else "",
        crumbs=_crumbs(folder),
        first_url=_url("files", path=folder, find=find) if after else "",
        next_url=_url("files", path=folder, find=find, after=last) if last else "",
        more=_more(more),
        is_complete=counts.is_complete,
    )


def _crumbs(folder: str) -> list[tuple[str, str]]:
    crumbs, so_far = [("All files", reverse("files"))], ""
    for part in folder.split("/")[:-1]:
        so_far += f"{part}/"
        crumbs.append((clean(f"{part}/"), _url("files", path=so_far)))
    return crumbs


def _url(page: str, **given: object) -> str:
    parameters = {name: str(value) for name, value in given.items() if value}
    return reverse(page) + (f"?{urlencode(parameters)}" if parameters else "")


def _more(number: int) -> str:
    return f"and {number:,} more" if number else ""


def _memories(count: int) -> str:
    return f"{count:,} {'memory' if count == 1 else 'memories'}"


def _mentions(count: int) -> str:
    return f"{count:,} mention{'' if count == 1 else 's'}"
