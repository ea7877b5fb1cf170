"""Finds out what an import would do, without writing anything."""

from dataclasses import dataclass
from datetime import datetime

from memweb.memories.kinds import Kind
from memweb.memories.models import Source, memory_model
from memweb.sources.importer import Progress
from memweb.sources.keys import Fingerprint, memory_fingerprint, session_fingerprint
from memweb.sources.preparing import cut
from memweb.sources.records import Reader, Record, SessionRecord
from memweb.sources.report import Tally
from memweb.sources.sessions import known_sessions


@dataclass(frozen=True, slots=True)
class Candidate:
    """A record with its fingerprint."""

    record: Record
    print: Fingerprint


class Preview:
    """Counts as the importer would; what one database row would become of is found by the same keys."""

    def __init__(self, reader: Reader, source: Source | None) -> None:
        self.tally = Tally()
        self._reader = reader
        self._source_id = source.pk if source else None
        self._seen: dict[bytes, str] = {}
        self._taken: set[str] = set()

    def run(self, progress: Progress) -> None:
        done = 0
        for records in cut(self._reader.records()):
            candidates = [Candidate(record, self._fingerprint(record)) for record in records]
            for kind in ("session", *Kind):
                self._count(kind, [candidate for candidate in candidates if candidate.record.kind == kind])
            done += len(records)
            progress(done)

    def _fingerprint(self, record: Record) -> Fingerprint:
        if isinstance(record, SessionRecord):
            return session_fingerprint(self._reader.format, record)
        return memory_fingerprint(self._reader.format, record)

    def _count(self, kind: str, candidates: list[Candidate]) -> None:
        if not candidates:
            return
        known = self._known(kind, [candidate.print.key for candidate in candidates])
        rows = self._known_rows(kind, [one.record.row for one in candidates if one.print.key not in known])
        for candidate in candidates:
            record, print = candidate.record, candidate.print
            first = self._seen.setdefault(bytes.fromhex(print.key[:32]), record.row)
            if first != record.row:
                self.tally.count(kind, "duplicate")
                self.tally.note(
                    "duplicate", kind, "equal in session, time and all texts", f"{record.row} equals {first}"
                )
            elif print.key in known and print.key not in self._taken:
                content, source_id = known[print.key]
                same = source_id != self._source_id or content == print.content
                self.tally.count(kind, "unchanged" if same else "updated")
            elif not isinstance(record, SessionRecord) and rows.get(record.row, ("",))[0] == record.moment.at:
                # The memory gets this key; another row with its old text is then new.
                self._taken.add(rows[record.row][1])
                self.tally.count(kind, "updated")
            else:
                self.tally.count(kind, "imported")

    def _known(self, kind: str, keys: list[str]) -> dict[str, tuple[str, int | None]]:
        if kind == "session":
            return {key: (session.content_hash, session.source_id) for key, session in known_sessions(keys).items()}
        found = memory_model(Kind(kind)).objects.filter(source_key__in=keys)
        return {key: (content, id) for key, content, id in found.values_list("source_key", "content_hash", "source_id")}

    def _known_rows(self, kind: str, rows: list[str]) -> dict[str, tuple[datetime | None, str]]:
        if kind == "session" or self._source_id is None or not rows:
            return {}
        found = memory_model(Kind(kind)).objects.filter(source=self._source_id, source_row__in=rows)
        return {row: (at, key) for row, at, key in found.values_list("source_row", "created_at", "source_key")}
