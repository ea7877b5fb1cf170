"""Fixtures of the tests of sources."""

import json
from collections.abc import Callable, Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests.sources.claude_mem import ClaudeMem

Import = Callable[..., dict[str, Any]]


@pytest.fixture
def run_import() -> Import:
    """Runs `memweb import PATH --json ...` and returns the report of the one source."""

    def run(path: Path | str, *options: str) -> dict[str, Any]:
        out = StringIO()
        call_command("import", str(path), "--json", *options, stdout=out)
        [report] = json.loads(out.getvalue())["reports"]
        return report

    return run


@pytest.fixture
def claude_mem(tmp_path: Path) -> Iterator[ClaudeMem]:
    """An empty claude-mem database of the newest schema, with one session."""
    database = ClaudeMem(tmp_path / "claude-mem.db")
    database.session()
    yield database
    database.connection.close()
