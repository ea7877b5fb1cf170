"""The documents name what there is, and nothing else."""

import re
import tomllib
from pathlib import Path

import pytest
from django.core.management import get_commands

from memweb.environment import KNOWN_VARIABLES

ROOT = Path(__file__).resolve().parent.parent
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")]
OURS = {"memweb", "memweb.sources", "memweb.memories", "memweb.accounts", "search"}


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def section(text: str, title: str) -> str:
    """Return the text below a heading of the second level."""
    return text.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def first_cells(text: str) -> list[str]:
    """Return everything in backticks in the first cell of every table row."""
    rows = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    return [name for cell in rows for name in re.findall(r"`([^`]+)`", cell)]


def test_settings_table_names_every_variable() -> None:
    documented = first_cells(section(text_of("docs/operations.md"), "Settings"))
    assert sorted(documented) == sorted([*KNOWN_VARIABLES, "DATABASE_URL"])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_variable_in_a_document_exists(document: Path) -> None:
    named = set(re.findall(r"\bMEMWEB_[A-Z_]+\b", document.read_text(encoding="utf-8")))
    assert named - set(KNOWN_VARIABLES) == set()


def test_commands_table_names_every_command() -> None:
    documented = {
        name.removeprefix("memweb ") for name in first_cells(section(text_of("docs/operations.md"), "Commands"))
    }
    ours = {name for name, app in get_commands().items() if app in OURS}
    assert ours - documented == set()
    assert documented - set(get_commands()) == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_command_in_a_document_exists(document: Path) -> None:
    named = set(re.findall(r"(?:`|bin/)memweb ([a-z]+)", document.read_text(encoding="utf-8")))
    assert named - set(get_commands()) == set()


def test_readme_names_every_make_target() -> None:
    targets = set(re.findall(r"^([a-z0-9]+):", text_of("Makefile"), re.MULTILINE)) - {"help"}
    named = set(re.findall(r"(?:`|    )make ([a-z0-9]+)", text_of("README.md")))
    assert named == targets


def test_architecture_gives_a_reason_for_every_package() -> None:
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    names = [match[0] for requirement in wanted if (match := re.match(r"[A-Za-z0-9-]+", requirement))]
    assert sorted(first_cells(section(text_of("docs/architecture.md"), "Packages"))) == sorted(names)


def test_architecture_names_folders_that_exist() -> None:
    folders = first_cells(section(text_of("docs/architecture.md"), "The way of the data"))
    assert folders
    assert [folder for folder in folders if not (ROOT / folder).is_dir()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_link_to_a_file_leads_to_one(document: Path) -> None:
    links = re.findall(r"\]\((?!https?://)([^)#]+)", document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_changelog_has_the_form_of_keep_a_changelog() -> None:
    headings = re.findall(r"^## (.*)$", text_of("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "[Unreleased]"
    dated = re.compile(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}")
    assert [heading for heading in headings[1:] if not dated.fullmatch(heading)] == []
    kinds = set(re.findall(r"^### (.*)$", text_of("CHANGELOG.md"), re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
