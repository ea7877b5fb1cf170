"""A vector process that dies again after each start: told wherever somebody looks."""

import json
import os
import time
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from search.vectors.endings import ENDINGS_NAME, crash_loop, forget_endings, note_ending
from search.vectors.index_state import IndexState, Phase, write_state
from search.vectors.ownership import own_index
from tests.management.memweb_process import ROOT
from tests.search.vectors.data_folder import DataFolder, wait_for, wait_until_equal
from tests.search.vectors.test_index_command import run, vectors_of

DIES = """
import os, sys
if "search.vectors.chroma_process" in " ".join(sys.orig_argv):
    os._exit(3)
"""
LOOP = r"the vector process ended \d times within 10 minutes, last with exit code 3"


@pytest.fixture
def dying(folder: DataFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    """A data folder whose vector process ends as soon as it starts."""
    (tmp_path / "dies").mkdir()
    (tmp_path / "dies/sitecustomize.py").write_text(DIES)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "dies"), str(ROOT)]))
    return folder


@pytest.mark.django_db
def test_crash_loop_is_told_until_the_index_is_rebuilt(
    dying: DataFolder, client: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.DATA_DIR = dying.path
    dying.store(3)
    assert client.get("/healthz").content == b"ok"
    with dying.process() as process:
        problem = wait_for(process, lambda state: "3 times" in (state.problem or "")).problem
    assert problem == "the vector process ended 3 times within 10 minutes, last with exit code 3"
    code, text, error = run("index", "status", "--only", "vectors", "--json")
    assert (code, vectors_of(text)["problem"], error) == (1, problem, f"memweb: {problem}\n")
    code, text, _ = run("doctor", "--json")
    assert code == 1
    [finding] = [one for one in json.loads(text)["findings"] if one["subject"] == "vector index"]
    assert (finding["state"], finding["ok"]) == (problem, False)
    answer = client.get("/healthz")
    assert answer.status_code == HTTPStatus.OK
    assert answer.content.decode().splitlines() == ["ok", f"degraded: {problem}; `memweb doctor` says more"]
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    assert run("index", "rebuild", "--only", "vectors")[0] == 0
    assert client.get("/healthz").content == b"ok"
    assert run("index", "status", "--only", "vectors")[0] == 0


def test_command_does_not_wait_for_a_process_that_dies_again_and_again(dying: DataFolder) -> None:
    dying.store(3)
    code, _, error = run("index", "check", "--only", "vectors")
    assert code == 1
    assert error.startswith("memweb: check of the vector index failed: the vector process ended ")


def test_one_end_is_no_loop(folder: DataFolder) -> None:
    folder.store(3)
    with folder.process() as process:
        wait_until_equal(process, folder)
        note_ending(folder.path, "SIGKILL")
        note_ending(folder.path, "SIGKILL")
        assert crash_loop(folder.path) is None
    assert run("index", "status", "--only", "vectors")[0] == 0


def test_endings_are_told_for_ten_minutes(tmp_path: Path) -> None:
    now = time.time()
    old = [[now - 601, "SIGSEGV"]] * 5
    (tmp_path / ENDINGS_NAME).write_text(json.dumps([*old, [now - 500, "SIGBUS"], [now - 9, "SIGBUS"]]))
    assert crash_loop(tmp_path) is None
    note_ending(tmp_path, "SIGSEGV")
    assert crash_loop(tmp_path) == "the vector process ended 3 times within 10 minutes, last with SIGSEGV"
    assert len(json.loads((tmp_path / ENDINGS_NAME).read_text())) == 3
    forget_endings(tmp_path)
    assert crash_loop(tmp_path) is None


@pytest.mark.parametrize("content", [b"", b"[", b"{}", b"[1, 2, 3]", b'[["x", 1], ["y"]]', b"null", b"\xff"])
def test_notes_that_cannot_be_read_do_no_harm(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ENDINGS_NAME).write_bytes(content)
    assert crash_loop(tmp_path) is None
    note_ending(tmp_path, "exit code 1")
    assert len(json.loads((tmp_path / ENDINGS_NAME).read_text())) == 1


@pytest.mark.django_db
def test_health_tells_strangers_of_an_unusable_index_without_its_reason(
    tmp_path: Path, client: Client, settings: Any
) -> None:
    settings.DATA_DIR = tmp_path
    write_state(tmp_path, IndexState(Phase.UNAVAILABLE, f"{tmp_path} cannot be written"))
    assert client.get("/healthz").content == b"ok"  # nobody holds it: what the last one left
    with own_index(tmp_path, "a test"):
        lines = client.get("/healthz").content.decode().splitlines()
    assert lines == ["ok", "degraded: the vector index cannot be used now; `memweb doctor` says more"]
