"""Fixtures of the tests of evaluation."""

from pathlib import Path

import pytest

from tests.search.evaluation.locomo import write_conversations


@pytest.fixture
def conversations(tmp_path: Path) -> Path:
    """A folder with two short conversations."""
    return write_conversations(tmp_path / "conversations")
