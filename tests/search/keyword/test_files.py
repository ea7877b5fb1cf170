"""A file filter means whole parts of paths: exact path, base name, directory, or glob."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memweb.memories.models import FilePath
from search.keyword.files import Glob, file_ids
from tests.factories import make_file

pytestmark = pytest.mark.django_db

PATHS = [
    "a.ts",
    "src/a.ts",
    "src/data.tsx",
    "src/deep/a.ts",
    "lib/src/a.ts",
    "/srv/app/src/a.ts",
    "src",
    "src/a.ts.bak",
    "srcs/b.py",
    "old-src/a.ts",
    r"C:\Users\me\src\a.ts",
    "README.md",
    "docs/README.md",
    "docs/[draft] 100%_done.md",
    "Makefile",
    "src/Auth.py",
    "src/auth.py",
    "./rel/x.go",
    "ütf/naïve.md",
]

# Filter -> the paths that it means.
MEANT: dict[str, list[str]] = {
    # a base name is every file of that name, never a part of a name
    "a.ts": ["a.ts", "src/a.ts", "src/deep/a.ts", "lib/src/a.ts", "/srv/app/src/a.ts", "old-src/a.ts",
             r"C:\Users\me\src\a.ts"],
    "data.tsx": ["src/data.tsx"],
    "data.ts": [],
    "ts": [],
    "README.md": ["README.md", "docs/README.md"],
    "Makefile": ["Makefile"],
    "makefile": [],
    # a path, also at the end of a longer one
    "src/a.ts": ["src/a.ts", "lib/src/a.ts", "/srv/app/src/a.ts", r"C:\Users\me\src\a.ts"],
    "/src/a.ts": [],
    "/srv/app/src/a.ts": ["/srv/app/src/a.ts"],
    "./src/a.ts": ["src/a.ts", "lib/src/a.ts", "/srv/app/src/a.ts", r"C:\Users\me\src\a.ts"],
    "deep/a.ts": ["src/deep/a.ts"],
    "rel/x.go": ["./rel/x.go"],
    "./rel/x.go": ["./rel/x.go"],
    "src/auth.py": ["src/auth.py"],
    "src/Auth.py": ["src/Auth.py"],
    # Windows paths, written either way
    r"C:\Users\me\src\a.ts": [r"C:\Users\me\src\a.ts"],
    "C:/Users/me/src/a.ts": [r"C:\Users\me\src\a.ts"],
    r"me\src\a.ts": [r"C:\Users\me\src\a.ts"],
    # a directory with all below it
    "src/": ["src/a.ts", "src/data.tsx", "src/deep/a.ts", "lib/src/a.ts", "/srv/app/src/a.ts", "src/a.ts.bak",
             r"C:\Users\me\src\a.ts", "src/Auth.py", "src/auth.py"],
    "lib/src": ["lib/src/a.ts"],
    "app/src/": ["/srv/app/src/a.ts"],
    "/srv": ["/srv/app/src/a.ts"],
    "/app": [],
    "docs": ["docs/README.md", "docs/[draft] 100%_done.md"],
    # what lies directly in it, and globs at whole parts
    "src/*": ["src/a.ts", "src/data.tsx", "lib/src/a.ts", "/srv/app/src/a.ts", "src/a.ts.bak",
              r"C:\Users\me\src\a.ts", "src/Auth.py", "src/auth.py"],
    "/srv/*": [],
    "/srv/**": ["/srv/app/src/a.ts"],
    "/srv/**/a.ts": ["/srv/app/src/a.ts"],
    "src/**/a.ts": ["src/a.ts", "src/deep/a.ts", "lib/src/a.ts", "/srv/app/src/a.ts", r"C:\Users\me\src\a.ts"],
    "*.md": ["README.md", "docs/README.md", "docs/[draft] 100%_done.md", "ütf/naïve.md"],
    "*.tsx": ["src/data.tsx"],
    "?.ts": ["a.ts", "src/a.ts", "src/deep/a.ts", "lib/src/a.ts", "/srv/app/src/a.ts", "old-src/a.ts",
             r"C:\Users\me\src\a.ts"],
    "src/[Aa]uth.py": ["src/Auth.py", "src/auth.py"],
    "src/[!A]uth.py": ["src/auth.py"],
    "src/[a-b].ts": ["src/a.ts", "lib/src/a.ts", "/srv/app/src/a.ts", r"C:\Users\me\src\a.ts"],
    "s?c/auth.py": ["src/auth.py"],
    "na*ve.md": ["ütf/naïve.md"],
    # signs of LIKE and of regular expressions are themselves
    "%": [],
    "_": [],
    "src/_.ts": [],
    "src/a%ts": [],
    "src/a.t.": [],
    "docs/*100%_done.md": ["docs/[draft] 100%_done.md"],
    "src/(a).ts": [],
    "src/**": ["src/a.ts", "src/data.tsx", "src/deep/a.ts", "lib/src/a.ts", "/srv/app/src/a.ts", "src/a.ts.bak",
               r"C:\Users\me\src\a.ts", "src/Auth.py", "src/auth.py"],
    "s*/": ["src/a.ts", "src/data.tsx", "src/deep/a.ts", "lib/src/a.ts", "/srv/app/src/a.ts", "src/a.ts.bak",
            "srcs/b.py", r"C:\Users\me\src\a.ts", "src/Auth.py", "src/auth.py"],
    "**/deep/**/a.ts": ["src/deep/a.ts"],
    "**": PATHS,
    "*": PATHS,
    # nothing
    "": [],
    "   ": [],
    "/": [],
    "./": [],
    "nowhere/": [],
    "[": [],
    "src/[z-a].ts": [],
    "\x00": [],
}  # fmt: skip


@pytest.fixture
def paths() -> None:
    for path in PATHS:
        make_file(path)


@pytest.mark.parametrize("value", MEANT)
def test_filter_means_these_paths(paths: None, value: str) -> None:
    found = FilePath.objects.filter(pk__in=file_ids(value)).order_by("pk").values_list("path", flat=True)
    assert list(found) == MEANT[value]


@pytest.mark.parametrize("path", PATHS)
def test_every_path_is_found_by_itself(paths: None, path: str) -> None:
    if not set("[*?") & set(path):
        assert FilePath.objects.get(path=path).pk in file_ids(path)


def test_thousands_of_files_are_all_meant() -> None:
    FilePath.objects.bulk_create([FilePath(path=f"gen/f{n}.py", name=f"f{n}.py") for n in range(4_000)])
    assert len(file_ids("gen/")) == len(file_ids("gen/*")) == len(file_ids("*.py")) == 4_000


signs = st.sampled_from("ab./*?[]!^-\\")


@settings(max_examples=60, deadline=None)
@given(value=st.text(signs | st.characters(exclude_categories=["Cs"]), max_size=12), path=st.text(max_size=12))
@example(value="[]", path="[]")
@example(value="[!]", path="!")
@example(value="[^a]", path="^")
@example(value="[[]", path="[")
@example(value="[\\]", path="\\")
@example(value="[--0]", path=".")
@example(value="***/***", path="a/b")
def test_any_glob_is_decided(value: str, path: str) -> None:
    assert Glob(value).matches(path) in {True, False}
    assert file_ids(value) == []


@pytest.mark.parametrize(
    "value", ["*" * 40 + "b", "**/" * 40 + "b", "*a" * 40 + "b", "**/*a*/" * 20 + "b", "?*" * 40 + "b"]
)
@pytest.mark.parametrize("path", ["a" * 200, "a/" * 100, "aaa/" * 60])
def test_glob_is_decided_without_backtracking(value: str, path: str) -> None:
    # A regular expression for the whole pattern would try every way to share out the path and never come to an end.
    assert Glob(value).matches(path) is False
