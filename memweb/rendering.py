"""Markdown of memories -> HTML that is safe to show.

What agents remember is foreign text: pasted pages, logs, other people's code. Two walls stand between it and the page:
markdown-it writes no raw HTML and no address but http, https and mailto, and nh3 lets only the listed elements through.
Nothing in the result loads anything: an image becomes its words.
"""

from collections.abc import Sequence
from functools import cache
from urllib.parse import urlsplit

import nh3
from django.utils.html import escape, format_html
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from memweb.code import TOKEN_CLASS, highlight_code
from search.analysis import clean

# Longer or deeper texts are shown as they are. Of this length the most hostile text known takes a second or two.
LONGEST_MARKDOWN = 30_000
DEEPEST_MARKDOWN = 40
LINK_SCHEMES = frozenset({"http", "https", "mailto"})
_BLOCKS = "p h3 h4 h5 h6 ul ol li blockquote pre code hr table thead tbody tr th td"
_ELEMENTS = frozenset(f"{_BLOCKS} a em strong s br span".split())
_ATTRIBUTES = {"a": {"href", "title"}, "ol": {"start"}, "span": {"class"}}


def render_markdown(text: str) -> SafeString:
    """Return the text as HTML without scripts, foreign resources, control or direction characters.

    Links have only the schemes of LINK_SCHEMES; anything else stays readable as it was typed. Headings begin at h3,
    below those of the page. A text of more than LONGEST_MARKDOWN characters, or nested deeper than DEEPEST_MARKDOWN
    elements, comes back whole as one `<pre class="plain">`.
    """
    text = clean(text)
    tokens = _parser().parse(text) if len(text) <= LONGEST_MARKDOWN else None
    # At its limit markdown-it drops what lies deeper.
    if tokens is None or any(token.level >= DEEPEST_MARKDOWN - 1 for token in tokens):
        return format_html('<pre class="plain">{}</pre>', text)
    html = nh3.clean(
        _parser().renderer.render(tokens, _parser().options, {}),
        tags=set(_ELEMENTS),
        attributes={name: set(values) for name, values in _ATTRIBUTES.items()},
        url_schemes=set(LINK_SCHEMES),
        link_rel="noopener noreferrer nofollow",
        allowed_classes=None,
        attribute_filter=_only_own_class,
    )
    return mark_safe(html)  # noqa: S308 - this is what nh3 let through


@cache
def _parser() -> MarkdownIt:
    # A new line in what an agent or a person typed is meant, hence breaks.
    parser = MarkdownIt("commonmark", {"html": False, "linkify": False, "breaks": True, "maxNesting": DEEPEST_MARKDOWN})
    parser.enable(["table", "strikethrough"])
    parser.options["highlight"] = _highlighted
    parser.validateLink = _is_allowed_link  # type: ignore[method-assign]
    parser.add_render_rule("image", _image_as_text)
    parser.add_render_rule("heading_open", _heading_below_page)
    parser.add_render_rule("heading_close", _heading_below_page)
    return parser


def _is_allowed_link(url: str) -> bool:
    try:
        return urlsplit(url.strip()).scheme.lower() in LINK_SCHEMES
    except ValueError:
        return False


def _image_as_text(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    image = tokens[index]
    words = renderer.renderInlineAsText(image.children, options, env) or "image"
    return f'<span class="image">{escape(words)} ({escape(image.attrGet("src") or "")})</span>'


def _heading_below_page(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: OptionsDict, env: EnvType
) -> str:
    heading = tokens[index]
    heading.tag = f"h{min(int(heading.tag[1]) + 2, 6)}"
    return renderer.renderToken(tokens, index, options, env)


def _highlighted(code: str, language: str, attributes: str) -> str:
    return highlight_code(code, language)


def _only_own_class(element: str, attribute: str, value: str) -> str | None:
    is_own = value == "image" or TOKEN_CLASS.fullmatch(value)
    return None if element == "span" and attribute == "class" and not is_own else value
