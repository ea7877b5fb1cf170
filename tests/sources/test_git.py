"""The history of git repositories as memories."""

import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from memweb.memories.models import Observation, Session
from memweb.sources.git import MOST_FILES
from tests.sources.conftest import Import

pytestmark = pytest.mark.django_db


class Repository:
    """A repository under construction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")

    def git(self, *arguments: str, **environment: str) -> str:
        base = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        identity = {
            f"GIT_{role}_{what}": value
            for role in ("AUTHOR", "COMMITTER")
            for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"), ("DATE", "1768899600 +0200"))
        }
        done = subprocess.run(  # noqa: S603
            ["git", "-C", str(self.path), *arguments],  # noqa: S607
            env={**base, **identity, "GIT_CONFIG_GLOBAL": os.devnull, **environment},
            capture_output=True,
            check=True,
        )
        return done.stdout.decode()

    def commit(self, message: str, *files: str, **environment: str) -> str:
        for name in files:
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{message} {name}")
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message, **environment)
        return self.git("rev-parse", "HEAD").strip()


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "my-project")


def test_commit_becomes_an_observation(repository: Repository, run_import: Import) -> None:
    commit = repository.commit("fix(search): find é\n\nLonger text.\n\nSigned-off: x", "src/a b.py", "é/漢.txt")
    report = run_import(repository.path)
    assert report["format"] == "git"
    row = Observation.objects.get()
    assert (row.type, row.title, row.narrative, row.agent, row.project.name) == (
        "bugfix",
        "fix(search): find é",
        "Longer text.\n\nSigned-off: x",
        "Ada",
        "my-project",
    )
    assert row.created_at == datetime(2026, 1, 20, 9, tzinfo=UTC)
    assert sorted(concept.name for concept in row.concepts.all()) == ["fix", "search"]
    assert sorted(row.file_links.values_list("file__path", "role")) == [
        ("src/a b.py", "modified"),
        ("é/漢.txt", "modified"),
    ]
    assert row.source_data == {"commit": commit}


@pytest.mark.parametrize(
    ("subject", "type"),
    [
        ("fix: a", "bugfix"),
        ("Fix: a", "bugfix"),
        ("feat!: a", "feature"),
        ("feat(x)!: a", "feature"),
        ("refactor: a", "refactor"),
        ("perf: a", "refactor"),
        ("docs: a", "change"),
        ("chore(deps): a", "change"),
        ("Note: a", "change"),
        ("fix a", "change"),
        ("Add a", "change"),
        ("prefix: a", "change"),
    ],
)
def test_type_comes_from_a_conventional_prefix(
    repository: Repository, run_import: Import, subject: str, type: str
) -> None:
    repository.commit(subject)
    run_import(repository.path)
    assert Observation.objects.get().type == type


def test_sessions_are_an_author_and_a_day(repository: Repository, run_import: Import) -> None:
    repository.commit("one")
    repository.commit("two", GIT_AUTHOR_DATE="1768900000 +0000")
    repository.commit("three", GIT_AUTHOR_DATE="1769000000 +0000")
    repository.commit("four", GIT_AUTHOR_NAME="Bob")
    run_import(repository.path)
    assert sorted(Observation.objects.values_list("title", "session__title")) == [
        ("four", "Bob, 2026-01-20"),
        ("one", "Ada, 2026-01-20"),
        ("three", "Ada, 2026-01-21"),
        ("two", "Ada, 2026-01-20"),
    ]
    assert set(Session.objects.values_list("platform", flat=True)) == {"git"}


def test_new_commits_are_added_and_a_clone_is_known(repository: Repository, run_import: Import, tmp_path: Path) -> None:
    repository.commit("one", "a")
    run_import(repository.path)
    repository.commit("two", "b")
    assert run_import(repository.path)["counts"]["observation"]["imported"] == 1
    repository.git("clone", "--quiet", "--bare", ".", str(tmp_path / "clone.git"))
    report = run_import(tmp_path / "clone.git")
    assert report["counts"]["observation"] == {
        "imported": 0,
        "unchanged": 2,
        "updated": 0,
        "duplicate": 0,
        "skipped": 0,
    }


def test_worktree_belongs_to_its_repository(repository: Repository, run_import: Import, tmp_path: Path) -> None:
    repository.commit("one")
    repository.git("worktree", "add", "--quiet", str(tmp_path / "zurich-v1"))
    report = run_import(tmp_path / "zurich-v1")
    assert (Observation.objects.get().project.name, report["location"]) == ("my-project", str(repository.path))


def test_merges_empty_commits_and_odd_names_are_read(repository: Repository, run_import: Import) -> None:
    repository.commit("root", "a")
    repository.git("checkout", "--quiet", "-b", "side")
    repository.commit("side", "line\nbreak", "0123456789012345678901234567890123456789")
    repository.git("checkout", "--quiet", "main")
    repository.commit("empty")
    repository.commit("main", "b")
    repository.git("merge", "--quiet", "--no-ff", "--message", "merge side", "side")
    run_import(repository.path)
    files = {
        row.title: sorted(file.path for file in row.files.all())
        for row in Observation.objects.prefetch_related("files")
    }
    assert files == {
        "root": ["a"],
        "side": ["0123456789012345678901234567890123456789", "line\nbreak"],
        "empty": [],
        "main": ["b"],
        "merge side": [],
    }


def test_huge_commit_is_bounded(repository: Repository, run_import: Import) -> None:
    repository.commit("vendor", *[f"vendor/{number}" for number in range(MOST_FILES + 5)])
    run_import(repository.path)
    row = Observation.objects.get()
    assert (row.files.count(), row.source_data["files_left_out"]) == (MOST_FILES, 5)


def test_nothing_that_a_repository_configures_is_run(
    repository: Repository, run_import: Import, tmp_path: Path
) -> None:
    repository.commit("one", "a.txt")
    trap, sprung = tmp_path / "trap", tmp_path / "sprung"
    trap.write_text(f"#!/bin/sh\ntouch {sprung}\n")
    trap.chmod(0o755)
    for name in ("gpg.program", "core.pager", "core.fsmonitor", "diff.external", "core.sshCommand", "pager.log"):
        repository.git("config", name, str(trap))
    repository.git("config", "log.showSignature", "true")
    repository.git("config", "diff.trap.textconv", str(trap))
    (repository.path / ".git" / "info" / "attributes").write_text("*.txt diff=trap\n")
    run_import(repository.path)
    assert (Observation.objects.count(), sprung.exists()) == (1, False)


def test_repository_without_commits_has_nothing_to_import(repository: Repository, run_import: Import) -> None:
    assert run_import(repository.path)["totals"]["imported"] == 0


def test_folder_that_is_no_repository_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="cannot be read as a git repository"):
        call_command("import", str(tmp_path), "--source", "git")
