import pytest

from search.query.fields import FieldName, accepted_value, is_ref_text, is_time_text


@pytest.mark.parametrize(
    "text",
    [
        "2026", "2026-01", "2026-12", "2026-01-20", "2024-02-29", "2026-01-20T14:30", "2026-01-20 14:30",
        "2026-01-20t14:30z", "2026-01-20T14:30:59", "2026-01-20T14:30:59.5Z", "2026-01-20T14:30:59.123456789+01:00",
        "2026-01-20T14:30+0100", "2026-01-20T14:30-05", "1768900000", "999999999", "1768900000000", "today",
        "Yesterday", "7d", "3w", "6m", "1y", "999y", "9999d", "7D",
    ],
)  # fmt: skip
def test_time_text_is_recognised(text):
    assert is_time_text(text) is True


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "2026-", "2026-13", "2026-00", "2026-1", "2026-02-30", "2026-01-20T", "2026-01-20T25:00",
        "2026-01-20T14:30+99:00", "2026-01-20Z", "0000", "9999", "12026", "20260120", "12345678901", "tomorrow", "7",
        "7 d", "d", "-7d", "7h", "99999d", "1000y", "2026,2027", "2026\n", "\uff12\uff10\uff12\uff16", "\u0667d",
        "1768900000.5",
    ],
)  # fmt: skip
def test_other_text_is_no_time(text):
    assert is_time_text(text) is False


@pytest.mark.parametrize("text", ["o12", "s45", "P9", "d7", "#12", "12", "#S45"])
def test_ref_text_is_recognised(text):
    assert is_ref_text(text) is True


@pytest.mark.parametrize(
    "text", ["", "o", "#", "x12", "12o", "o 12", "o-1", "##1", "1.5", "o" + "1" * 19, "o\u0661", "o1\n"]
)
def test_other_text_is_no_ref(text):
    assert is_ref_text(text) is False


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("kind", "o", "observation"),
        ("kind", "Summaries", "summary"),
        ("kind", "P", "prompt"),
        ("kind", "drawers", "drawer"),
        ("kind", "x", None),
        ("kind", "", None),
        ("is", "ANY", "any"),
        ("is", "blue", None),
        ("before", "7d", "7d"),
        ("after", "soon", None),
        ("id", "#S45", "#S45"),
        ("id", "", None),
        ("project", "", ""),
        ("project", " My App/x ", " My App/x "),
    ],
)
def test_accepted_value_has_one_spelling_for_closed_sets(name, value, accepted):
    assert accepted_value(FieldName(name), value) == accepted
