"""What must be there before the first request: tables, a sound keyword index, static files."""

import hashlib
import shutil
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from memweb.memories.kinds import Kind
from memweb.operations.problems import Problem
from search.keyword.maintenance import repair

LEAST_FREE_BYTES = 64 * 1024 * 1024
OUR_APPS = {"memories", "sources", "accounts", "search"}


def check_disk(folder: Path) -> None:
    """Raise Problem when the disk of the folder is so full that nothing could be written."""
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE_BYTES:
        raise Problem(
            f"the disk that holds {folder} has only {free // 2**20} MB free and memweb needs"
            f" {LEAST_FREE_BYTES // 2**20}; free some space or set MEMWEB_DATA_DIR to a folder on another disk"
        )


def missing_migrations() -> list[str]:
    """Return the migrations that the database lacks; empty when it is up to date."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    return [f"{migration.app_label}.{migration.name}" for migration, _ in plan]


def unknown_migrations() -> list[str]:
    """Return the migrations of memweb that the database has and this version does not know: a newer one made them."""
    loader = MigrationExecutor(connection).loader
    unknown = sorted(set(loader.applied_migrations) - set(loader.disk_migrations))
    return [f"{app}.{name}" for app, name in unknown if app in OUR_APPS]


def prepare_database() -> tuple[int, list[Kind]]:
    """Bring tables and keyword index up to date; return migrations applied, and kinds that had to be indexed anew."""
    if unknown := unknown_migrations():
        raise Problem(
            f"a newer memweb has written to the data folder ({unknown[0]} is unknown to this one);"
            " bring memweb up to date, or set MEMWEB_DATA_DIR to another folder"
        )
    missing = missing_migrations()
    if missing:
        call_command("migrate", interactive=False, verbosity=0)
    repaired = repair(connection)
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA analysis_limit = 400")
        cursor.execute("PRAGMA optimize")
    return len(missing), repaired


def prepare_static_files() -> bool:
    """Collect style sheets, scripts and icons into the data folder when any has changed; return whether one had."""
    target = Path(settings.STATIC_ROOT)
    stamp = target.with_name(f"{target.name}.stamp")
    wanted = _static_fingerprint()
    if target.is_dir() and stamp.is_file() and stamp.read_text(encoding="ascii") == wanted:
        return False
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0)
    stamp.write_text(wanted, encoding="ascii")
    return True


def _static_fingerprint() -> str:
    """Return a digest over name, size and time of change of every static file, and how they are stored."""
    digest = hashlib.sha256(settings.STORAGES["staticfiles"]["BACKEND"].encode())
    for finder in get_finders():
        for name, storage in sorted(finder.list([]), key=lambda entry: entry[0]):
            status = Path(storage.path(name)).stat()
            digest.update(f"{name} {status.st_size} {status.st_mtime_ns}\n".encode())
    return digest.hexdigest()
