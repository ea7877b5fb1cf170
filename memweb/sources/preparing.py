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
    """Yield records in lists of at most ROWS_AT_ONCE."""
    records = iter(records)
    while chunk := list(islice(records, ROWS_AT_ONCE)):
        yield chunk
