"""The page about the query language: the same text as in the documentation."""

import re
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.utils.text import slugify

from memweb.reading import read_only
from memweb.rendering import render_markdown

# In the file a paragraph is broken where its lines end; in a memory such a break is meant.
_LINE_END = re.compile(r"(?<![\n|])\n(?: {2,3})?(?![\n|#>`\s-]|\d+\.)")
_LINK_TO_A_FILE = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]+\)")


@dataclass(frozen=True, slots=True)
class Section:
    id: str
    title: str
    html: SafeString


@read_only
def syntax(request: HttpRequest) -> HttpResponse:
    """What may be typed into the search box."""
    introduction, sections = _document()
    return render(request, "search/syntax.html", {"introduction": introduction, "sections": sections})


@cache
def _document() -> tuple[SafeString, tuple[Section, ...]]:
    text = (settings.BASE_DIR / "docs" / "search-syntax.md").read_text(encoding="utf-8")
    text = _LINE_END.sub(" ", _LINK_TO_A_FILE.sub(r"\1", text))
    introduction, *parts = re.split(r"^## ", text, flags=re.MULTILINE)
    sections = []
    for part in parts:
        title, _, body = part.partition("\n")
        # The renderer puts headings two levels down, below those of a memory's page.
        html = render_markdown(re.sub(r"^###", "#", body, flags=re.MULTILINE))
        sections.append(Section(slugify(title), title, html))
    return render_markdown(introduction.partition("\n")[2]), tuple(sections)
