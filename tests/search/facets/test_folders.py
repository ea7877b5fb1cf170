"""The tree of files: what lies in a directory, counted by the rule of `file:`."""

import pytest

from search.facets.folders import Entry, FolderTree
from search.facets.reading import Row
from search.facets.tally import Files

PATHS = ["src/auth/login.py", "src/auth/token.py", "src/main.py", "README.md", "/home/a/src/x.py", "/home/a/y.py"]


def tree(*memories: str, paths: list[str] = PATHS) -> FolderTree:
    """Return the tree of memories, each given as the numbers of its paths."""
    rows = [Row(None, " ".join(["=a", *(f"=f{number}" for number in files.split())]), "", "") for files in memories]
    return FolderTree(Files(rows, []), {f"=f{number}": path for number, path in enumerate(paths)})


def entries(tree: FolderTree, under: str = "") -> list[tuple[str, int]]:
    return [(one.path, one.count) for one in tree.entries(under)]


def test_a_memory_counts_once_in_a_directory() -> None:
    paths = PATHS[:4]
    assert entries(tree("0 1 2", "0", "3", paths=paths)) == [("src/", 2), ("README.md", 1)]


def test_what_lies_below() -> None:
    found = tree("0 1", "0", "2")
    assert entries(found, "src/") == [("src/auth/", 2), ("src/main.py", 1)]
    assert entries(found, "src/auth/") == [("src/auth/login.py", 2), ("src/auth/token.py", 1)]
    assert entries(found, "nowhere/") == []


def test_a_directory_with_one_way_on_is_passed_through() -> None:
    paths = ["a/b/c/d.py", "a/b/c/e.py", "x/y/z.py"]
    assert entries(tree("0", "1", "2", paths=paths)) == [("a/b/c/", 2), ("x/y/z.py", 1)]


def test_a_directory_is_found_in_longer_paths_but_not_an_absolute_one() -> None:
    found = tree("4", "2")
    assert [one for one in entries(found) if one[0] == "src/"] == [("src/", 2)]
    assert found.count(["/src/", "/home/a/src/", "home/a/"]) == [
        Entry("/home/a/src/", 1),
        Entry("home/a/", 1),
        Entry("/src/", 0),
    ]


def test_windows_paths_are_one_tree_with_the_others() -> None:
    paths = ["C:\\work\\src\\a.py", "C:/work/src/b.py"]
    assert entries(tree("0", "1", paths=paths)) == [("C:/work/src/", 2)]


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("src/", 3),
        ("src", 3),
        ("auth", 2),
        ("login.py", 1),
        ("./src/main.py", 1),
        ("src/*.py", 1),
        ("**/*.py", 4),
        ("src\\main.py", 1),
        ("main", 0),
        ("", 0),
        ("/", 0),
    ],
)
def test_written_values_mean_what_the_filter_means(value: str, count: int) -> None:
    assert tree("0", "1", "2 4", "3", "5").count_written(value) == count


def test_files_that_hold_a_text() -> None:
    assert [(one.path, one.count) for one in tree("0 1", "1").holding("AUTH")] == [
        ("src/auth/token.py", 2),
        ("src/auth/login.py", 1),
    ]
