import pytest

from search.query import EMPTY, And, Field, FieldName, Not, NoteCode, Or, Phrase, Prefix, Word, parse, to_text
from search.query.parser import MAX_DEPTH, MAX_LENGTH, MAX_VALUES, MAX_WORDS

A, B, C = Word("a"), Word("b"), Word("c")


def field(name: str, *values: str) -> Field:
    return Field(FieldName(name), values)


def codes(text: str) -> list[NoteCode]:
    return [note.code for note in parse(text).notes]


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", EMPTY),
        (" \t\n\u3000", EMPTY),
        ("a", A),
        ("a b", And((A, B))),
        ("a\u00a0b\u3000c", And((A, B, C))),
        ("a AND b", And((A, B))),
        ("a and b", And((A, Word("and"), B))),
        ("a OR b", Or((A, B))),
        ("a | b", Or((A, B))),
        ("a|b", Word("a|b")),
        ("a || b", And((A, Word("||"), B))),
        ("a or b", And((A, Word("or"), B))),
        ("a b OR c", Or((And((A, B)), C))),
        ("a OR b c", Or((A, And((B, C))))),
        ("a (b OR c)", And((A, Or((B, C))))),
        ("(a OR b) OR c", Or((A, B, C))),
        ("(a)(b)", And((A, B))),
        ("((a))", A),
        ("()", EMPTY),
        ("a ()", A),
        ("-a", Not(A)),
        ("a -b", And((A, Not(B)))),
        ("-(a OR b)", Not(Or((A, B)))),
        ("-(-a)", A),
        ("-(-(-a))", Not(A)),
        ('-"a b"', Not(Phrase("a b"))),
        ("-a*", Not(Prefix("a"))),
        ("-type:x", Not(field("type", "x"))),
        ("a OR -b", Or((A, Not(B)))),
        ("-.env", Not(Word(".env"))),
        ("-🔥", Not(Word("🔥"))),
        ("-OR", Not(Phrase("OR"))),
        ("a*", Prefix("a")),
        ("a**", Prefix("a")),
        ("a*b", Word("a*b")),
        ("*", Word("*")),
        ("*.ts", Word("*.ts")),
        ('"rate lim"*', Prefix("rate lim")),
        ('"a "*', Prefix("a")),
        ('"a"*b', And((Phrase("a"), Word("*b")))),
    ],
)
def test_operators_make_the_tree(text, tree):
    assert parse(text).tree == tree
    assert parse(text).notes == ()


@pytest.mark.parametrize(
    "word",
    [
        "don't", "don\u2019t", "Downloads/transcripts", "src/a.ts", "~/Downloads", "v10.6.3", "@nasa", "#123", "a=b",
        "50%", "[br]", "x\\y", "a,b", "a;b", "why?", "hi!", "<x>", "C++", "C#", "ops@example.org", "foo-bar", "foo-",
        "a->b", "{x}", "$HOME", "a_b", "'x'", "http://x", "foo:bar", "std::vector", "C:\\dir", "12:30", "::", ":x",
        "mytype:x",
        "--no-verify", "--flag=x", "---x", "--", "->", "=>", "!=", "useState()", "f(x)", "f(g(x),y)[0]",
        "--f(x)", "用户身份", "🔥", "\x00", "\ud800", "OReilly", "ORDER", "N'OR", "«x»",
    ],
)  # fmt: skip
def test_word_with_signs_is_one_word(word):
    assert parse(word).tree == Word(word)
    assert parse(word).notes == ()


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ('"a b"', Phrase("a b")),
        ("“a b”", Phrase("a b")),
        ("„a b“", Phrase("a b")),
        ('“a b"', Phrase("a b")),
        ('"say “hi” now"', Phrase("say “hi” now")),
        ('"a""b"', Phrase('a"b')),
        ('""', EMPTY),
        ('" "', EMPTY),
        ('a "" b', And((A, B))),
        ('-""', EMPTY),
        ('" a "', Phrase("a")),
        ('"a"b', And((Phrase("a"), B))),
        ('a"b"', And((A, Phrase("b")))),
        ('"a" OR "b"', Or((Phrase("a"), Phrase("b")))),
        ('"OR"', Phrase("OR")),
        ('"AND"', Phrase("AND")),
        ('"|"', Phrase("|")),
        ('"-x"', Phrase("-x")),
        ('"type:bugfix"', Phrase("type:bugfix")),
        ('"("', Phrase("(")),
        ('"a*"', Phrase("a*")),
        ('"a\nb"', Phrase("a\nb")),
        ('foo:"a b"', And((Word("foo:"), Phrase("a b")))),
        ('-"--no-verify"', Not(Phrase("--no-verify"))),
    ],
)
def test_quotes_make_phrases(text, tree):
    assert parse(text).tree == tree
    assert parse(text).notes == ()


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("type:bugfix", field("type", "bugfix")),
        ("TYPE:bugfix", field("type", "bugfix")),
        ("type:bugfix,feature", field("type", "bugfix", "feature")),
        ("type:bugfix,", field("type", "bugfix")),
        ("type:bugfix, feature", And((field("type", "bugfix"), Word("feature")))),
        ("type:a,a", field("type", "a")),
        ("type:a type:b", And((field("type", "a"), field("type", "b")))),
        ("project:Web-API", field("project", "Web-API")),
        ('project:"my app"', field("project", "my app")),
        ("project:“my app”", field("project", "my app")),
        ('project:"my app",x,"a,b"', field("project", "my app", "x", "a,b")),
        ('project:""', field("project", "")),
        ('project:"",x', field("project", "", "x")),
        ('project:" x "', field("project", " x ")),
        ('project:"say ""hi"""', field("project", 'say "hi"')),
        ('project:"OR"', field("project", "OR")),
        ("project:OR", field("project", "OR")),
        ("project:-x", field("project", "-x")),
        ("project:a/b", field("project", "a/b")),
        ("file:src/(group)/page.tsx", field("file", "src/(group)/page.tsx")),
        ("file:(group)/page.tsx", field("file", "(group)/page.tsx")),
        ("file:src/**", field("file", "src/**")),
        ("file:C:\\dir", field("file", "C:\\dir")),
        ("(type:a OR tag:b) x", And((Or((field("type", "a"), field("tag", "b"))), Word("x")))),
        ("kind:observation", field("kind", "observation")),
        ("kind:o,S,prompts,Drawer", field("kind", "observation", "summary", "prompt", "drawer")),
        ("is:Archived,noise", field("is", "archived", "noise")),
        ("id:o12,#12,12,S45,#S45", field("id", "o12", "#12", "12", "S45", "#S45")),
        ("before:2026-01-20T10:00:00,5Z", field("before", "2026-01-20T10:00:00,5Z")),
        ('after:"2026-01-20 10:00"', field("after", "2026-01-20 10:00")),
        ("concept:gotcha", field("concept", "gotcha")),
        ("session:s-1", field("session", "s-1")),
        ("platform:claude", field("platform", "claude")),
        ("room:auth", field("room", "auth")),
        ("agent:opus", field("agent", "opus")),
    ],
)
def test_fields_hold_their_values(text, tree):
    assert parse(text).tree == tree
    assert parse(text).notes == ()


@pytest.mark.parametrize(
    ("text", "tree", "code"),
    [
        ('a "b c', And((A, Phrase("b c"))), NoteCode.UNCLOSED_QUOTE),
        ("a “b c", And((A, Phrase("b c"))), NoteCode.UNCLOSED_QUOTE),
        ('a "', A, NoteCode.UNCLOSED_QUOTE),
        ('project:"my a', field("project", "my a"), NoteCode.UNCLOSED_QUOTE),
        ("(a OR b", Or((A, B)), NoteCode.UNCLOSED_GROUP),
        ("(", EMPTY, NoteCode.UNCLOSED_GROUP),
        ("f(a b", And((Word("f"), A, B)), NoteCode.UNCLOSED_GROUP),
        ("a) b", And((A, B)), NoteCode.STRAY_PARENTHESIS),
        (")", EMPTY, NoteCode.STRAY_PARENTHESIS),
        ("OR", Phrase("OR"), NoteCode.DANGLING_OPERATOR),
        ("OR a", And((Phrase("OR"), A)), NoteCode.DANGLING_OPERATOR),
        ("AND a", And((Phrase("AND"), A)), NoteCode.DANGLING_OPERATOR),
        ("| a", A, NoteCode.DANGLING_OPERATOR),
        ("a OR", A, NoteCode.DANGLING_OPERATOR),
        ("a AND", A, NoteCode.DANGLING_OPERATOR),
        ("(a OR) b", And((A, B)), NoteCode.DANGLING_OPERATOR),
        ("a OR OR b", Or((A, B)), NoteCode.DANGLING_OPERATOR),
        ("a AND OR b", Or((A, B)), NoteCode.DANGLING_OPERATOR),
        ("a - b", And((A, Word("-"), B)), NoteCode.LONE_MINUS),
        ("-", Word("-"), NoteCode.LONE_MINUS),
        ("(a -)", And((A, Word("-"))), NoteCode.LONE_MINUS),
        ("a NOT b", And((A, Word("NOT"), B)), NoteCode.CAPITAL_NOT),
        ("NOT a", And((Word("NOT"), A)), NoteCode.CAPITAL_NOT),
        ("a AND NOT b", And((A, Word("NOT"), B)), NoteCode.CAPITAL_NOT),
        ("a NOT type:x", And((A, Word("NOT"), field("type", "x"))), NoteCode.CAPITAL_NOT),
        ('a NOT"b c"', And((A, Word("NOT"), Phrase("b c"))), NoteCode.CAPITAL_NOT),
        ("a NOT (b OR c)", And((A, Word("NOT"), Or((B, C)))), NoteCode.CAPITAL_NOT),
        ("a NOT(b)", And((A, Word("NOT(b)"))), NoteCode.CAPITAL_NOT),
        ("type:", Word("type:"), NoteCode.EMPTY_FIELD),
        ("type:,", Word("type:,"), NoteCode.EMPTY_FIELD),
        ("a type: b", And((A, Word("type:"), B)), NoteCode.EMPTY_FIELD),
        ("type:(a OR b)", And((Word("type:"), Or((A, B)))), NoteCode.EMPTY_FIELD),
        ('project:"', Phrase("project:"), NoteCode.EMPTY_FIELD),
        ("kind:foo", Word("kind:foo"), NoteCode.WRONG_VALUE),
        ("-kind:foo", Not(Word("kind:foo")), NoteCode.WRONG_VALUE),
        ("kind:o,foo", Word("kind:o,foo"), NoteCode.WRONG_VALUE),
        ('kind:"a b"', Phrase("kind:a b"), NoteCode.WRONG_VALUE),
        ("is:blue", Word("is:blue"), NoteCode.WRONG_VALUE),
        ("before:soon", Word("before:soon"), NoteCode.WRONG_VALUE),
        ("after:2026,2027", Word("after:2026,2027"), NoteCode.WRONG_VALUE),
        ("id:x", Word("id:x"), NoteCode.WRONG_VALUE),
    ],
)
def test_what_cannot_be_parsed_is_words_and_a_note(text, tree, code):
    assert parse(text).tree == tree
    assert codes(text) == [code]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a OR", "OR has nothing after it, so it was left out."),
        ("OR a", "OR has nothing before it, so it was searched as a word."),
        ("| a", "| has nothing before it, so it was left out."),
        ('"" OR a', "OR stands beside an empty quote or group, so it was left out."),
        ('a OR ""', "OR stands beside an empty quote or group, so it was left out."),
        ('"" OR ""', "OR stands beside an empty quote or group, so it was left out."),
        ("() OR a", "OR stands beside an empty quote or group, so it was left out."),
        ('a AND "" OR b', "AND stands beside an empty quote or group, so it was left out."),
        ("a NOT b", "NOT is a word like any other and excludes nothing; put a - right before a word, as in -draft."),
        ("type:", "type: has no value yet, so it was searched as a word."),
        (
            "kind:foo,o,bar",
            "kind: does not take “foo”, “bar”, so it was searched as words. "
            "Use observation, summary, prompt or drawer.",
        ),
        (
            "is:blue",
            "is: does not take “blue”, so it was searched as words. "
            "Use active, archived, trashed, pinned, superseded, wrong, noise, doubtful or any.",
        ),
        (
            "after:soon",
            "after: does not take “soon”, so it was searched as words. Use 2026-01-20, 2026-01, 2026, "
            "2026-01-20T14:30+01:00, an epoch in seconds or milliseconds, today, yesterday, 7d, 3w, 6m or 1y.",
        ),
        ("id:x", "id: does not take “x”, so it was searched as words. Use refs such as o12, S45, #12 or 12."),
    ],
)
def test_note_says_what_happened(text, message):
    assert [note.message for note in parse(text).notes] == [message]


@pytest.mark.parametrize(
    "text", ["a not b", "a Not b", "a NOT", "a NOT ", "a -NOT b", 'a "NOT" b', "NOTE b", "a NOT* b"]
)
def test_other_forms_of_not_are_no_surprise(text):
    assert parse(text).notes == ()


def test_note_shortens_a_long_value():
    (note,) = parse("is:" + "x" * 500).notes
    assert len(note.message) < 250


def test_same_note_is_said_once():
    assert codes("a)))) - - -") == [NoteCode.STRAY_PARENTHESIS, NoteCode.LONE_MINUS]


@pytest.mark.parametrize(
    ("text", "ends_open"),
    [
        ("logi", True),
        ("a logi", True),
        ("a OR logi", True),
        ("(a OR logi", True),
        ("foo(x)", True),
        ("foo:bar", True),
        ("type:", True),
        ("kind:f", True),
        ("--fl", True),
        ("", False),
        ("logi ", False),
        ("logi\n", False),
        ('"logi"', False),
        ('"logi', False),
        ("(logi)", False),
        ("logi(", False),
        ("logi*", False),
        ("type:bug", False),
        ("a OR", False),
        ("a -", False),
        ("-logi", False),
        ("-(a logi", False),
    ],
)
def test_ends_open_after_a_bare_word_only(text, ends_open):
    assert parse(text).ends_open is ends_open


def test_parsed_query_keeps_the_text_as_typed():
    assert parse("  a  OR b ").text == "  a  OR b "


def test_words_beyond_the_limit_are_counted():
    parsed = parse(" ".join(f"w{i}" for i in range(MAX_WORDS + 10)))
    assert parsed.tree == And(tuple(Word(f"w{i}") for i in range(MAX_WORDS)))
    assert [note.message for note in parsed.notes] == [
        "Only the first 64 words of the search were used; 10 more were left out."
    ]
    assert parsed.ends_open is False


def test_words_of_a_phrase_count_and_it_is_shortened():
    parsed = parse('x "' + " ".join(f"w{i}" for i in range(MAX_WORDS)) + '" y OR z')
    assert parsed.tree == And((Word("x"), Phrase(" ".join(f"w{i}" for i in range(MAX_WORDS - 1)))))
    assert [note.message for note in parsed.notes] == [
        "Only the first 64 words of the search were used; 3 more were left out."
    ]


def test_field_behind_too_many_words_still_filters():
    parsed = parse("x " * 100 + "project:web")
    assert isinstance(parsed.tree, And)
    assert parsed.tree.nodes[-1] == field("project", "web")


def test_values_beyond_the_limit_are_counted():
    parsed = parse("id:" + ",".join(str(i) for i in range(MAX_VALUES + 1)))
    assert parsed.tree == field("id", *(str(i) for i in range(MAX_VALUES)))
    assert [note.message for note in parsed.notes] == [
        "Only the first 64 values of fields were used; 1 more was left out."
    ]


def test_groups_beyond_the_depth_limit_lose_their_parentheses():
    def nested(depth: int) -> str:
        return "-(a " * depth + "b" + ")" * depth

    assert codes(nested(MAX_DEPTH)) == []
    assert codes(nested(MAX_DEPTH + 5)) == [NoteCode.TOO_DEEP]
    assert codes("(" * 5000 + "a" + ")" * 4999) == [NoteCode.TOO_DEEP, NoteCode.UNCLOSED_GROUP]
    assert parse("(" * 1000 + "a OR b" + ")" * 1000 + " c").tree == And((Or((A, B)), C))


def test_long_text_is_cut():
    parsed = parse("a" + " " * MAX_LENGTH + "b")
    assert parsed.tree == A
    assert [note.message for note in parsed.notes] == [
        "The search is too long; only its beginning was used, at most 10,000 characters."
    ]


@pytest.mark.parametrize(
    "piece",
    ["x ", "(", ")", "a(", "-(", "-(-", '"', "“", '"a', '"a"**', "type:", "type:,", 'type:"', "is:x ", "a OR ", "|",
     "a", "用户身份", "at foo(bar.js:12)\n", "\x00", "\ud800 ", 'kind:"" ', '"a b'],
)  # fmt: skip
def test_huge_text_has_a_tree_that_survives_the_round_trip(piece):
    tree = parse(piece * (200_000 // len(piece))).tree
    assert parse(to_text(tree)).tree == tree
