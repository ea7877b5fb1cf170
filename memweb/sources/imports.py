"""The door to importing: one call for commands, start-up, watchers and tests."""

import os
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.utils import timezone

from memweb.memories.models import ImportBatch, Source
from memweb.sources.ahead import ReaderAhead, pays_off
from memweb.sources.bulk import bulk_writing
from memweb.sources.detection import open_source
from memweb.sources.importer import Importer
from memweb.sources.preparing import prepared_batches
from memweb.sources.preview import Preview
from memweb.sources.records import Reader, ReadOptions
from memweb.sources.report import ImportReport, Tally

# Called with rows done and rows in all (None when that is not known).
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """What an import is asked for. `source` names the format or is `auto`; `project` replaces every row's project."""

    source: str = "auto"
    project: str | None = None
    include_noise: bool = False
    dry_run: bool = False


def import_path(
    path: Path | str, options: ImportOptions | None = None, progress: Progress | None = None
) -> ImportReport:
    """Import a file or folder and return the report.

    Raises SourceError with a message for people when the path cannot be read; nothing is imported then. Calling it
    again adds only what is new.
    """
    options = options or ImportOptions()
    path, read_options = Path(path), ReadOptions(include_noise=options.include_noise)
    opened = open_source(path, options.source, read_options)
    reader: Reader | ReaderAhead = opened
    try:
        if not options.dry_run and pays_off(opened.total()):
            opened.close()
            reader = ReaderAhead(opened, path, options.source, read_options)
        return import_reader(reader, options, progress)
    finally:
        reader.close()


def import_reader(
    reader: Reader | ReaderAhead, options: ImportOptions, progress: Progress | None = None
) -> ImportReport:
    """Import everything that an open reader yields."""
    total = reader.total()

    def report_progress(done: int) -> None:
        if progress is not None:
            progress(done + reader.tally.number("skipped"), total)

    started = time.monotonic()
    report = ImportReport(reader.format, reader.location, options.dry_run)
    if options.dry_run and not isinstance(reader, ReaderAhead):
        preview = Preview(reader, Source.objects.filter(format=reader.format, location=reader.location).first())
        preview.run(report_progress)
        report.tally = _joined(reader, preview)
        report.seconds = time.monotonic() - started
        return report
    source, _ = Source.objects.get_or_create(format=reader.format, location=reader.location)
    close_interrupted(source)
    batch = ImportBatch.objects.create(source=source, report={"process": _process()})
    importer = Importer(reader.format, source, batch, options.project)
    error = "stopped"
    try:
        batches = (
            reader.batches(with_terms=importer.is_first)
            if isinstance(reader, ReaderAhead)
            else prepared_batches(reader, with_terms=False)
        )
        with bulk_writing():
            importer.run(batches, report_progress)
        error = ""
    except Exception as failure:
        error = f"{type(failure).__name__}: {failure}"
        raise
    finally:
        report.batch_id = batch.pk
        report.tally = _joined(reader, importer)
        report.seconds = time.monotonic() - started
        batch.status = ImportBatch.Status.FAILED if error else ImportBatch.Status.COMPLETE
        batch.error, batch.report, batch.finished_at = error, report.as_json(), timezone.now()
        batch.save()
    return report


def close_interrupted(source: Source) -> None:
    """Mark imports of the source as failed whose process has ended without saying so."""
    here = _process()
    for batch in ImportBatch.objects.filter(source=source, status=ImportBatch.Status.RUNNING):
        process = batch.report.get("process", {})
        if process.get("host") == here["host"] and not _is_alive(process.get("pid")):
            batch.status, batch.error = ImportBatch.Status.FAILED, "interrupted; the next import continued it"
            batch.finished_at = timezone.now()
            batch.save(update_fields=["status", "error", "finished_at"])


def _joined(reader: Reader | ReaderAhead, importer: Importer | Preview) -> Tally:
    importer.tally.add(reader.tally)
    return importer.tally


def _process() -> dict[str, object]:
    return {"host": socket.gethostname(), "pid": os.getpid()}


def _is_alive(pid: object) -> bool:
    if not isinstance(pid, int):
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
