"""`memweb doctor`: finds what is wrong, and says what to do."""

import json
from collections.abc import Iterator
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as configured
from django.core.management import call_command
from django.db import connection
from pytest_django import Settings

from memweb.operations.diagnosis import Finding, diagnose
from memweb.operations.instance import hold_data_dir
from search.vectors.model_files import BGE_SMALL
from tests.management.memweb_process import run_memweb
from tests.real_models import folder_of

pytestmark = pytest.mark.django_db

KEYWORD_INDEX = [f"keyword index of {kind}" for kind in ("drawer", "observation", "prompt", "summary")]
SUBJECTS = ["server", "data folder", "secret key", "database file", "disk", "settings", "database", "migrations"]


@pytest.fixture(autouse=True)
def data_folder(db: None) -> Iterator[Path]:
    """The data folder as `memweb up` leaves it: closed to others."""
    folder: Path = configured.DATA_DIR
    folder.chmod(0o700)
    Path(configured.DATABASES["default"]["NAME"]).chmod(0o600)
    yield folder
    folder.chmod(0o700)


def problems(deep: bool = False) -> list[Finding]:
    return [finding for finding in diagnose(deep) if not finding.is_sound]


def run_doctor(*arguments: str) -> tuple[int, str]:
    """Return exit code and output."""
    out = StringIO()
    try:
        call_command("doctor", *arguments, stdout=out, no_color=True)
    except SystemExit as end:
        assert isinstance(end.code, int)
        return end.code, out.getvalue()
    return 0, out.getvalue()


@pytest.mark.parametrize("deep", [False, True])
def test_sound_memweb_has_no_problem(deep: bool) -> None:
    findings = diagnose(deep)
    assert [finding.subject for finding in findings] == SUBJECTS + KEYWORD_INDEX
    assert [finding for finding in findings if not finding.is_sound] == []


def test_doctor_leaves_no_trace() -> None:
    before = connection.introspection.table_names()
    diagnose()
    assert connection.introspection.table_names() == before


def test_running_memweb_is_named(data_folder: Path) -> None:
    assert diagnose()[0] == Finding("server", "not running")
    with hold_data_dir(data_folder) as announce:
        announce("http://127.0.0.1:8000")
        assert diagnose()[0] == Finding("server", "running at http://127.0.0.1:8000")


def test_folder_that_others_can_read_is_a_problem(data_folder: Path) -> None:
    data_folder.chmod(0o755)
    assert problems() == [
        Finding("data folder", f"{data_folder} can be read by other users", f"chmod 700 {data_folder}")
    ]


def test_key_that_others_can_read_is_a_problem(data_folder: Path) -> None:
    key = data_folder / "secret_key"
    key.chmod(0o640)
    found = problems()
    key.chmod(0o600)
    assert found == [Finding("secret key", f"{key} can be read by other users", f"chmod 600 {key}")]


def test_open_settings_are_problems(settings: Settings) -> None:
    settings.HOST_NAMES = ["*"]
    settings.DEBUG = True
    assert [finding.remedy for finding in problems()] == [
        "unset MEMWEB_DEBUG",
        "name the hosts that memweb is reached by instead",
    ]


def test_missing_trigger_is_a_problem() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER observations_fts_insert")
    expected = [
        Finding("keyword index of observation", "trigger observations_fts_insert is missing", "memweb index rebuild")
    ]
    assert problems() == expected


def test_index_that_differs_from_its_rows_is_found_by_looking_deep() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO observations_fts(rowid, title_terms, body_terms, variant_terms, scope_terms)"
            " VALUES (7, 'ghost', '', '', '')"
        )
    [shallow] = problems()
    assert (shallow.subject, shallow.state) == ("keyword index of observation", "1 of 0 rows indexed")
    [deep] = problems(deep=True)
    assert (deep.subject, deep.remedy) == ("keyword index of observation", "memweb index rebuild")


def test_model_is_looked_at_without_a_server(settings: Settings, tmp_path: Path) -> None:
    settings.EMBEDDER, settings.MODEL_DIR = "bge-small", tmp_path
    state = (
        f"the model bge-small cannot be used: model_quantized.onnx is missing, tokenizer.json is missing in {tmp_path}"
    )
    assert problems() == [Finding("embedding", state, "memweb model fetch")]
    settings.MODEL_DIR = folder_of(BGE_SMALL)
    assert problems() == []
    assert Finding("embedding", "bge-small-en-v1.5-int8 can be loaded") in diagnose()


def test_library_that_is_not_installed_is_a_problem(settings: Settings) -> None:
    settings.EMBEDDER = "sentence-transformers:some/model"
    if find_spec("sentence_transformers"):
        pytest.skip("sentence-transformers is installed here")
    state = (
        "MEMWEB_EMBEDDER=sentence-transformers:some/model needs memweb's extra sentence-transformers,"
        " which is not installed"
    )
    assert problems() == [Finding("embedding", state, "memweb model status")]


def test_migration_that_is_missing_is_a_problem() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'accounts'")
    assert problems() == [Finding("migrations", "1 not applied, first accounts.0001_initial", "memweb migrate")]


@pytest.mark.parametrize("is_empty", [False, True])
def test_database_that_is_not_there_yet_is_not_made(tmp_path: Path, is_empty: bool) -> None:
    path = tmp_path / "memweb.sqlite3"
    if is_empty:
        path.touch(0o600)
    before = sorted(one.name for one in tmp_path.iterdir())
    tmp_path.chmod(0o700)
    done = run_memweb(tmp_path, "doctor", "--json")
    assert (done.returncode, done.stderr) == (1, "")
    assert [finding for finding in json.loads(done.stdout)["findings"] if not finding["ok"]] == [
        {
            "subject": "database",
            "state": f"there is none yet at {path}",
            "remedy": "memweb up, which makes it; or put a backup there",
            "ok": False,
        }
    ]
    assert sorted(one.name for one in tmp_path.iterdir()) == [*before, "secret_key"]
    assert not path.exists() or path.stat().st_size == 0


def test_database_that_a_running_memweb_lost_is_a_problem(data_folder: Path) -> None:
    path = Path(configured.DATABASES["default"]["NAME"])
    away = path.rename(path.with_name("away"))
    with hold_data_dir(data_folder):
        found = problems()
    away.rename(path)
    assert found == [
        Finding(
            "database",
            "its file was removed while memweb was running",
            f"stop memweb, put the file or a backup at {path}, start memweb again",
        )
    ]


def test_exit_code_tells_whether_something_is_wrong(data_folder: Path) -> None:
    code, text = run_doctor()
    assert code == 0
    assert {line[:7].strip() for line in text.splitlines()} == {"ok"}
    data_folder.chmod(0o755)
    code, text = run_doctor()
    assert code == 1
    assert f"-> chmod 700 {data_folder}" in text


def test_json_has_everything(data_folder: Path) -> None:
    data_folder.chmod(0o755)
    code, text = run_doctor("--json")
    answer: dict[str, Any] = json.loads(text)
    assert (code, answer["ok"]) == (1, False)
    assert [finding["subject"] for finding in answer["findings"]] == SUBJECTS + KEYWORD_INDEX
    assert [finding["subject"] for finding in answer["findings"] if not finding["ok"]] == ["data folder"]
