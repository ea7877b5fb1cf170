import pytest

from search.query import (
    Field,
    FieldName,
    Not,
    Phrase,
    Word,
    add_field,
    fields,
    has_field,
    open_last_word,
    parse,
    positive_words,
    remove_field,
    remove_node,
    to_text,
    toggle_field,
)


@pytest.mark.parametrize(
    ("text", "name", "value", "edited"),
    [
        ("", "type", "bugfix", "type:bugfix"),
        ("login", "type", "bugfix", "login type:bugfix"),
        ("login type:bugfix x", "type", "feature", "login type:bugfix,feature x"),
        ("type:bugfix", "type", "bugfix", "type:bugfix"),
        ("a OR b", "type", "bugfix", "(a OR b) type:bugfix"),
        ("-type:bugfix", "type", "feature", "-type:bugfix type:feature"),
        ("a OR type:x", "type", "y", "(a OR type:x) type:y"),
        ("x", "project", "", 'x project:""'),
        ("x", "project", 'my "app"', 'x project:"my ""app"""'),
        ("kind:o", "kind", "p", "kind:observation,prompt"),
        ("kind:o", "kind", "observations", "kind:observation"),
        ("after:2025", "after", "2026", "after:2026"),
        ("after:2025 x after:2024", "after", "2026", "after:2026 x"),
        ('"OR"', "tag", "OR", '"OR" tag:OR'),
    ],
)
def test_add_field_adds_a_value(text, name, value, edited):
    assert to_text(add_field(parse(text).tree, name, value)) == edited


@pytest.mark.parametrize(
    ("name", "value"), [("colour", "x"), ("kind", "x"), ("is", ""), ("after", "soon"), ("id", "x")]
)
def test_add_field_refuses_what_the_field_does_not_take(name, value):
    with pytest.raises(ValueError, match=name):
        add_field(Word("a"), name, value)


@pytest.mark.parametrize(
    ("text", "name", "value", "edited"),
    [
        ("login type:bugfix", "type", "bugfix", "login"),
        ("type:bugfix,feature", "type", "bugfix", "type:feature"),
        ("type:bugfix", "type", "bugfix", ""),
        ("type:a x type:a,b", "type", "a", "x type:b"),
        ("type:a", "type", "A", "type:a"),
        ("-type:a", "type", "a", "-type:a"),
        ("x OR type:a", "type", "a", "x OR type:a"),
        ('project:"",x', "project", "", "project:x"),
        ("kind:o,p", "kind", "O", "kind:prompt"),
        ("x", "kind", "nonsense", "x"),
    ],
)
def test_remove_field_removes_a_value(text, name, value, edited):
    assert to_text(remove_field(parse(text).tree, name, value)) == edited


def test_toggle_field_goes_there_and_back():
    tree = parse("login type:feature").tree
    toggled = toggle_field(tree, "type", "bugfix")
    assert to_text(toggled) == "login type:feature,bugfix"
    assert toggle_field(toggled, FieldName.TYPE, "bugfix") == tree


@pytest.mark.parametrize(
    ("text", "name", "value", "has"),
    [
        ("type:a,b", "type", "b", True),
        ("x type:a", "type", "a", True),
        ("type:a", "type", "A", False),
        ("type:a", "tag", "a", False),
        ("-type:a", "type", "a", False),
        ("x OR type:a", "type", "a", False),
        ("kind:o", "kind", "observations", True),
        ('project:""', "project", "", True),
        ("x", "project", "", False),
    ],
)
def test_has_field_looks_at_the_top_level(text, name, value, has):
    assert has_field(parse(text).tree, name, value) is has


def test_fields_are_those_of_the_top_level():
    tree = parse("x type:a (tag:b OR tag:c) -room:d -(agent:e y)").tree
    assert list(fields(tree)) == [(Field(FieldName.TYPE, ("a",)), False), (Field(FieldName.ROOM, ("d",)), True)]
    assert list(fields(Field(FieldName.TAG, ("b",)))) == [(Field(FieldName.TAG, ("b",)), False)]


@pytest.mark.parametrize(
    ("text", "node", "edited"),
    [
        ("a b", Word("a"), "b"),
        ("a", Word("a"), ""),
        ("a b a", Word("a"), "b"),
        ("a (a OR b)", Word("a"), "a OR b"),
        ("c (a OR b)", Word("a"), "c b"),
        ("a -b", Not(Word("b")), "a"),
        ("a -(b c)", Word("b"), "a -c"),
        ("a -b", Word("b"), "a"),
        ('"a b" c', Phrase("a b"), "c"),
        ("a type:x,y", Field(FieldName.TYPE, ("x", "y")), "a"),
        ("a", Word("z"), "a"),
        ("a (b OR c)", parse("b OR c").tree, "a"),
    ],
)
def test_remove_node_removes_a_chip(text, node, edited):
    assert to_text(remove_node(parse(text).tree, node)) == edited


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ('a "b c" d* a', ["a", "b c", "d"]),
        ("a -b (c OR -(d e)) type:x", ["a", "c"]),
        ("-(-a)", ["a"]),
    ],
)
def test_positive_words_are_those_to_highlight(text, words):
    assert positive_words(parse(text).tree) == words


@pytest.mark.parametrize(
    ("text", "opened"),
    [
        ("a logi", "a logi*"),
        ("a OR b logi", "a OR b logi*"),
        ("(a OR logi", "a OR logi*"),
        ('a "b"', 'a "b"'),
        ("a -b", "a -b"),
        ("a type:b", "a type:b"),
        ("", ""),
    ],
)
def test_open_last_word_makes_it_a_prefix(text, opened):
    assert to_text(open_last_word(parse(text).tree)) == opened
