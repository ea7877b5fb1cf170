"""Fixtures that every test may use."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# No test depends on how fast the machine is just now.
settings.register_profile("timeless", deadline=None)
settings.load_profile("timeless")


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with cases and measured data that lies beside the checkout; tests that need it skip without it."""
    folder = Path(os.environ.get("MEMWEB_TEST_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not folder.is_dir():
        pytest.skip(f"the shared test data is not at {folder}")
    return folder
