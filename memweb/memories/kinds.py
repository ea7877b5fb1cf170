"""The four kinds of memories, and refs: the short stable names of memories."""

import re
from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """What a memory is; the values sort as the tie-breaker of every listing."""

    DRAWER = "drawer"
    OBSERVATION = "observation"
    PROMPT = "prompt"
    SUMMARY = "summary"

    @property
    def letter(self) -> str:
        return _LETTERS[self]

    @property
    def label(self) -> str:
        return _LABELS[self]

    @property
    def plural(self) -> str:
        return _PLURALS[self]


_LETTERS = {Kind.OBSERVATION: "o", Kind.SUMMARY: "s", Kind.PROMPT: "p", Kind.DRAWER: "d"}
_KINDS_BY_LETTER = {letter: kind for kind, letter in _LETTERS.items()}
_LABELS = {
    Kind.OBSERVATION: "observation",
    Kind.SUMMARY: "session summary",
    Kind.PROMPT: "prompt",
    Kind.DRAWER: "passage",
}
_PLURALS = {
    Kind.OBSERVATION: "observations",
    Kind.SUMMARY: "session summaries",
    Kind.PROMPT: "prompts",
    Kind.DRAWER: "passages",
}
_REF = re.compile(r"#?([ospd]?)([0-9]{1,18})", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class Ref:
    """The name of one memory: kind and row id, written `o12`, `s45`, `p9`, `d7`."""

    kind: Kind
    id: int

    def __str__(self) -> str:
        return f"{self.kind.letter}{self.id}"

    @classmethod
    def parse(cls, text: str) -> "Ref":
        """Read `o12`, `#12`, `12` (an observation), `#S45`, `S45`, `P9`; raises ValueError for anything else."""
        match = _REF.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"{text!r} is not the name of a memory; names look like o12, s45, p9, d7 or #12")
        kind = _KINDS_BY_LETTER[match[1].lower()] if match[1] else Kind.OBSERVATION
        return cls(kind, int(match[2]))
