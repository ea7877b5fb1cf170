"""What is embedded of a memory: one text when it fits the model's window, else overlapping chunks."""

import re

from memweb.memories.models import Memory
from memweb.memories.models.base import field_texts
from search.vectors.embedding import Embedder

# Part of the names of stored models: raise it whenever the same memory would give other texts.
RECIPE = "1"
# The rest of a text of some 2 MB is found by its words alone: to embed it would take minutes.
MAX_CHUNKS = 1000
# Parts of the window: what a chunk shares with the one before, what its title may take, where its end may be moved to.
_OVERLAP = 1 / 8
_TITLE = 1 / 4
_MOVABLE = 1 / 4
# Where a chunk may end, best first: after a paragraph, a line, a sentence, a clause, a word.
_ENDS = tuple(re.compile(end) for end in (r"\n\s*\n", r"\n", r"[.!?](?=\s)|[。！？]", r"[;:,](?=\s)|[、，；：]", r"\s"))


def stored_name(embedder: str) -> str:
    """Return the name under which vectors of this embedder are stored."""
    return f"{embedder}/{RECIPE}"


def embedder_of(stored: str) -> str:
    """Return the name of the embedder of vectors that are stored under a name."""
    return stored.rpartition("/")[0]


def chunks_of(memory: Memory, embedder: Embedder) -> list[str]:
    """Return the texts to embed of a memory, each within the embedder's window; none when it has no token to embed.

    A long memory gives overlapping chunks of its body, each with the title in front to say what it is about.
    """
    title = _joined(memory, memory.title_fields)
    body = _joined(memory, memory.body_fields)
    whole = "\n".join(filter(None, (title, body)))
    tokens = embedder.count_tokens(whole) if whole else 0
    if tokens == 0:
        return []
    if tokens <= embedder.max_tokens:
        return [whole]
    head = _shortened(title, embedder, int(embedder.max_tokens * _TITLE)) if body else ""
    room = embedder.max_tokens - (embedder.count_tokens(head) + 1 if head else 0)
    return ["\n".join(filter(None, (head, chunk))) for chunk in cut(body or title, embedder, room)]


def cut(text: str, embedder: Embedder, room: int) -> list[str]:
    """Return overlapping pieces of a text, each of at most `room` tokens, that end where a reader would pause."""
    offsets = embedder.token_offsets(text)
    pieces = []
    start = 0  # the first token of the piece
    while True:
        end = _end(text, offsets, start, room, embedder)
        piece = text[offsets[start][0] : offsets[end - 1][1]].strip()
        if piece:
            pieces.append(piece)
        if end >= len(offsets) or len(pieces) == MAX_CHUNKS:
            return pieces
        start = max(start + 1, _word_start(text, offsets, end - int(room * _OVERLAP), end))


def _end(text: str, offsets: list[tuple[int, int]], start: int, room: int, embedder: Embedder) -> int:
    """Return the token after the last one of a piece."""
    end = min(start + room, len(offsets))
    # A piece for itself may give more tokens than inside the text.
    while end - start > 1 and (over := embedder.count_tokens(text[offsets[start][0] : offsets[end - 1][1]]) - room) > 0:
        end = max(start + 1, end - over)
    if end == len(offsets):
        return end
    lowest = max(start + 1, end - int(room * _MOVABLE))
    window_start, window_end = offsets[lowest - 1][1], offsets[end][0]
    window = text[window_start:window_end]
    for pattern in _ENDS:
        found = list(pattern.finditer(window))
        if found:
            place = window_start + found[-1].end()
            while end > lowest and offsets[end - 1][1] > place:
                end -= 1
            break
    return end


def _word_start(text: str, offsets: list[tuple[int, int]], start: int, end: int) -> int:
    """Return the first token from `start` on that begins a word; `start` when there is none before `end`."""
    for token in range(start, end):
        place = offsets[token][0]
        if place == 0 or not text[place - 1].isalnum():
            return token
    return start


def _shortened(text: str, embedder: Embedder, room: int) -> str:
    if not text:
        return ""
    offsets = embedder.token_offsets(text)
    return text if len(offsets) <= room else text[: offsets[room - 1][1]]


def _joined(memory: Memory, fields: tuple[str, ...]) -> str:
    """Return the texts of fields, one a line; a field that repeats another word for word is left out."""
    texts = (str(text).strip() for name in fields for text in field_texts(getattr(memory, name)))
    return "\n".join(dict.fromkeys(filter(None, texts)))
