"""Tokens of texts: the tokenizers of models, and an estimate where there is none."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from search.vectors.embedding import EmbedderUnavailable

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# Up to four letters or digits of scripts with words of many letters; otherwise each character for itself. Real
# tokenizers make fewer tokens of nearly every text, so what fits by this estimate fits.
_PIECE = re.compile(r"[0-9A-Za-z\u00c0-\u052f]{1,4}|\S")


def load_tokenizer(path: Path) -> "Tokenizer":
    """Return the tokenizer of a file, neither padding nor cutting. Raises EmbedderUnavailable."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise EmbedderUnavailable("tokenizers is missing or broken; run `make install`") from error
    tokenizer = Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def plain(text: str) -> str:
    """Return the text with every half of a surrogate pair replaced, which no tokenizer takes; as long as before."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode(errors="replace").decode()
    return text


def estimated_offsets(text: str) -> list[tuple[int, int]]:
    """Return where pieces of the text begin and end that are about as long as tokens."""
    return [match.span() for match in _PIECE.finditer(text)]


def has_words(text: str) -> bool:
    """Return whether there is any letter or digit in a text."""
    return any(character.isalnum() for character in text)
