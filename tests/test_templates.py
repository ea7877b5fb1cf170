"""Error pages can be shown when little else works."""

import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.template.loader import get_template

TEMPLATES = Path(__file__).resolve().parents[1] / "templates"


@pytest.mark.parametrize(
    ("code", "heading"),
    [
        ("400", "This request makes no sense"),
        ("403", "You may not do this"),
        ("403_csrf", "You may not do this"),
        ("404", "There is nothing here"),
        ("410", "This memory is gone"),
        ("500", "memweb made a mistake"),
        ("503", "memweb cannot answer now"),
    ],
)
def test_error_pages_need_no_context(code: str, heading: str) -> None:
    soup = BeautifulSoup(get_template(f"{code}.html").render(), "html.parser")
    assert [one.get_text() for one in soup.find_all("h1")] == [heading]
    assert soup.title is not None
    assert soup.title.get_text() == f"{heading} · memweb"
    assert [link["href"] for link in soup.select("main a")] == ["/"]


def test_error_pages_escape_their_message() -> None:
    html = get_template("404.html").render({"message": "<b>x9</b> is no memory"})
    soup = BeautifulSoup(html, "html.parser")
    assert soup.select_one("main b") is None
    assert "<b>x9</b> is no memory" in soup.get_text()


@pytest.mark.parametrize("path", sorted(TEMPLATES.rglob("*.html")), ids=lambda path: str(path.relative_to(TEMPLATES)))
def test_templates_hold_nothing_that_the_policy_forbids(path: Path) -> None:
    soup = BeautifulSoup(re.sub(r"{%.*?%}|{{.*?}}", "", path.read_text()), "html.parser")
    assert soup.find_all("style") == []
    assert [script for script in soup.find_all("script") if not script.has_attr("src")] == []
    assert [
        tag.name for tag in soup.find_all(True) for name in tag.attrs if name == "style" or name.startswith("on")
    ] == []
    assert [tag.name for tag in soup.find_all(True) for name in tag.attrs if name.startswith("hx-on")] == []
