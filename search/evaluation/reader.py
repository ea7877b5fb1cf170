"""Makes memories of conversations: a reader for the importer, and what each of its rows stands for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from memweb.memories.kinds import Kind
from memweb.memories.models import TimeQuality
from memweb.sources.cleaning import clean_text
from memweb.sources.keys import identity_key
from memweb.sources.records import (
    DrawerRecord,
    ObservationRecord,
    Record,
    SessionRecord,
    SessionRef,
    SummaryRecord,
)
from memweb.sources.report import Tally
from memweb.sources.times import Moment
from search.evaluation.conversations import Conversation, Talk

FORMAT = "locomo"


@dataclass(frozen=True, slots=True)
class Referent:
    """What a memory stands for when it is found: turns (one, those that a note names, none) and a session."""

    turns: tuple[str, ...]
    session: str


class ConversationReader:
    """Yields each turn as a drawer of its session, one project for each conversation, in their order.

    Questions and answers are not looked at. `with_notes` adds the data's own observations and summaries.
    """

    format: ClassVar[str] = FORMAT

    def __init__(self, conversations: Sequence[Conversation], location: str, *, with_notes: bool = False) -> None:
        self.location = location
        self.tally = Tally()
        self._conversations = conversations
        self._with_notes = with_notes

    def total(self) -> int:
        return sum(1 for _ in self.records())

    def records(self) -> Iterator[Record]:
        for conversation in self._conversations:
            for talk in conversation.talks:
                session = _name(conversation, talk.name)
                yield SessionRecord(
                    row=session,
                    ref=SessionRef(content_id=session),
                    project=conversation.name,
                    title=talk.name.replace("_", " "),
                    status="completed",
                    started_at=talk.at,
                )
                yield from self._memories(conversation, talk)

    def close(self) -> None:
        pass

    def _memories(
        self, conversation: Conversation, talk: Talk
    ) -> Iterator[DrawerRecord | ObservationRecord | SummaryRecord]:
        project, session = conversation.name, SessionRef(content_id=_name(conversation, talk.name))
        moment = Moment(talk.at, TimeQuality.EXACT if talk.at else TimeQuality.UNKNOWN)
        for place, turn in enumerate(talk.turns):
            row = _name(conversation, turn.id)
            yield DrawerRecord(
                row=row,
                key=identity_key(FORMAT, Kind.DRAWER, row),
                project=project,
                session=session,
                moment=moment,
                text=clean_text(turn.passage),
                chunk_index=place,
            )
        if not self._with_notes:
            return
        for number, note in enumerate(talk.notes):
            row = _note_name(conversation, talk, number)
            yield ObservationRecord(
                row=row,
                key=identity_key(FORMAT, Kind.OBSERVATION, row),
                project=project,
                session=session,
                moment=moment,
                text=clean_text(note.text),
            )
        if talk.summary:
            row = _summary_name(conversation, talk)
            yield SummaryRecord(
                row=row,
                key=identity_key(FORMAT, Kind.SUMMARY, row),
                project=project,
                session=session,
                moment=moment,
                learned=clean_text(talk.summary),
            )


def referents(conversations: Sequence[Conversation]) -> dict[str, Referent]:
    """Return what every row of the reader stands for; names of turns and sessions tell conversations apart."""
    found: dict[str, Referent] = {}
    for conversation in conversations:
        for talk in conversation.talks:
            session = _name(conversation, talk.name)
            for turn in talk.turns:
                name = _name(conversation, turn.id)
                found[name] = Referent((name,), session)
            for number, note in enumerate(talk.notes):
                named = tuple(_name(conversation, id) for id in note.turns)
                found[_note_name(conversation, talk, number)] = Referent(named, session)
            found[_summary_name(conversation, talk)] = Referent((), session)
    return found


def evidence_names(conversation: Conversation, evidence: Sequence[str]) -> list[str]:
    """Return the names of turns as `referents` gives them."""
    return [_name(conversation, id) for id in evidence]


def _name(conversation: Conversation, part: str) -> str:
    return f"{conversation.name}/{part}"


def _note_name(conversation: Conversation, talk: Talk, number: int) -> str:
    return f"{conversation.name}/{talk.name}/note/{number}"


def _summary_name(conversation: Conversation, talk: Talk) -> str:
    return f"{conversation.name}/{talk.name}/summary"
