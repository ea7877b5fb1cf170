"""Times of sources, in every unit and form."""

from datetime import UTC, datetime

import pytest

from memweb.memories.models import TimeQuality
from memweb.sources.times import Moment, Unit, epoch_milliseconds, iso_text, read_iso, read_moment

NOVEMBER = datetime(2025, 11, 24, 16, tzinfo=UTC)


@pytest.mark.parametrize(
    ("epoch", "quality"),
    [
        (1764000000000, TimeQuality.EXACT),
        ("1764000000000", TimeQuality.EXACT),
        (" 1764000000000 ", TimeQuality.EXACT),
        (1764000000000.0, TimeQuality.EXACT),
        (1764000000, TimeQuality.CORRECTED),
        ("1764000000", TimeQuality.CORRECTED),
        ("1764000000.0", TimeQuality.CORRECTED),
        (1764000000000000, TimeQuality.CORRECTED),
        (1764000000000000000, TimeQuality.CORRECTED),
    ],
)
def test_epoch_in_any_unit_is_the_same_time(epoch: object, quality: TimeQuality) -> None:
    moment = read_moment(epoch, "2025-11-24T16:00:00.000Z")
    assert (moment.at, moment.quality) == (NOVEMBER, quality)


def test_epoch_in_the_expected_unit_is_exact() -> None:
    assert read_moment(1764000000, unit=Unit.SECONDS) == Moment(NOVEMBER, TimeQuality.EXACT)


@pytest.mark.parametrize(
    "epoch", [0, -1, "0", "-1764000000000", 1, 57000 * 10**15, 10**30, -(10**30), 946684799, 4102444800000]
)
def test_absurd_epoch_is_unknown_whatever_the_text(epoch: object) -> None:
    moment = read_moment(epoch, "2025-11-24T16:00:00.000Z")
    assert (moment.at, moment.quality) == (None, TimeQuality.UNKNOWN)
    assert moment.remark == "epoch is zero, negative or absurd"


@pytest.mark.parametrize("epoch", [None, "", " ", "yesterday", True, "nan", "inf", "1e400.0", b"x", [1]])
def test_text_decides_where_there_is_no_epoch(epoch: object) -> None:
    assert read_moment(epoch, "2025-11-24T16:00:00Z") == Moment(NOVEMBER, TimeQuality.EXACT)


@pytest.mark.parametrize("text", [None, "", "  ", "yesterday", 7, "1970-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00"])
def test_neither_is_unknown(text: object) -> None:
    assert read_moment(None, text).quality == TimeQuality.UNKNOWN


@pytest.mark.parametrize(
    ("text", "quality"),
    [
        ("2025-11-24T16:00:00.000Z", TimeQuality.EXACT),
        ("2025-11-25T05:00:00", TimeQuality.EXACT),  # local time of a zone 13 hours ahead, without its offset
        ("2025-11-24 06:00:00", TimeQuality.EXACT),
        ("2025-11-25T16:00:00Z", TimeQuality.EXACT),
        ("2025-11-25T16:00:01Z", TimeQuality.DOUBTFUL),
        ("2026-11-24T16:00:00Z", TimeQuality.DOUBTFUL),
        ("1970-01-01T00:00:00Z", TimeQuality.DOUBTFUL),
        ("not a time", TimeQuality.EXACT),
    ],
)
def test_epoch_decides_and_a_far_text_makes_it_doubtful(text: str, quality: TimeQuality) -> None:
    moment = read_moment(1764000000000, text)
    assert (moment.at, moment.quality) == (NOVEMBER, quality)


@pytest.mark.parametrize(
    "text",
    [
        "2025-11-24T16:00:00Z",
        "2025-11-24T16:00:00",
        "2025-11-24 16:00:00",
        "2025-11-24T17:30:00+01:30",
        "2025-11-24T16:00:00.000000+00:00",
        " 20251124T160000Z ",
    ],
)
def test_iso_forms_are_read(text: str) -> None:
    assert read_iso(text) == NOVEMBER


def test_precision_is_kept_and_written_back() -> None:
    at = read_moment(1764000000123456789).at
    assert at == datetime(2025, 11, 24, 16, 0, 0, 123456, tzinfo=UTC)
    assert (iso_text(at), epoch_milliseconds(at)) == ("2025-11-24T16:00:00.123Z", 1764000000123)
