"""Cursors: where the next page begins, so that paging neither skips nor repeats while rows are added.

Pages ordered by time begin after a memory (time, kind, id). Pages ordered by relevance count hits, over the rows that
existed when the first page was made.
"""

import base64
import binascii
import json
from dataclasses import dataclass
from datetime import UTC, datetime

from memweb.memories.kinds import Kind
from search.request import Order


@dataclass(frozen=True, slots=True)
class TimeCursor:
    """After the memory with this time (None: unknown), kind and id."""

    order: Order
    created_at: datetime | None
    kind: Kind
    id: int


@dataclass(frozen=True, slots=True)
class RankCursor:
    """After `offset` hits among the rows up to these ids."""

    offset: int
    last_ids: dict[Kind, int]


Cursor = TimeCursor | RankCursor


def encode(cursor: Cursor) -> str:
    """Return a cursor as text that fits into a URL."""
    match cursor:
        case TimeCursor(order, created_at, kind, id):
            data: list[object] = ["t", str(order), created_at.isoformat() if created_at else None, kind.letter, id]
        case RankCursor(offset, last_ids):
            data = ["r", offset, {kind.letter: last_id for kind, last_id in last_ids.items()}]
    return base64.urlsafe_b64encode(json.dumps(data, separators=(",", ":")).encode()).decode().rstrip("=")


def decode(text: str, order: Order) -> Cursor:
    """Read a cursor that belongs to results in this order; raises ValueError for anything else."""
    try:
        data = json.loads(base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4)))
        kinds = {kind.letter: kind for kind in Kind}
        match data:
            case ["t", str(written), str() | None as moment, str(letter), int(id)] if written == order:
                return TimeCursor(order, _moment(moment), kinds[letter], _id(id))
            case ["r", int(offset), dict(last_ids)] if order is Order.RELEVANCE and 0 <= offset < 10**6:
                return RankCursor(offset, {kinds[letter]: _id(last) for letter, last in last_ids.items()})
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError, binascii.Error):
        pass
    raise ValueError("this page address is damaged or belongs to another order of results; the first page is shown")


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).astimezone(UTC) if text else None


def _id(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value < 2**63:
        raise ValueError("not a row id")
    return value
