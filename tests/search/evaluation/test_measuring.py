"""Filling an index with conversations and asking their questions."""

from pathlib import Path
from typing import Any

import pytest

from memweb.memories.kinds import Kind
from memweb.memories.models import Drawer, Observation, Session, SessionSummary, memory_model
from search.evaluation.conversations import EvaluationError
from search.evaluation.isolation import Measurement
from search.evaluation.measuring import measure
from search.evaluation.results import Run, Scope
from search.models import ClosetLine, Embedding
from search.vectors import embedders, embedding
from search.vectors.nearest import register_broad_index
from tests.embedders import FakeEmbedder

pytestmark = pytest.mark.django_db


@pytest.fixture
def embedder(monkeypatch: pytest.MonkeyPatch, settings: Any, tmp_path: Path) -> FakeEmbedder:
    """The fake embedder, as the chosen one."""
    fake = FakeEmbedder()
    settings.DATA_DIR = tmp_path
    monkeypatch.setattr(embedders, "load_chosen", lambda: fake)
    monkeypatch.setattr(embedders, "chosen_name", lambda: fake.name)
    monkeypatch.setattr(embedding, "_loaded", {})
    register_broad_index(None)
    return fake


def measurement(path: Path, **wanted: Any) -> Measurement:
    plain = Measurement(str(path), [], None, with_notes=False, modes=["keyword"], unfiltered=False, limit=200)
    return Measurement(**{name: wanted.get(name, getattr(plain, name)) for name in Measurement.__dataclass_fields__})


def messages(path: Path, **wanted: Any) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    measure(measurement(path, **wanted), lambda **message: sent.append(message))
    return sent


def runs(path: Path, **wanted: Any) -> list[Run]:
    return [Run.from_dict(one["run"]) for one in messages(path, **wanted) if one["is"] == "run"]


def total(run: Run) -> dict[str, float]:
    return {name: found["value"] for name, found in run.to_dict()["total"]["all"].items() if name != "questions"}


def test_turns_become_drawers_in_order(conversations: Path) -> None:
    runs(conversations)
    rows = Drawer.objects.order_by("id").values_list("source_row", "project__name", "session__title", "chunk_index")
    assert list(rows) == [
        ("garden/D1:1", "garden", "session 1", 0),
        ("garden/D1:2", "garden", "session 1", 1),
        ("garden/D2:1", "garden", "session 2", 0),
        ("garden/D2:2", "garden", "session 2", 1),
        ("workshop/D1:1", "workshop", "session 1", 0),
        ("workshop/D1:2", "workshop", "session 1", 1),
    ]
    drawer = Drawer.objects.get(source_row="garden/D1:2")
    assert drawer.text == "Bob: Look at these. [image: a shelf of porcelain teapots]"
    assert str(drawer.created_at) == "2024-03-03 09:05:00+00:00"
    assert Drawer.objects.get(source_row="workshop/D1:1").created_at is None
    assert Session.objects.count() == 3


@pytest.mark.parametrize("with_notes", [False, True])
def test_nothing_of_questions_and_answers_is_stored(conversations: Path, with_notes: bool) -> None:
    runs(conversations, with_notes=with_notes)
    stored = str([list(memory_model(kind).objects.values()) for kind in Kind]) + str(list(Session.objects.values()))
    assert "kettle" in stored
    for word in ("zeppelin", "submarine", "museum", "Who planted"):
        assert word not in stored


def test_notes_are_stored_only_when_wanted(conversations: Path) -> None:
    runs(conversations)
    assert (Observation.objects.count(), SessionSummary.objects.count()) == (0, 0)
    runs(conversations, with_notes=True)
    assert (Observation.objects.count(), SessionSummary.objects.count(), Drawer.objects.count()) == (2, 1, 6)


def test_keyword_figures_are_exact(conversations: Path) -> None:
    [run] = runs(conversations)
    assert {one.id.rsplit("/", 1)[0]: list(one.values.values()) for one in run.asked} == {
        "garden/1": [1.0, 1.0, 1.0, 1.0, 1.0],
        "garden/2": [0.5, 0.5, 1.0, 0.5, 0.5],
        "garden/3": [None, None, None, 1.0, 1.0],
        "garden/4": [0.0, 0.0, 0.0, 0.0, 0.0],
        "workshop/1": [1.0, 1.0, 1.0, 1.0, 1.0],
    }
    assert total(run) == {
        "turn R@5": 2.5 / 4,
        "turn R@10": 2.5 / 4,
        "MRR@10": 3 / 4,
        "session R@5": 3.5 / 5,
        "session R@10": 3.5 / 5,
    }
    assert run.strategies == {"sqlite": 5}
    assert run.fallbacks == {}


def test_whole_collection_is_asked_beside_it(conversations: Path) -> None:
    filtered, whole = runs(conversations, unfiltered=True)
    assert (filtered.scope, whole.scope) == (Scope.CONVERSATION, Scope.COLLECTION)
    # The other conversation speaks of planted tomatoes more often.
    assert [run.asked[0].values["MRR@10"] for run in (filtered, whole)] == [1.0, 0.5]


def test_note_stands_for_the_turns_and_the_session_it_names(conversations: Path) -> None:
    path = conversations / "garden.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"submarine"', '"vegetables"').replace('"kettle"', '"gardening"'), encoding="utf-8")
    [run] = runs(conversations, with_notes=True)
    values = {one.id.rsplit("/", 1)[0]: list(one.values.values()) for one in run.asked}
    assert values["garden/4"] == [1.0, 1.0, 1.0, 1.0, 1.0]
    assert values["garden/2"] == [0.0, 0.0, 0.0, 0.5, 0.5]  # found by the summary alone: a session without a turn


def test_measuring_again_adds_nothing(conversations: Path) -> None:
    [first], [second] = runs(conversations), runs(conversations)
    assert Drawer.objects.count() == 6
    assert [one.values for one in first.asked] == [one.values for one in second.asked]


def test_progress_is_sent_and_done_comes_last(conversations: Path) -> None:
    sent = messages(conversations, questions=1)
    steps = [(one["step"], one["done"], one["total"]) for one in sent if one["is"] == "progress"]
    assert steps == [
        ("import", 9, 9),
        ("keyword, conversation", 1, 2),
        ("keyword, conversation", 2, 2),
    ]
    assert sent[-1] == {"is": "done", "embedder": ""}


def test_every_mode_is_measured_with_all_turns_embedded(conversations: Path, embedder: FakeEmbedder) -> None:
    sent = messages(conversations, modes=[])
    found = [Run.from_dict(one["run"]) for one in sent if one["is"] == "run"]
    assert [(run.mode, run.fallbacks) for run in found] == [
        ("keyword", {}),
        ("semantic", {}),
        ("hybrid", {}),
        ("auto", {}),
    ]
    steps = [(one["done"], one["total"]) for one in sent if one["is"] == "progress" and one["step"] == "embed"]
    assert steps[-1] == (6, 6)
    assert sent[-1] == {"is": "done", "embedder": "fake"}
    assert Embedding.objects.count() == 6
    closets = ClosetLine.objects.values_list("text", flat=True)
    assert sorted(embedder.texts) == sorted([*Drawer.objects.values_list("text", flat=True), *closets])
    # A word of the answer suffices by words and by meaning.
    assert [run.asked[0].values["turn R@5"] for run in found] == [1.0, 1.0, 1.0, 1.0]


def test_measuring_again_embeds_nothing(conversations: Path, embedder: FakeEmbedder) -> None:
    runs(conversations, modes=["semantic"])
    embedder.texts.clear()
    runs(conversations, modes=["semantic"])
    assert embedder.texts == []


def test_without_an_embedder_words_are_measured_and_it_is_said(conversations: Path) -> None:
    sent = messages(conversations, modes=[])
    assert [one["run"]["mode"] for one in sent if one["is"] == "run"] == ["keyword", "auto"]
    assert [one["text"] for one in sent if one["is"] == "notice"] == [
        "Measured without search by meaning: search by meaning is switched off (MEMWEB_EMBEDDER=off)"
    ]


@pytest.mark.parametrize("mode", ["semantic", "hybrid"])
def test_mode_that_was_asked_for_and_cannot_be_used_is_refused(conversations: Path, mode: str) -> None:
    with pytest.raises(EvaluationError, match=f"{mode} search cannot be measured: search by meaning is switched off"):
        runs(conversations, modes=["keyword", mode])


def test_shared_conversations_have_the_known_number_of_questions(shared: Path) -> None:
    found = measurement(shared / "data/locomo-dev").conversations()
    assert len(found) == 5
    assert sum(len(one.questions) for one in found) == 926
    assert sum(question.category < 5 for one in found for question in one.questions) == 710
    [run] = runs(shared / "data/locomo-dev", names=["conv-30"], questions=10)
    assert len(run.asked) == 10
    assert Drawer.objects.count() == 369
