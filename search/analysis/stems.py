"""English: stems, and the function words that a question holds but an answer need not."""

import re
from functools import lru_cache
from threading import Lock

import snowballstemmer

_FUNCTION_WORDS = """
    a about after again all also am an and any are as at be because been before being between both but by can could did
    do does doing down during each either else etc ever every few for from further had has have having he her here hers
    herself him himself his how i if in into is it its itself just me might more most much must my myself of off on once
    one only onto or other our ours ourselves out over own per please shall she should so some such than that the their
    theirs them themselves then there these they this those though through to too under until up upon us very was we
    were what when where whether which while who whom whose why will with within would yet you your yours yourself
    yourselves
"""
STOP_WORDS: frozenset[str] = frozenset(_FUNCTION_WORDS.split())

_STEMMABLE = re.compile(r"[a-z]{3,40}")
_stemmer = snowballstemmer.stemmer("english")
_stemmer_lock = Lock()  # the stemmer keeps the word it works on in itself


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the Snowball English stem of a folded word; function words and all that is not a-z stay as they are."""
    if word in STOP_WORDS or not _STEMMABLE.fullmatch(word):
        return word
    with _stemmer_lock:
        return _stemmer.stemWord(word)
