"""The `memweb` command: what a person can put right is told in one line, by the name of what was typed."""

from pathlib import Path

import pytest

from tests.management.memweb_process import run_memweb


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["search", "--kind", "banana"], "--kind: “banana” is not known here; accepted are "),
        (
            ["search", "--limit", "0", "--order", "up"],
            "--order: “up” is not known here; accepted are relevance, ",
        ),
        (["show", "x12"], "'x12' is not the name of a memory; names look like o12, s45, p9, d7 or #12"),
        (["export", "--output", "/dev/null/x.json"], "--output: /dev/null/x.json cannot be written: Not a directory"),
        (["import", "/no/such/file"], "/no/such/file does not exist"),
        (["up", "--port", "99999"], "--port 99999 is not a port"),
    ],
)
def test_problem_is_one_line(tmp_path: Path, arguments: list[str], message: str) -> None:
    done = run_memweb(tmp_path, *arguments)
    assert (done.returncode, done.stdout) == (1, "")
    [line] = done.stderr.splitlines()
    assert line.startswith(f"memweb: {message}")


def test_several_problems_are_a_line_each(tmp_path: Path) -> None:
    done = run_memweb(tmp_path, "import", "/no/such/file", "/no/such/folder")
    assert done.returncode == 1
    assert [line.split(" does")[0] for line in done.stderr.splitlines()] == [
        "memweb: /no/such/file",
        "memweb: /no/such/folder",
    ]


def test_traceback_is_shown_when_asked_for(tmp_path: Path) -> None:
    done = run_memweb(tmp_path, "show", "x12", "--traceback")
    assert done.returncode == 1
    assert done.stderr.startswith("Traceback ")


def test_option_that_does_not_exist_is_named(tmp_path: Path) -> None:
    done = run_memweb(tmp_path, "search", "--knid", "o")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("error: unrecognized arguments: --knid")
