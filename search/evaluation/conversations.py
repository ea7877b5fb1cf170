"""Reads data in the format of LoCoMo (Maharana et al. 2024): long conversations with questions about them.

A file holds one conversation or a list of them; sessions lie at the top level or below `conversation`, and so do the
observations and summaries that the data's authors had a language model write.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

EXPECTED = 'LoCoMo data: a JSON object with "session_1" (a list of turns with "speaker", "dia_id", "text") and "qa"'
_SESSION = re.compile(r"session_(\d+)")
_TURN_ID = re.compile(r"D\d+:\d+")
_DATE_FORMAT = "%I:%M %p on %d %B, %Y"


class EvaluationError(Exception):
    """Something cannot be measured; the message names it and says what is expected, in one line."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one person said; `id` names it in its conversation, `passage` is what becomes searchable."""

    id: str
    speaker: str
    text: str
    caption: str = ""

    @property
    def passage(self) -> str:
        image = f" [image: {self.caption}]" if self.caption else ""
        return f"{self.speaker}: {self.text}{image}"


@dataclass(frozen=True, slots=True)
class Note:
    """A fact that a language model noted of a session, and the turns it names for it."""

    text: str
    turns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Talk:
    """One session of a conversation."""

    name: str
    date: str
    at: datetime | None
    turns: tuple[Turn, ...]
    notes: tuple[Note, ...] = ()
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the turns that answer it; only ids of turns that exist, each once."""

    id: str
    text: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation; `questions` holds only those that have evidence."""

    name: str
    talks: tuple[Talk, ...]
    questions: tuple[Question, ...]

    @property
    def turns(self) -> list[Turn]:
        return [turn for talk in self.talks for turn in talk.turns]


def read_conversations(path: Path, names: Sequence[str] = ()) -> list[Conversation]:
    """Return the conversations of a file, or of all JSON files of a folder; only those named, if any are.

    Raises EvaluationError for everything that is not data as expected.
    """
    path = path.expanduser()
    if not path.exists():
        raise EvaluationError(f"{path} does not exist; expected is a file or folder of {EXPECTED}")
    files = sorted(path.glob("*.json")) if path.is_dir() else [path]
    if not files:
        raise EvaluationError(f"{path} holds no .json file; expected is {EXPECTED}")
    found: dict[str, Conversation] = {}
    for file in files:
        for conversation in _read_file(file):
            if conversation.name in found:
                raise EvaluationError(f"{file}: the conversation {conversation.name} is there twice")
            found[conversation.name] = conversation
    if unknown := [name for name in names if name not in found]:
        raise EvaluationError(f"{path} has no conversation {unknown[0]}; there are {', '.join(found)}")
    return [conversation for name, conversation in found.items() if not names or name in names]


def thinned(conversations: Sequence[Conversation], questions: int) -> list[Conversation]:
    """Return the conversations with at most so many questions each, taken evenly from all of them."""
    return [replace(one, questions=_evenly(one.questions, questions)) for one in conversations]


def digest(conversations: Sequence[Conversation], *, with_notes: bool) -> str:
    """Return a hash of all that is indexed: equal data gives an equal index."""
    indexed: list[list[object]] = []
    for conversation in conversations:
        for talk in conversation.talks:
            indexed.append([conversation.name, talk.name, str(talk.at)])
            indexed += [[turn.id, turn.passage] for turn in talk.turns]
            indexed += [[[note.text for note in talk.notes], talk.summary]] if with_notes else []
    return hashlib.sha256(json.dumps(indexed).encode()).hexdigest()


def _evenly(questions: tuple[Question, ...], count: int) -> tuple[Question, ...]:
    count = min(count, len(questions))
    return tuple(questions[len(questions) * place // count] for place in range(count))


def _read_file(file: Path) -> list[Conversation]:
    try:
        document = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise EvaluationError(f"{file} cannot be read: {error.strerror or error}") from error
    except json.JSONDecodeError as error:
        raise EvaluationError(
            f"{file} is damaged or no JSON (line {error.lineno}, column {error.colno}: {error.msg});"
            f" expected is {EXPECTED}"
        ) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise EvaluationError(f"{file} is damaged or no JSON in UTF-8; expected is {EXPECTED}") from error
    documents = document if isinstance(document, list) else [document]
    several = len(documents) > 1
    return [
        _conversation(file, f"{file.stem}-{number}" if several else file.stem, one)
        for number, one in enumerate(documents, 1)
    ]


def _conversation(file: Path, name: str, document: object) -> Conversation:
    if not isinstance(document, dict) or not isinstance(document.get("qa"), list):
        raise EvaluationError(f'{file} has no list "qa"; expected is {EXPECTED}')
    parts = [document, *(document.get(key) for key in ("conversation", "observation", "session_summary"))]
    cells = {key: value for part in parts if isinstance(part, dict) for key, value in part.items()}
    numbers = sorted(int(match[1]) for key in cells if (match := _SESSION.fullmatch(key)))
    if not numbers:
        raise EvaluationError(f'{file} has no "session_1"; expected is {EXPECTED}')
    name = str(document.get("sample_id") or name)
    seen: set[str] = set()
    talks = tuple(_talk(file, f"session_{number}", cells, seen) for number in numbers)
    questions = [_question(file, name, number, one, seen) for number, one in enumerate(document["qa"], 1)]
    return Conversation(name, talks, tuple(one for one in questions if one.evidence))


def _talk(file: Path, name: str, cells: dict[str, Any], seen: set[str]) -> Talk:
    if not isinstance(cells[name], list):
        raise EvaluationError(f'{file}: "{name}" is no list of turns; expected is {EXPECTED}')
    date = str(cells.get(f"{name}_date_time", ""))
    turns = tuple(_turn(file, f"{name}, turn {place}", cell, seen) for place, cell in enumerate(cells[name], 1))
    observations = cells.get(f"{name}_observation")
    notes = observations.values() if isinstance(observations, dict) else ()
    return Talk(
        name,
        date,
        _moment(date),
        turns,
        tuple(
            Note(str(note[0]), tuple(dict.fromkeys(_TURN_ID.findall(str(note[1:])))))
            for some in notes
            for note in some
            if isinstance(note, list) and note
        ),
        str(cells.get(f"{name}_summary") or "").strip(),
    )


def _turn(file: Path, place: str, cell: object, seen: set[str]) -> Turn:
    if not isinstance(cell, dict) or not all(isinstance(cell.get(key), str) for key in ("speaker", "dia_id", "text")):
        raise EvaluationError(f'{file}: {place} lacks one of the texts "speaker", "dia_id", "text"')
    id = cell["dia_id"].strip()
    if id in seen:
        id = f"{id} ({place})"  # evidence means the first turn of the name
    seen.add(id)
    return Turn(id, cell["speaker"].strip(), cell["text"].strip(), str(cell.get("blip_caption") or "").strip())


def _question(file: Path, name: str, number: int, cell: object, turns: set[str]) -> Question:
    if not isinstance(cell, dict) or not isinstance(cell.get("question"), str):
        raise EvaluationError(f'{file}: question {number} of "qa" has no text "question"')
    category = cell.get("category")
    if not isinstance(category, int) or isinstance(category, bool) or not 1 <= category <= 5:
        raise EvaluationError(f'{file}: question {number} of "qa" has no "category" from 1 to 5')
    named = cell.get("evidence") or []
    if not isinstance(named, list):
        raise EvaluationError(f'{file}: question {number} of "qa" has an "evidence" that is no list')
    evidence = tuple(dict.fromkeys(id for one in named if (id := str(one).strip()) in turns))
    # The digest tells questions apart that have the same place in different data.
    mark = hashlib.sha256(json.dumps([cell["question"], evidence]).encode()).hexdigest()[:8]
    return Question(f"{name}/{number}/{mark}", cell["question"], category, evidence)


def _moment(date: str) -> datetime | None:
    try:
        return datetime.strptime(date.strip(), _DATE_FORMAT).replace(tzinfo=UTC)
    except ValueError:
        return None
