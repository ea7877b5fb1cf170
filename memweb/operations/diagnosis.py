"""What `memweb doctor` looks at: each finding says what is so and, when that is wrong, what to do."""

import os
import shutil
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import connection, transaction
from django.db.utils import DatabaseError

from memweb.operations.instance import running_instance
from memweb.operations.preparation import LEAST_FREE_BYTES, missing_migrations, unknown_migrations
from memweb.operations.problems import database_problem
from search.closets.groups import group_faults
from search.keyword.maintenance import check_index, index_status
from search.leftovers import find_leftovers
from search.vectors.diagnosis import examine_vectors, examine_vectors_deeply
from search.vectors.queue import queue_faults

DISK_WARNING_BYTES = 16 * LEAST_FREE_BYTES
MAKE_DERIVED = "memweb migrate"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at. `remedy` is empty when all is well with it."""

    subject: str
    state: str
    remedy: str = ""

    @property
    def is_sound(self) -> bool:
        return not self.remedy


def diagnose(deep: bool = False) -> list[Finding]:
    """Return all findings, in the order in which they are best put right; `deep` reads the whole database."""
    findings = [*_examine_folder(), *_examine_settings()]
    if missing := _missing_database():
        return [*findings, missing]
    try:
        findings += _examine_database(deep)
        if all(finding.is_sound for finding in findings if finding.subject in {"database", "migrations"}):
            findings += _examine_deeply() if deep else _examine_index()
            findings += examine_derived(deep)
            findings += _examine_vectors(deep)
    except DatabaseError as error:
        problem = str(database_problem(error))
        state, _, remedy = problem.partition("; ")
        findings.append(Finding("database", state, remedy or "put a backup in its place"))
    return findings


def _examine_folder() -> Iterator[Finding]:
    folder: Path = settings.DATA_DIR
    running = running_instance(folder)
    yield Finding("server", f"running at {running.address}" if running else "not running")
    yield _examine_mode("data folder", folder, "chmod 700")
    database = Path(settings.DATABASES["default"]["NAME"])
    for subject, path in (("secret key", folder / "secret_key"), ("database file", database)):
        if path.exists():
            yield _examine_mode(subject, path, "chmod 600")
    free = shutil.disk_usage(folder).free
    state = f"{free / 2**30:,.1f} GB free"
    yield Finding("disk", state, "" if free >= DISK_WARNING_BYTES else f"free some space on the disk of {folder}")


def _examine_mode(subject: str, path: Path, command: str) -> Finding:
    status = path.stat()
    if status.st_uid != os.geteuid():
        return Finding(subject, f"{path} belongs to another user", f"run memweb as its owner, or: chown {path}")
    if status.st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        return Finding(subject, f"{path} can be read by other users", f"{command} {path}")
    return Finding(subject, f"{path}, its owner's alone")


def _examine_settings() -> Iterator[Finding]:
    if settings.DEBUG:
        yield Finding("settings", "MEMWEB_DEBUG shows data and settings on error pages", "unset MEMWEB_DEBUG")
    if "*" in settings.HOST_NAMES:
        yield Finding(
            "settings",
            "MEMWEB_ALLOWED_HOSTS=* lets every web page that a browser opens reach memweb",
            "name the hosts that memweb is reached by instead",
        )
    yield Finding(
        "settings", f"listens on {settings.HOST}:{settings.PORT}, answers {', '.join(settings.ALLOWED_HOSTS)}"
    )


def _missing_database() -> Finding | None:
    """Return what to do when there is no database. To connect would make an empty one."""
    path = Path(settings.DATABASES["default"]["NAME"])
    if path.exists() and path.stat().st_size:
        return None
    if running_instance(settings.DATA_DIR):
        remedy = f"stop memweb, put the file or a backup at {path}, start memweb again"
        return Finding("database", "its file was removed while memweb was running", remedy)
    return Finding("database", f"there is none yet at {path}", "memweb up, which makes it; or put a backup there")


def _examine_database(deep: bool) -> Iterator[Finding]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE TABLE memweb_doctor (id integer)")  # fails where nothing can be written
        transaction.set_rollback(True)
    if deep:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA quick_check(1)")
            (answer,) = cursor.fetchone()
        if answer != "ok":
            yield Finding("database", f"damaged: {answer}", "put a backup in its place")
            return
    yield Finding("database", f"{connection.settings_dict['NAME']} can be read and written")
    if unknown := unknown_migrations():
        yield Finding("migrations", f"a newer memweb applied {', '.join(unknown)}", "bring memweb up to date")
    elif missing := missing_migrations():
        yield Finding("migrations", f"{len(missing)} not applied, first {missing[0]}", "memweb migrate")
    else:
        yield Finding("migrations", "all applied")


def _examine_index() -> Iterator[Finding]:
    for status in index_status():
        subject = f"keyword index of {status.kind}"
        if status.faults:
            yield Finding(subject, "; ".join(status.faults), "memweb index rebuild")
        elif status.indexed != status.rows:
            yield Finding(subject, f"{status.indexed:,} of {status.rows:,} rows indexed", "memweb index rebuild")
        else:
            yield Finding(subject, f"{status.rows:,} rows indexed")


def examine_derived(deep: bool) -> Iterator[Finding]:
    """Yield what is wrong with what search makes of memories besides its indexes; nothing when all is well."""
    faults = {"vector queue": queue_faults(), "closets": group_faults()}
    for subject, sentences in faults.items():
        if sentences:
            yield Finding(subject, "; ".join(sentences), MAKE_DERIVED)
    for subject, sentence in find_leftovers() if deep else ():
        yield Finding(subject, sentence, MAKE_DERIVED)


def _examine_vectors(deep: bool) -> Iterator[Finding]:
    for subject, state, remedy in examine_vectors_deeply() if deep else examine_vectors():
        yield Finding(subject, state, remedy)


def _examine_deeply() -> Iterator[Finding]:
    for kind, fault in check_index().items():
        subject = f"keyword index of {kind}"
        yield Finding(subject, fault, "memweb index rebuild") if fault else Finding(subject, "equals its rows")
