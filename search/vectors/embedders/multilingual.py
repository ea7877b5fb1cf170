"""multilingual-e5-small with weights of 4 bits: for memories in other languages than English."""

import unicodedata
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from search.vectors.embedders.e5_file import E5File
from search.vectors.embedders.e5_graph import INPUT, OUTPUT, build_graph, unpacked
from search.vectors.embedders.onnx import open_session
from search.vectors.embedders.query_cache import QueryCache
from search.vectors.embedders.tokens import has_words, plain
from search.vectors.embedders.workers import Workers
from search.vectors.embedding import Embedded, EmbedderUnavailable, Vectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

# The model was trained with these words before every text.
QUERY, DOCUMENT = "query: ", "passage: "


class MultilingualE5:
    """A vector is the mean of all token states. The states themselves are not given: nothing was measured with them."""

    name = "multilingual-e5-small-q4"
    dimension = 384
    state_width = 0

    def __init__(self, folder: Path, threads: int | None = None) -> None:
        try:
            file = E5File(folder / "e5-small-q4.bin")
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise EmbedderUnavailable(f"the model multilingual cannot be read: {reason}") from error
        self._file = file
        self._session = open_session(build_graph(file))
        self._tokenizer = _tokenizer(file)
        self._words = file.blocks("emb.word", file.width)
        # What each position adds; every token is of type 0.
        self._positions = file.floats("emb.pos").reshape(-1, file.width) + file.floats("emb.type")[: file.width]
        self._prefixes = {prefix: self._tokens(prefix) for prefix in (QUERY, DOCUMENT)}
        self.max_tokens = file.positions - 2 - max(map(len, self._prefixes.values()))
        self._workers = Workers(threads)
        self._query = QueryCache(lambda text: Embedded(self._embed(QUERY, text)[np.newaxis], None))

    def embed_documents(self, texts: Sequence[str]) -> Embedded:
        made = self._workers.map(lambda text: self._embed(DOCUMENT, text), texts)
        return Embedded(np.array(made, dtype=np.float32).reshape(len(texts), self.dimension), None)

    def embed_query(self, text: str) -> Embedded:
        return self._query(text)

    def count_tokens(self, text: str) -> int:
        return len(self._tokens(text))

    def reads(self, text: str) -> bool:
        ids = self._tokens(text)
        known = len(ids) - ids.count(self._file.unknown)
        return has_words(text) and 2 * known > len(ids)

    def token_offsets(self, text: str) -> list[tuple[int, int]]:
        table = self._file.normalization
        lengths = [len(table.get(ord(character), character)) for character in text]
        # Which character of the text each of the normalized text comes from.
        origin = np.repeat(np.arange(len(text)), lengths).tolist()
        encoded = self._tokenizer.encode(plain(text).translate(table), add_special_tokens=False)
        return [(origin[start], origin[end - 1] + 1) for start, end in encoded.offsets if start < end]

    def _tokens(self, text: str) -> list[int]:
        normal = unicodedata.normalize("NFC", plain(text)).translate(self._file.normalization)
        ids: list[int] = self._tokenizer.encode(normal, add_special_tokens=False).ids
        return ids

    def _embed(self, prefix: str, text: str) -> Vectors:
        file = self._file
        tokens = [file.first, *self._prefixes[prefix], *self._tokens(text)[: self.max_tokens], file.last]
        embeddings = unpacked(self._words[tokens]) + self._positions[: len(tokens)]
        states = self._session.run([OUTPUT], {INPUT: embeddings[np.newaxis]})[0][0]
        mean = states.mean(axis=0)
        vector: Vectors = mean / np.linalg.norm(mean)
        return vector


def _tokenizer(file: E5File) -> "Tokenizer":
    """Return the tokenizer of XLM-RoBERTa over normalized text. Raises EmbedderUnavailable."""
    try:
        from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers
    except ImportError as error:
        raise EmbedderUnavailable("tokenizers is missing or broken; run `make install`") from error
    tokenizer = Tokenizer(models.Unigram(file.pieces(), unk_id=file.unknown, byte_fallback=False))
    # As SentencePiece, with which the model was trained, treats blanks.
    tokenizer.normalizer = normalizers.Sequence([normalizers.Replace(Regex(" {2,}"), " "), normalizers.Strip()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    return tokenizer
