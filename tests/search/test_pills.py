"""Pills: each says what narrows or orders the result, and leaves out just that."""

from urllib.parse import parse_qs, urlsplit

import pytest

from search.pills import pills
from search.request import normalize_params


def shown(**params: object) -> list[tuple[str, str]]:
    """Return the label of each pill and the text of the query without it."""
    found = pills(normalize_params(params).request)
    return [(one.label, parse_qs(urlsplit(one.remove_url).query).get("q", [""])[0]) for one in found]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("login timeout", []),
        ("login type:bugfix", [("type: bugfix", "login")]),
        ("type:a,b x", [("type: a", "type:b x"), ("type: b", "type:a x")]),
        ("type:bugfix logi", [("type: bugfix", "logi")]),
        ('project:""', [("project: (empty)", "")]),
        ("x -type:a,b", [("not type: a", "x -type:b"), ("not type: b", "x -type:a")]),
        ("x -draft", [("without “draft”", "x")]),
        ('x -"rough draft"', [("without the phrase “rough draft”", "x")]),
        ("after:2026-05 before:7d", [("since May 2026", "before:7d"), ("until 7 days ago", "after:2026-05")]),
        ("after:2026 after:7d", [("since 2026", "after:7d"), ("since 7 days ago", "after:2026")]),
        ("after:7d -after:2d", [("since 7 days ago", "-after:2d"), ("not after: 2d", "after:7d")]),
        ("(a OR b) c", []),
        ("c (a OR type:x)", [("either with “a” or of type x", "c")]),
        ("c -(a type:x)", [("not (with “a”, of type x)", "c")]),
        ("type:a type:a,b", [("type: a", "type:b"), ("type: a", "type:b"), ("type: b", "type:a type:a")]),
    ],
)
def test_pills_leave_out_one_filter_each(query, expected):
    assert shown(q=query) == expected


def test_exclusions_are_told_apart():
    found = pills(normalize_params({"q": "type:a -type:b -c"}).request)
    assert [one.is_exclusion for one in found] == [False, True, True]


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"q": "x", "order": "newest"}, [("newest first", "/?q=x")]),
        ({"q": "x", "order": "relevance"}, []),
        ({"order": "newest"}, []),
        ({"order": "oldest"}, [("oldest first", "/")]),
        ({"q": "x", "mode": "semantic"}, [("by meaning only", "/?q=x")]),
        ({"q": "x", "mode": "keyword", "order": "oldest"}, [
            ("words only", "/?q=x&order=oldest"),
            ("oldest first", "/?q=x&mode=keyword"),
        ]),
        ({"q": "x", "max_distance": "0.4"}, [("distance up to 0.4", "/?q=x")]),
        ({"q": "x", "tags": "a,b"}, [("tag: a", "/?q=x&tag=b"), ("tag: b", "/?q=x&tag=a")]),
    ],
)  # fmt: skip
def test_what_stands_beside_the_text_has_pills_too(params, expected):
    assert [(one.label, one.remove_url) for one in pills(normalize_params(params).request)] == expected
