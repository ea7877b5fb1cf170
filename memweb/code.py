"""Code in memories -> HTML with a class for each sort of token, for style sheets that know both themes."""

import re
from functools import cache
from html import escape

from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

# Longer code is shown as it is: lexers may take long for hostile texts.
LONGEST_CODE = 20_000
PREFIX = "hl-"
TOKEN_CLASS = re.compile(rf"{PREFIX}[a-z][a-z0-9]{{0,3}}")
# Plain text, names and white space look like the code around them.
_PLAIN = {"", "n", "p", "w", "x"}


def highlight_code(code: str, language: str) -> str:
    """Return code as escaped HTML with spans of classes `hl-…`; empty when the language is unknown or it is long."""
    lexer = _lexer(language.strip().lower()[:40])
    if lexer is None or len(code) > LONGEST_CODE:
        return ""
    parts = []
    for kind, text in lexer.get_tokens(code):
        name = STANDARD_TYPES.get(kind) or STANDARD_TYPES.get(kind.parent, "")
        safe = escape(text, quote=False)
        parts.append(safe if name in _PLAIN else f'<span class="{PREFIX}{name}">{safe}</span>')
    return "".join(parts)


@cache
def _known_lexer(language: str) -> Lexer:
    return get_lexer_by_name(language, stripnl=False, ensurenl=False)


def _lexer(language: str) -> Lexer | None:
    if not language:
        return None
    try:
        return _known_lexer(language)
    except ClassNotFound:
        return None
