"""What can be done with records before the database is asked: cutting into batches, hashing, analysis."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from memweb.memories.indexing import build_terms
from memweb.sources.keys import memory_fingerprint
from memweb.sources.records import Reader, Record, SessionRecord
from memweb.sources.rows import Draft, indexed_text

# One transaction each: large enough for speed, small enough that others who write hardly wait.
ROWS_AT_ONCE = 2000
# The first ones are small, since the importer waits for them before it can write.
ROWS_AT_FIRST = 250


@dataclass(frozen=True, slots=True)
class Batch:
    """Records that are written together: sessions first, then memories."""

    sessions: list[SessionRecord]
    drafts: list[Draft]

    def __len__(self) -> int:
        return len(self.sessions) + len(self.drafts)


def prepared_batches(reader: Reader, with_terms: bool) -> Iterator[Batch]:
    """Yield everything that a reader yields, hashed; with index terms if wanted, else they come when needed."""
    for records in cut(reader.records()):
        sessions = [record for record in records if isinstance(record, SessionRecord)]
        drafts = [
            Draft(
                record,
                memory_fingerprint(reader.format, record),
                build_terms(indexed_text(record)) if with_terms else None,
            )
            for record in records
            if not isinstance(record, SessionRecord)
        ]
        yield Batch(sessions, drafts)


def cut(records: Iterator[Record]) -> Iterator[list[Record]]:
    """Yield records in lists of ROWS_AT_FIRST, then of twice as many each time, up to ROWS_AT_ONCE."""
    records, size = iter(records), ROWS_AT_FIRST
    while chunk := list(islice(records, size)):
        yield chunk
        size = min(2 * size, ROWS_AT_ONCE)
