"""Reading data in the format of LoCoMo."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from search.evaluation.conversations import EvaluationError, Note, Turn, digest, read_conversations, thinned
from tests.search.evaluation.locomo import GARDEN, WORKSHOP

TURN = {"speaker": "Alice", "dia_id": "D1:1", "text": "hello"}


def write(folder: Path, document: object) -> Path:
    path = folder / "some.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def test_folder_gives_a_conversation_for_each_file(conversations: Path) -> None:
    garden, workshop = read_conversations(conversations)
    assert (garden.name, workshop.name) == ("garden", "workshop")
    assert [talk.name for talk in garden.talks] == ["session_1", "session_2"]
    assert [talk.at for talk in garden.talks] == [
        datetime(2024, 3, 3, 9, 5, tzinfo=UTC),
        datetime(2024, 3, 10, 12, 40, tzinfo=UTC),
    ]
    assert workshop.talks[0].at is None


def test_passage_has_speaker_text_and_image(conversations: Path) -> None:
    garden = read_conversations(conversations)[0]
    assert [turn.passage for turn in garden.turns] == [
        "Alice: The kettle broke yesterday.",
        "Bob: Look at these. [image: a shelf of porcelain teapots]",
        "Alice: I planted tomatoes on the balcony.",
        "Bob: Mine never ripen.",
    ]


def test_notes_name_their_turns(conversations: Path) -> None:
    garden = read_conversations(conversations)[0]
    assert [talk.notes for talk in garden.talks] == [
        (Note("Alice owned an appliance.", ("D1:1",)),),
        (Note("Bob and Alice grow vegetables.", ("D2:2", "D2:1")),),
    ]
    assert [talk.summary for talk in garden.talks] == ["", "They talked about gardening."]


def test_evidence_is_ids_of_turns_each_once(conversations: Path) -> None:
    garden = read_conversations(conversations)[0]
    assert [(question.text, question.category, question.evidence) for question in garden.questions] == [
        ("Who planted tomatoes?", 4, ("D2:1",)),
        ("kettle", 1, ("D1:1", "D2:2")),
        ("porcelain", 5, ("D1:2",)),
        ("submarine", 3, ("D2:2",)),
    ]


def test_sessions_stand_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    cells: dict[str, Any] = {f"session_{number}": [{**TURN, "dia_id": f"D{number}:1"}] for number in (10, 2, 1)}
    [found] = read_conversations(write(tmp_path, {**cells, "qa": []}))
    assert [turn.id for turn in found.turns] == ["D1:1", "D2:1", "D10:1"]


def test_original_form_of_the_data_is_read_alike(conversations: Path, tmp_path: Path) -> None:
    sessions = {name: cell for name, cell in GARDEN.items() if name.startswith("session_") and len(name) == 9}
    dates = {name: cell for name, cell in GARDEN.items() if name.endswith("_date_time")}
    original = {
        "sample_id": "garden",
        "conversation": {**sessions, **dates},
        "observation": {name: cell for name, cell in GARDEN.items() if name.endswith("_observation")},
        "session_summary": {name: cell for name, cell in GARDEN.items() if name.endswith("_summary")},
        "qa": GARDEN["qa"],
    }
    path = write(tmp_path, [original, {**WORKSHOP, "sample_id": "workshop"}])
    assert read_conversations(path) == read_conversations(conversations)


def test_second_turn_of_a_name_stays_a_turn_of_its_own(tmp_path: Path) -> None:
    again = {**TURN, "text": "again"}
    qa = [{"question": "hello", "evidence": ["D1:1"], "category": 4}]
    [found] = read_conversations(write(tmp_path, {"session_1": [TURN, again], "qa": qa}))
    assert found.turns == [Turn("D1:1", "Alice", "hello"), Turn("D1:1 (session_1, turn 2)", "Alice", "again")]
    assert found.questions[0].evidence == ("D1:1",)


def test_named_conversations_are_chosen(conversations: Path) -> None:
    assert [one.name for one in read_conversations(conversations, ["workshop"])] == ["workshop"]


def test_thinned_takes_questions_evenly(conversations: Path) -> None:
    garden, workshop = thinned(read_conversations(conversations), 2)
    assert [question.text for question in garden.questions] == ["Who planted tomatoes?", "porcelain"]
    assert [question.text for question in workshop.questions] == ["lathe"]


def test_digest_looks_at_nothing_of_questions(tmp_path: Path) -> None:
    [before] = read_conversations(write(tmp_path, GARDEN))
    [other_questions] = read_conversations(write(tmp_path, {**GARDEN, "qa": WORKSHOP["qa"]}))
    [other_summary] = read_conversations(write(tmp_path, {**GARDEN, "session_2_summary": "Other."}))
    assert digest([before], with_notes=False) == digest([other_questions], with_notes=False)
    assert digest([before], with_notes=False) == digest([other_summary], with_notes=False)
    assert digest([before], with_notes=True) != digest([other_summary], with_notes=True)


@pytest.mark.parametrize(
    ("document", "told"),
    [
        ({"session_1": [TURN]}, 'has no list "qa"'),
        ([1], 'has no list "qa"'),
        ("text", 'has no list "qa"'),
        ({"qa": []}, 'has no "session_1"'),
        ({"session_1": "text", "qa": []}, '"session_1" is no list of turns'),
        ({"session_1": [TURN, {"speaker": "Bob", "text": "x"}], "qa": []}, "session_1, turn 2 lacks"),
        ({"session_1": ["x"], "qa": []}, "session_1, turn 1 lacks"),
        ({"session_1": [TURN], "qa": ["x"]}, 'question 1 of "qa" has no text'),
        ({"session_1": [TURN], "qa": [{"question": "x", "category": 6}]}, 'has no "category" from 1 to 5'),
        ({"session_1": [TURN], "qa": [{"question": "x", "category": 1, "evidence": "D1:1"}]}, "that is no list"),
    ],
)
def test_file_of_another_form_is_named_with_what_is_wrong(tmp_path: Path, document: object, told: str) -> None:
    path = write(tmp_path, document)
    with pytest.raises(EvaluationError) as raised:
        read_conversations(path)
    assert str(raised.value).startswith(f"{path}")
    assert told in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"qa": [', "is damaged or no JSON (line 1, column 9"),
        (b"", "is damaged or no JSON (line 1, column 1"),
        (b'{"qa": "\xff"}', "is damaged or no JSON in UTF-8"),
        (b"[" * 100_000, "is damaged or no JSON in UTF-8"),
        (b"SQLite format 3\0", "is damaged or no JSON (line 1, column 1"),
    ],
)
def test_file_that_is_no_json_is_named(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "damaged.json"
    path.write_bytes(content)
    with pytest.raises(EvaluationError) as raised:
        read_conversations(tmp_path)
    assert str(raised.value).startswith(f"{path} {told}")


def test_missing_path_empty_folder_and_unknown_name_are_told(conversations: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(EvaluationError, match="does not exist; expected is"):
        read_conversations(tmp_path / "missing")
    with pytest.raises(EvaluationError, match=r"holds no \.json file; expected is"):
        read_conversations(tmp_path / "empty")
    with pytest.raises(EvaluationError, match="has no conversation cellar; there are garden, workshop"):
        read_conversations(conversations, ["cellar"])
