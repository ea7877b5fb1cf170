"""Saving, reading and comparing evaluations."""

import json
from pathlib import Path

import pytest

from search.evaluation.comparing import comparisons
from search.evaluation.conversations import EvaluationError
from search.evaluation.metrics import METRICS, Figure, Values
from search.evaluation.results import Asked, Evaluation, Run, Scope, load_runs, save_evaluation


def run_of(*values: float, scope: Scope = Scope.CONVERSATION, with_notes: bool = False, mode: str = "keyword") -> Run:
    asked = [Asked(f"garden/{place}", "garden", 4, all_of(value), 10.0) for place, value in enumerate(values)]
    return Run(mode, scope, with_notes, asked, {"sqlite": len(values)})


def all_of(value: float) -> Values:
    return dict.fromkeys(METRICS, value)


def test_saved_evaluation_is_read_as_it_was(tmp_path: Path) -> None:
    run = run_of(0.5, 1.0)
    run.asked.append(Asked("garden/9", "garden", 5, {**all_of(1.0), "MRR@10": None}, 12.5))
    run.note_answer("scan", "the index is damaged")
    save_evaluation(Evaluation({"path": "here"}, [run]), tmp_path / "saved.json")
    assert load_runs(tmp_path / "saved.json") == [run]
    assert [path.name for path in tmp_path.iterdir()] == ["saved.json"]


def test_saved_figures_are_for_all_categories_and_conversations() -> None:
    run = run_of(0.5, 1.0)
    run.asked.append(Asked("workshop/1", "workshop", 2, all_of(0.0), 40.0))
    data = run.to_dict()
    assert {name: one["turn R@5"]["value"] for name, one in data["categories"].items()} == {
        "2 temporal": 0.0,
        "4 single-hop": 0.75,
    }
    assert {name: (one["questions"], one["MRR@10"]["value"]) for name, one in data["conversations"].items()} == {
        "garden": (2, 0.75),
        "workshop": (1, 0.0),
    }
    assert data["latency_ms"] == {"p50": 10.0, "p95": 37.0}


def test_comparison_is_paired_by_question() -> None:
    earlier = run_of(0.0, 0.5, 1.0)
    now = run_of(0.25, 0.75, 1.25)
    now.asked = [*reversed(now.asked), Asked("workshop/1", "workshop", 4, all_of(0.0), 1.0)]
    [change] = comparisons([now], [earlier])
    assert change.title == "keyword, each conversation by itself: against saved"
    assert change.questions == 3
    assert change.figures == dict.fromkeys(METRICS, Figure(0.25, 0.25, 0.25))


def test_loss_of_the_whole_collection_and_gain_of_notes_are_differences() -> None:
    plain, whole, notes = run_of(1.0), run_of(0.5, scope=Scope.COLLECTION), run_of(1.0, with_notes=True)
    other = run_of(0.0, mode="auto")
    found = {change.title: change.figures["turn R@10"] for change in comparisons([plain, whole, other, notes], [])}
    assert found == {
        "keyword, the whole collection: against each conversation by itself": Figure(-0.5, -0.5, -0.5),
        "keyword, each conversation by itself, with notes: against without notes": Figure(0.0, 0.0, 0.0),
    }


def test_saved_evaluation_of_other_questions_is_refused() -> None:
    other = Run("keyword", Scope.CONVERSATION, asked=[Asked("cellar/1", "cellar", 4, all_of(1.0), 1.0)])
    for earlier in (other, run_of(1.0, mode="auto")):
        with pytest.raises(EvaluationError, match="no question, mode and scope in common"):
            comparisons([run_of(1.0)], [earlier])


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("{", "is damaged or no JSON"),
        ("[]", "is no saved evaluation"),
        ('{"format": "another"}', "is no saved evaluation"),
        ('{"format": "memweb evaluation 1"}', "is damaged (KeyError"),
        ('{"format": "memweb evaluation 1", "runs": [{"mode": "keyword"}]}', "is damaged (KeyError"),
        ('{"format": "memweb evaluation 1", "runs": ["x"]}', "is damaged (TypeError"),
    ],
)
def test_file_that_is_no_evaluation_is_refused(tmp_path: Path, content: str, told: str) -> None:
    path = tmp_path / "saved.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(EvaluationError) as raised:
        load_runs(path)
    assert str(raised.value).startswith(f"{path} {told}")
    assert str(raised.value).endswith("expected is a file that `memweb evaluate --save` wrote")


def test_file_that_cannot_be_written_or_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="cannot be written: No such file or directory"):
        save_evaluation(Evaluation({}), tmp_path / "missing" / "saved.json")
    with pytest.raises(EvaluationError, match="cannot be read: No such file or directory"):
        load_runs(tmp_path / "missing.json")


def test_values_of_questions_are_saved_without_their_texts(tmp_path: Path) -> None:
    save_evaluation(Evaluation({"path": "here"}, [run_of(1.0)]), tmp_path / "saved.json")
    [question] = json.loads((tmp_path / "saved.json").read_text(encoding="utf-8"))["runs"][0]["questions"]
    assert question == {
        "id": "garden/0",
        "conversation": "garden",
        "category": 4,
        "values": all_of(1.0),
        "ms": 10.0,
    }
