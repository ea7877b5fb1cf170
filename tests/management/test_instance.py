"""One memweb for each data folder."""

import os
from pathlib import Path

import pytest

from memweb.operations.instance import LOCK_NAME, Instance, hold_data_dir, running_instance
from memweb.operations.problems import Problem


def test_folder_is_free_before_and_after(tmp_path: Path) -> None:
    assert running_instance(tmp_path) is None
    with hold_data_dir(tmp_path) as announce:
        assert running_instance(tmp_path) == Instance(os.getpid(), "")
        announce("http://127.0.0.1:8000")
        assert running_instance(tmp_path) == Instance(os.getpid(), "http://127.0.0.1:8000")
    assert running_instance(tmp_path) is None


def test_folder_that_is_held_is_refused_with_its_holder(tmp_path: Path) -> None:
    with hold_data_dir(tmp_path) as announce:
        announce("http://127.0.0.1:8000")
        with (
            pytest.raises(Problem, match=rf"\(process {os.getpid()}, http://127\.0\.0\.1:8000\)"),
            hold_data_dir(tmp_path),
        ):
            raise AssertionError("the folder was held twice")
        assert running_instance(tmp_path) == Instance(os.getpid(), "http://127.0.0.1:8000")


def test_lock_file_left_by_a_crash_holds_nothing(tmp_path: Path) -> None:
    (tmp_path / LOCK_NAME).write_text('{"process_id": 1, "address": "http://127.0.0.1:1"}', encoding="utf-8")
    assert running_instance(tmp_path) is None
    with hold_data_dir(tmp_path):
        assert running_instance(tmp_path) == Instance(os.getpid(), "")
