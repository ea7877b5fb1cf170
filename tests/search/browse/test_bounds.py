"""What is shortened stays within its bytes, and is left alone where it fits."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.browse.bounds import ADDRESS, bounded, html_size, label_url, shortened, shortened_path
from search.query import FieldName


@given(st.text(max_size=200), st.integers(10, 60))
def test_shortened_texts_keep_their_bound_and_their_beginning_or_end(text: str, size: int) -> None:
    for short, kept in (
        (shortened(text, size), text.startswith),
        (shortened_path(text, size), text.endswith),
    ):
        assert html_size(short) <= size
        assert short == text or kept(short.strip("…"))


@pytest.mark.parametrize(
    ("text", "beginning", "end"),
    [
        ("short", "short", "short"),
        ("abcdefghijklmn", "abcdefg…", "…hijklmn"),
        ('""""', '"…', '…"'),
        ("東京都千代田区", "東京…", "…田区"),
    ],
)
def test_bound_is_of_html(text: str, beginning: str, end: str) -> None:
    assert (shortened(text, 10), shortened_path(text, 10)) == (beginning, end)


def test_address_of_a_long_label_is_left_out() -> None:
    assert label_url(FieldName.CONCEPT, "gotcha", "api") == "/?q=project%3Aapi+concept%3Agotcha"
    assert label_url(FieldName.CONCEPT, "x" * ADDRESS) == ""
    assert label_url(FieldName.CONCEPT, "gotcha", "x" * ADDRESS) == ""
    assert label_url(FieldName.CONCEPT, "東" * 300) == ""


def test_address_that_no_server_takes_is_left_out() -> None:
    assert bounded("/" * ADDRESS) == "/" * ADDRESS
    assert bounded("/" * (ADDRESS + 1)) == ""
