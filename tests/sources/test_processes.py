"""Imports by several processes, killed ones, and pages that are read and written meanwhile."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from memweb.memories.kinds import Kind
from memweb.memories.models import (
    Concept,
    FilePath,
    ImportBatch,
    Observation,
    ObservationConcept,
    ObservationFile,
    Project,
    Session,
    memory_model,
)
from memweb.sources.undo import undo_batch
from search.keyword.maintenance import check_index
from tests.sources.claude_mem import EPOCH, ClaudeMem
from tests.sources.conftest import Import

pytestmark = pytest.mark.django_db(transaction=True)

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def big(tmp_path: Path) -> Path:
    """A database of 6,000 observations and 3,000 prompts."""
    database = ClaudeMem(tmp_path / "big.db")
    database.connection.execute("BEGIN")
    for number in range(60):
        database.session(content_session_id=f"c{number}", memory_session_id=f"m{number}", project=f"p{number % 7}")
    for number in range(6000):
        database.observation(
            f"Observation {number} of parseConfig",
            narrative=f"needle{number} in src/module_{number % 50}.py",
            memory_session_id=f"m{number % 60}",
            project=f"p{number % 7}",
            created_at_epoch=EPOCH + number,
            concepts=[f"concept-{number % 9}"],
            files_read=[f"src/module_{number % 50}.py"],
        )
    for number in range(3000):
        database.prompt(f"prompt {number}", content_session_id=f"c{number % 60}", session_db_id=number % 60 + 1)
    database.connection.execute("COMMIT")
    database.connection.close()
    return database.path


def start_import(path: Path) -> subprocess.Popen[bytes]:
    """Import in a process of its own, into the database of the tests."""
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "memweb.settings",
        "MEMWEB_DATA_DIR": str(settings.DATA_DIR),
        "DATABASE_URL": f"sqlite:///{connection.settings_dict['NAME']}",
    }
    return subprocess.Popen(  # noqa: S603
        [sys.executable, str(ROOT / "manage.py"), "import", str(path)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def end_state() -> dict[str, Any]:
    """Everything that must be the same however the import went; ids may differ."""
    return {
        **{
            kind: sorted(
                memory_model(kind).objects.values_list(
                    "source_key", "content_hash", "title_terms", "body_terms", "project__name", "session__source_key"
                )
            )
            for kind in Kind
        },
        "concepts": sorted(ObservationConcept.objects.values_list("observation__source_key", "concept__name")),
        "files": sorted(ObservationFile.objects.values_list("observation__source_key", "file__path", "role")),
        "sessions": sorted(Session.objects.values_list("source_key", "content_hash", "project__name")),
        "labels": [sorted(model.objects.values_list(name, flat=True)) for model, name in LABELS],
        "index": check_index(),
    }


LABELS = ((Project, "name"), (Concept, "name"), (FilePath, "path"))


def test_killed_imports_end_in_the_same_state(big: Path, run_import: Import) -> None:
    generator = random.Random(7)  # noqa: S311
    counts = [0]
    for kill in range(10):
        process = start_import(big)
        if kill % 2:  # while it writes, else at any moment from its start on
            while process.poll() is None and Observation.objects.count() == counts[-1]:
                time.sleep(0.01)
        time.sleep(generator.uniform(0, 0.1) if kill % 2 else generator.uniform(0.2, 0.9))
        process.send_signal(signal.SIGKILL)
        process.communicate()
        counts.append(Observation.objects.count())
        assert set(check_index().values()) == {None}
    assert counts == sorted(counts)
    assert len({count for count in counts if count < 6000}) > 2  # some were killed halfway
    interrupted = ImportBatch.objects.exclude(status="complete").count()
    run_import(big)
    killed = end_state()
    assert ImportBatch.objects.filter(status="failed", error__startswith="interrupted").count() == interrupted > 2
    assert len(killed[Kind.OBSERVATION]) == 6000
    assert len(killed[Kind.PROMPT]) == 3000
    for batch in ImportBatch.objects.all():
        undo_batch(batch)
    assert end_state()["labels"] == [[], [], []]
    run_import(big)
    assert end_state() == killed


def test_two_imports_at_once_do_not_duplicate(big: Path) -> None:
    processes = [start_import(big), start_import(big)]
    while all(process.poll() is None for process in processes):
        # Pages stay readable, and people can write between the batches.
        Observation.objects.filter(pinned=False).order_by("pk")[:1].count()
        Project.objects.get_or_create(name="written meanwhile")
        time.sleep(0.05)
    for process in processes:
        _, errors = process.communicate()
        assert (process.returncode, errors.decode()) == (0, "")
    assert (Observation.objects.count(), memory_model(Kind.PROMPT).objects.count(), Session.objects.count()) == (
        6000,
        3000,
        60,
    )
    assert ObservationConcept.objects.count() == 6000
    assert set(check_index().values()) == {None}


def test_command_ends_with_one_line_and_exit_code_1(tmp_path: Path) -> None:
    process = start_import(tmp_path / "nowhere")
    out, errors = process.communicate()
    assert (process.returncode, out, errors.decode().count("\n")) == (1, b"", 1)
    assert "does not exist" in errors.decode()
