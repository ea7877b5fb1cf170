import pytest

from search.query import explain, parse


@pytest.mark.parametrize(
    ("text", "explanation"),
    [
        ("", "all memories"),
        ("login", "memories with “login”"),
        ('"rate limit"', "memories with the phrase “rate limit”"),
        ('"OR"', "memories with “OR”"),
        ("log*", "memories with words starting with “log”"),
        ("a b c", "memories with “a”, “b” and “c”"),
        ("a OR b", "memories with “a” or “b”"),
        ("a (b OR c)", "memories with “a” and (“b” or “c”)"),
        ("a b OR c", "memories with (“a” and “b”) or “c”"),
        ("a OR -b", "memories with “a” or not “b”"),
        ("-draft", "memories without “draft”"),
        ("a -b -c", "memories with “a”, without “b” or “c”"),
        ("-(b OR c)", "memories without “b” or “c”"),
        ("-(b c)", "memories without “b” and “c” together"),
        (
            'login "rate limit" -draft type:bugfix,feature project:web-api after:2026-01-01',
            "memories with “login” and the phrase “rate limit”, without “draft”, of type bugfix or feature, "
            "in project web-api, after 2026-01-01",
        ),
        ("type:a login", "memories with “login”, of type a"),
        ("-type:a", "memories not of type a"),
        ('project:"my app",x', "memories in project “my app” or x"),
        ('project:""', "memories in project (none)"),
        ("kind:o,p", "memories of kind observation or prompt"),
        ("is:trashed,noise", "memories in the trash or marked as noise"),
        ("is:any", "memories in any state"),
        ("-is:pinned", "memories not pinned"),
        ("is:doubtful", "memories of doubtful or unknown time"),
        ("concept:gotcha file:a.py session:s1", "memories about concept gotcha, touching file a.py, in session s1"),
        ("tag:x platform:y room:z agent:w", "memories tagged x, from platform y, in room z, by agent w"),
        ("before:2026 id:o1,o2", "memories before 2026, with ref o1 or o2"),
        ("a OR type:x", "memories either with “a” or of type x"),
        ("a type:x OR b", "memories either (with “a”, of type x) or with “b”"),
        ("c (a OR type:x)", "memories with “c”, either with “a” or of type x"),
        ("-(a type:x)", "memories not (with “a”, of type x)"),
    ],
)
def test_explanation_says_it_in_words(text, explanation):
    assert explain(parse(text).tree) == explanation
