import pytest

from search.query import EMPTY, And, Field, FieldName, Not, Or, Phrase, Prefix, Word, normalize, parse, to_text

A, B, C = Word("a"), Word("b"), Word("c")


@pytest.mark.parametrize(
    ("tree", "normal"),
    [
        (And((A,)), A),
        (Or((A,)), A),
        (And(()), EMPTY),
        (Or(()), EMPTY),
        (Not(EMPTY), EMPTY),
        (And((And((A, B)), C)), And((A, B, C))),
        (Or((A, Or((B, C)))), Or((A, B, C))),
        (And((Or((And((A,)),)), B)), And((A, B))),
        (Not(Not(A)), A),
        (Not(And((Not(A),))), A),
        (Not(Not(Not(A))), Not(A)),
        (And((A, Word(" "), Phrase(""), Prefix(""), Field(FieldName.TYPE, ()))), A),
        (Word("OR"), Phrase("OR")),
        (Word("a b"), Phrase("a b")),
        (Word("-a"), Phrase("-a")),
        (Word("a*"), Phrase("a*")),
        (Word("type:x"), Phrase("type:x")),
        (Word("a(b"), Phrase("a(b")),
        (Word("--a"), Word("--a")),
        (Not(Word("--a")), Not(Phrase("--a"))),
        (Phrase(" a "), Phrase("a")),
        (Field(FieldName.KIND, ("o", "Observations")), Field(FieldName.KIND, ("observation",))),
        (Field(FieldName.TYPE, ("b", "a", "b")), Field(FieldName.TYPE, ("b", "a"))),
    ],
)
def test_normalize_gives_the_canonical_tree(tree, normal):
    assert normalize(tree) == normal


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("  a   b ", "a b"),
        ("a AND b", "a b"),
        ("a | b", "a OR b"),
        ("(a b) OR (c)", "a b OR c"),
        ("(a OR b) c", "(a OR b) c"),
        ("-(a b)", "-(a b)"),
        ("-((a))", "-a"),
        ("-(a OR b)", "-(a OR b)"),
        ("a OR -(b OR c)", "a OR -(b OR c)"),
        ("“a b”", '"a b"'),
        ('"a"', '"a"'),
        ('"a"*', "a*"),
        ('"a b"*', '"a b"*'),
        ('"OR"*', "OR*"),
        ('"type:"*', '"type:"*'),
        ('-"-"*', '-"-"*'),
        ('"a""b"', '"a""b"'),
        ('project:"web"', "project:web"),
        ('project:"a b","c,d",e', 'project:"a b","c,d",e'),
        ('project:""', 'project:""'),
        ('project:"(a"', 'project:"(a"'),
        ('project:"f(a)"', "project:f(a)"),
        ("PROJECT:Web", "project:Web"),
        ("kind:o", "kind:observation"),
        ('before:"2026-01-20 10:00"', 'before:"2026-01-20 10:00"'),
        ("a OR", "a"),
        ("", ""),
    ],
)
def test_to_text_is_minimal(typed, written):
    assert to_text(parse(typed).tree) == written
