import pytest
from hypothesis import given, settings

from search.query import describe, normalize, parse
from tests.search.query.strategies import trees


@pytest.mark.parametrize(
    ("text", "total", "sentence"),
    [
        ("", 4162, "4,162 memories"),
        ("", 1, "1 memory"),
        ("login", 0, "No memories with “login”"),
        ("type:decision auth project:web-api after:2026-05", 12, "12 decisions with “auth” in web-api since May 2026"),
        ("type:bugfix", 1, "1 bugfix"),
        ("type:bugfix,Discovery", 2, "2 bugfixes or discoveries"),
        ("type:odd", 2, "2 memories of type odd"),
        ("kind:prompt,summary is:pinned", 3, "3 pinned prompts or session summaries"),
        ("kind:observation type:bugfix", 3, "3 bugfixes"),
        ("kind:prompt type:bugfix", 3, "3 memories of kind prompt of type bugfix"),
        ("type:fix type:test", 0, "No memories of type fix and of type test"),
        ("type:BUGFIX,bugfix", 2, "2 bugfixes"),
        ("after:2026-03 after:2026-03-09", 2, "2 memories since March 2026 and since 9 March 2026"),
        ("is:trashed", 2, "2 memories in the trash"),
        ("is:pinned,noise", 2, "2 memories pinned or marked as noise"),
        ("is:any kind:drawer", 2, "2 passages in any state"),
        ('"rate limit" log*', 2, "2 memories with the phrase “rate limit” and words starting with “log”"),
        ("login -draft", 2, "2 memories with “login”, without “draft”"),
        ("login -type:bugfix -project:a", 2, "2 memories with “login”, not of type bugfix, not in project a"),
        ("(a OR b) c", 2, "2 memories with “c”, with “a” or “b”"),
        ("c (a OR type:x)", 2, "2 memories with “c”, either with “a” or of type x"),
        ("concept:a concept:b", 2, "2 memories with concept a and with concept b"),
        ("file:a.py tag:t platform:claude", 2, "2 memories touching a.py tagged t from claude"),
        ("room:r agent:w session:s1 id:o1", 2, "2 memories in session s1 in room r by w with ref o1"),
        ('project:"my app",x', 2, "2 memories in “my app” or x"),
        ('project:""', 2, "2 memories in (none)"),
        ("after:2026-05-01", 2, "2 memories since 1 May 2026"),
        ("before:2026-05-01", 2, "2 memories until 1 May 2026"),
        ("after:2026-05-01 before:2026-05-03", 2, "2 memories from 1 May 2026 to 3 May 2026"),
        ("after:2026-05-01 before:2026-05-01", 2, "2 memories on 1 May 2026"),
        ("after:2026-05 before:2026-05", 2, "2 memories in May 2026"),
        ("after:2026 before:2026", 2, "2 memories in 2026"),
        ("after:today before:TODAY", 2, "2 memories today"),
        ("after:Yesterday", 2, "2 memories since yesterday"),
        ("after:7d", 2, "2 memories in the last 7 days"),
        ("after:1m", 2, "2 memories in the last month"),
        ("before:1y", 2, "2 memories until 1 year ago"),
        ("after:3w before:1d", 2, "2 memories from 3 weeks ago to 1 day ago"),
        ("after:2026-05-01T14:30+02:00", 2, "2 memories since 1 May 2026, 14:30+02:00"),
        ('after:"2026-05-01 14:30z"', 2, "2 memories since 1 May 2026, 14:30Z"),
        ("after:1768900000", 2, "2 memories since 1768900000"),
    ],
)
def test_sentence_says_what_is_shown(text, total, sentence):
    assert str(describe(parse(text).tree, total)) == sentence


def test_sentence_says_that_there_are_more():
    assert str(describe(parse("type:decision").tree, 5000, is_capped=True)) == "More than 5,000 decisions"
    assert str(describe(parse("x").tree, 1, is_capped=True)) == "More than 1 memories with “x”"


def test_sentence_says_when_words_were_not_required():
    tree = parse('login timeout "rate limit" type:bugfix').tree
    assert str(describe(tree, 2, by_meaning=True)) == "2 bugfixes about “login timeout” with the phrase “rate limit”"
    assert str(describe(tree, 2, with_any=True)) == ("2 bugfixes with “login”, “timeout” or the phrase “rate limit”")


@settings(max_examples=200, deadline=None)
@given(trees)
def test_every_tree_has_a_sentence_that_begins_with_its_number(tree):
    sentence = str(describe(tree, 1234))
    assert sentence.startswith("1,234 ")
    assert sentence == str(describe(normalize(tree), 1234))
