"""Two short conversations with questions, in the format of LoCoMo."""

import json
from pathlib import Path
from typing import Any

GARDEN: dict[str, Any] = {
    "speaker_a": "Alice",
    "speaker_b": "Bob",
    "session_1_date_time": "9:05 am on 3 March, 2024",
    "session_1": [
        {"speaker": "Alice", "dia_id": "D1:1", "text": " The kettle broke yesterday. "},
        {
            "speaker": "Bob",
            "dia_id": "D1:2",
            "text": "Look at these.",
            "blip_caption": "a shelf of porcelain teapots",
            "query": "museum",
        },
    ],
    "session_2_date_time": "12:40 pm on 10 March, 2024",
    "session_2": [
        {"speaker": "Alice", "dia_id": "D2:1", "text": "I planted tomatoes on the balcony."},
        {"speaker": "Bob", "dia_id": "D2:2", "text": "Mine never ripen."},
    ],
    # A date of a session that was never written, as LoCoMo has many.
    "session_3_date_time": "1:00 pm on 11 March, 2024",
    "session_1_observation": {"Alice": [["Alice owned an appliance.", "D1:1"]], "Bob": []},
    "session_2_observation": {"Bob": [["Bob and Alice grow vegetables.", "D2:2, D2:1"]]},
    "session_2_summary": "They talked about gardening.",
    "qa": [
        {"question": "Who planted tomatoes?", "answer": "Alice", "evidence": ["D2:1"], "category": 4},
        {"question": "kettle", "answer": "zeppelin", "evidence": ["D1:1", "D2:2", "D1:1", "D7:7"], "category": 1},
        {"question": "porcelain", "adversarial_answer": "", "evidence": ["D1:2 "], "category": 5},
        {"question": "submarine", "answer": "none", "evidence": ["D2:2"], "category": 3},
        {"question": "evidence that is no id", "answer": 1, "evidence": ["D1:1; D2:1", "D:1:1"], "category": 2},
        {"question": "no evidence", "answer": "none", "evidence": [], "category": 4},
    ],
}

WORKSHOP: dict[str, Any] = {
    "session_1_date_time": "some day",
    "session_1": [
        {"speaker": "Carol", "dia_id": "D1:1", "text": "Tomatoes planted, planted tomatoes, tomatoes planted."},
        {"speaker": "Dave", "dia_id": "D1:2", "text": "The lathe needs oil."},
    ],
    "qa": [{"question": "lathe", "answer": "oil", "evidence": ["D1:2"], "category": 2}],
}


def write_conversations(folder: Path) -> Path:
    """Write one file for each conversation and return the folder."""
    folder.mkdir(exist_ok=True)
    for name, conversation in (("garden", GARDEN), ("workshop", WORKSHOP)):
        (folder / f"{name}.json").write_text(json.dumps(conversation), encoding="utf-8")
    return folder
