"""What the closet lines of some drawers are."""

import os
import subprocess
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.closets import building
from search.closets.building import Line, Passage, closet_lines


def lines(*texts: str) -> list[Line]:
    return closet_lines([Passage(number, text) for number, text in enumerate(texts, start=1)])


BEFORE = [f"The talk number {number} mentions topic{number}." for number in range(7)]
TELL = f"""
from search.closets.building import Passage, closet_lines
for texts in ({BEFORE!r}, {[*BEFORE, "A walnut."]!r}):
    print([line.text for line in closet_lines([Passage(number, text) for number, text in enumerate(texts)])])
"""


@pytest.mark.parametrize("seed", [0, 1, 17, 43])
def test_lines_are_the_same_in_every_process(seed: int) -> None:
    """However strings are hashed there; of these sentences some tell exactly as much as others."""
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "DJANGO_SETTINGS_MODULE": "tests.settings"}
    done = subprocess.run(  # noqa: S603
        [sys.executable, "-c", TELL], env=environment, capture_output=True, text=True, check=True
    )
    first = "The talk number 0 mentions topic0. The talk number 1 mentions topic1. The talk number 2 mentions topic2."
    assert done.stdout.splitlines() == [
        str([first, "The talk number 6 mentions topic6."]),
        str([first, "The talk number 6 mentions topic6. A walnut."]),
    ]


def pointing(found: Sequence[Line], text: str) -> tuple[int, ...]:
    """Return the drawers that the line of that text points at."""
    [line] = [line for line in found if line.text == text]
    return line.drawers


def test_a_stretch_is_told_by_its_most_telling_sentences() -> None:
    found = lines(
        "Good morning! Shall we begin?",
        "The certificate of the payment gateway expires on Friday. It is so.",
        "And who is it? The payment gateway belongs to Nadia Petrova.",
    )
    assert found == [
        Line(
            "Good morning! The certificate of the payment gateway expires on Friday."
            " The payment gateway belongs to Nadia Petrova.",
            (1, 2, 3),
        )
    ]


def test_words_that_are_in_every_drawer_tell_little() -> None:
    texts = [f"Bot said hello hello {one}. Nothing else was {one}." for one in ("lantern", "walnut", "harbour")]
    [line] = lines(*texts)
    assert line.text.count(".") == building.SENTENCES
    assert all(one in line.text for one in ("lantern", "walnut", "harbour"))


def test_a_line_tells_of_so_many_neighbours() -> None:
    found = lines(*(f"Topic number {one * 1111} came up" for one in range(1, 14)))
    assert [line.drawers for line in found] == [tuple(range(1, 7)), tuple(range(7, 13)), (13,)]


def test_a_long_drawer_has_a_line_of_its_own() -> None:
    found = lines("A short note", "long " * 2000, "Another note")
    assert [line.drawers for line in found] == [(1,), (2,), (3,)]


def test_names_are_words_that_stand_capitalised_inside_sentences() -> None:
    found = lines("Then Nadia and Omar met Bob.", "We asked Nadia about Omar. Later bob ran.", "Later Later The")
    assert found[0].text.endswith("| Nadia, Omar")


def test_no_word_counts_a_second_time() -> None:
    [line] = lines("The red fox sleeps. The red fox sleeps soundly. A blue whale sings.")
    assert line.text == "The red fox sleeps soundly. A blue whale sings."


def test_a_heading_covers_its_drawer_and_those_up_to_the_next_one() -> None:
    found = lines("# Deployment #\nfirst", "second", "third\n\n## Rollback\nfourth", "Monitoring\n==========\nfifth")
    assert pointing(found, "Deployment") == (1, 2, 3)
    assert pointing(found, "Rollback") == (3, 4)
    assert pointing(found, "Monitoring") == (4,)


def test_a_heading_covers_no_more_than_some_drawers() -> None:
    found = lines("# Deployment", *(f"step {number}" for number in range(20)))
    assert pointing(found, "Deployment") == tuple(range(1, building.HEADED + 1))


def test_equal_headings_are_one_line_that_points_at_all() -> None:
    found = lines("# Notes\none", "# Other\ntwo", "# Notes\nthree")
    assert pointing(found, "Notes") == (1, 2, 3)


def test_comments_in_code_are_no_headings() -> None:
    texts = [line.text for line in lines("```sh\n# install it\nmake\n```\n# Real heading")]
    assert "Real heading" in texts
    assert "install it" not in texts


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ('He wrote "never restart it by hand" there.', "“never restart it by hand”"),
        ("He wrote “never restart it by hand” there.", "“never restart it by hand”"),
        ("Er schrieb „niemals von Hand neu starten“ dort.", "“niemals von Hand neu starten”"),
        ("Il a écrit « ne jamais relancer à la main » ici.", "“ne jamais relancer à la main”"),
        ("他说「不要手动重启」。", "“不要手动重启”"),
    ],
)
def test_a_quoted_sentence_is_a_line(text: str, quote: str) -> None:
    assert pointing(lines("first", text), quote) == (2,)


def test_short_and_further_quotes_are_none() -> None:
    assert len(lines('the "word" alone')) == 1
    quoted = " ".join(f'"sentence number {number} is quoted"' for number in range(9))
    assert len(lines(quoted)) == 1 + building.QUOTES


@pytest.mark.parametrize(
    ("texts", "telling"),
    [
        (["你好。数据库连接池超时了。", "你好。"], "数据库连接池超时了。"),
        (["Привет! Сертификат шлюза истекает в пятницу.", "Привет!"], "Сертификат шлюза истекает в пятницу."),
        (["नमस्ते! डेटाबेस का पासवर्ड बदल गया है।", "नमस्ते!"], "डेटाबेस का पासवर्ड बदल गया है।"),
        (["안녕! 인증서가 금요일에 만료됩니다.", "안녕!"], "인증서가 금요일에 만료됩니다."),
    ],
)
def test_lines_are_made_in_every_script(texts: list[str], telling: str) -> None:
    [line] = lines(*texts)
    assert telling in line.text
    assert line.drawers == (1, 2)


@pytest.mark.parametrize("texts", [[], [""], ["  \n", "..."], ["the and of"]])
def test_what_tells_nothing_gives_no_line(texts: list[str]) -> None:
    assert lines(*texts) == []


@given(st.lists(st.text() | st.sampled_from(["# A heading\n", '"a quoted sentence, long enough"', "\ud800", "```"])))
def test_lines_are_the_same_every_time_and_point_at_given_drawers(texts: list[str]) -> None:
    found = lines(*texts)
    assert found == lines(*texts)
    assert len({line.text for line in found}) == len(found)
    for line in found:
        assert line.text.strip()
        assert line.drawers
        assert set(line.drawers) <= set(range(1, len(texts) + 1))
