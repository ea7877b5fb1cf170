"""Page objects of concepts and of the tree of files."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.urls import reverse

from search.analysis import clean
from search.browse.labels import Counts, count_concepts, count_files
from search.places import field_url
from search.query import FieldName


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
    """What `/concepts/` and `/files/` show."""

    rows: list[LabelRow]
    find: str
    path: str
    here_url: str
    crumbs: list[tuple[str, str]]
    more: str
    is_complete: bool


def concepts_page(find: str) -> LabelsPage:
    """Return the concepts whose names hold a text."""
    counts = count_concepts(find)
    rows = [
        LabelRow(clean(one.name), field_url(FieldName.CONCEPT, one.name), "", _memories(one.count))
        for one in counts.values
    ]
    return LabelsPage(rows, find, "", "", [], _more(counts), counts.is_complete)


def files_page(path: str) -> LabelsPage:
    """Return what lies directly in a folder; a path without `/` at its end is read as a folder too."""
    folder = path if not path or path.endswith("/") else f"{path}/"
    counts = count_files(folder)
    rows = []
    for one in counts.values:
        whole = folder + one.name
        rows.append(
            LabelRow(
                label=clean(one.name) or "(empty)",
                url=field_url(FieldName.FILE, whole),
                open_url=_files_url(whole) if one.is_folder else "",
                count_label=_mentions(one.count),
                files_label=f"{one.files:,} file{'' if one.files == 1 else 's'}" if one.is_folder else "",
            )
        )
    here = field_url(FieldName.FILE, folder) if folder.strip("/") else ""
    return LabelsPage(rows, "", clean(folder), here, _crumbs(folder), _more(counts), counts.is_complete)


def _crumbs(folder: str) -> list[tuple[str, str]]:
    crumbs, so_far = [("All files", reverse("files"))], ""
    for part in folder.split("/")[:-1]:
        so_far += f"{part}/"
        crumbs.append((clean(f"{part}/"), _files_url(so_far)))
    return crumbs


def _files_url(path: str) -> str:
    return f"{reverse('files')}?{urlencode({'path': path})}"


def _more(counts: Counts) -> str:
    return f"and {counts.more:,} more" if counts.more else ""


def _memories(count: int) -> str:
    return f"{count:,} {'memory' if count == 1 else 'memories'}"


def _mentions(count: int) -> str:
    return f"{count:,} mention{'' if count == 1 else 's'}"
