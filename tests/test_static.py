"""Vendored files are those of the table beside them."""

import hashlib
import re
from pathlib import Path

VENDOR = Path(__file__).resolve().parents[1] / "static" / "vendor"
ROW = re.compile(r"^\| ([\w.-]+) \| .* \| .*\[text\]\(([\w.-]+)\).* \| `([0-9a-f]{64})` \|$", re.MULTILINE)


def test_vendored_files_have_their_checksum_and_licence() -> None:
    rows = ROW.findall((VENDOR / "README.md").read_text())
    files = {path.name for path in VENDOR.iterdir()} - {"README.md"}
    assert files == {name for row in rows for name in row[:2]}
    for name, licence, checksum in rows:
        assert hashlib.sha256((VENDOR / name).read_bytes()).hexdigest() == checksum
        assert "permi" in (VENDOR / licence).read_text().lower()
