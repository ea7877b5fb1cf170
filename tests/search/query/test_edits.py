import pytest

from search.query import (
    Field,
    FieldName,
    Not,
    Phrase,
    Word,
    add_field,
    edited_text,
    exclude_field,
    fields,
    has_field,
    is_excluded,
    open_last_word,
    parse,
    positive_words,
    remove_exclusion,
    remove_field,
    remove_node,
    to_text,
    toggle_exclusion,
    toggle_field,
    with_period,
    without_fields,
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


@pytest.mark.parametrize(
    ("text", "name", "value", "edited"),
    [
        ("", "type", "bugfix", "-type:bugfix"),
        ("login type:bugfix", "type", "bugfix", "login -type:bugfix"),
        ("type:bugfix,feature", "type", "bugfix", "type:feature -type:bugfix"),
        ("-type:bugfix login", "type", "feature", "-type:bugfix,feature login"),
        ("-type:bugfix", "type", "bugfix", "-type:bugfix"),
        ("a OR b", "kind", "o", "(a OR b) -kind:observation"),
        ("x", "project", "", 'x -project:""'),
        ("-(type:a b)", "type", "a", "-(type:a b) -type:a"),
    ],
)
def test_exclude_field_adds_to_what_is_excluded(text, name, value, edited):
    tree = exclude_field(parse(text).tree, name, value)
    assert to_text(tree) == edited
    assert is_excluded(tree, name, value) is True
    assert has_field(tree, name, value) is False


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("login -type:bugfix,feature", "login -type:feature"),
        ("login -type:bugfix -type:bugfix,x", "login -type:x"),
        ("type:bugfix", "type:bugfix"),
        ("-(type:bugfix a)", "-(type:bugfix a)"),
    ],
)
def test_remove_exclusion_leaves_all_else(text, edited):
    assert to_text(remove_exclusion(parse(text).tree, "type", "bugfix")) == edited


def test_ticking_an_excluded_value_wants_it_instead():
    assert to_text(toggle_field(parse("a -type:bugfix,x").tree, "type", "bugfix")) == "a -type:x type:bugfix"


@pytest.mark.parametrize("edit", [exclude_field, toggle_exclusion])
def test_what_a_field_does_not_take_cannot_be_excluded(edit):
    with pytest.raises(ValueError, match="kind: does not take 'letter'"):
        edit(parse("").tree, "kind", "letter")


@pytest.mark.parametrize(
    ("text", "after", "before", "edited"),
    [
        ("login", "2026-01", "2026-02", "login after:2026-01 before:2026-02"),
        ("after:7d login before:today", "2026-01-20T14:00", "", "login after:2026-01-20T14:00"),
        ("a OR after:7d", "2026", "2026", "(a OR after:7d) after:2026 before:2026"),
        ("-before:2026 a", "", "", "a"),
    ],
)
def test_with_period_replaces_the_times(text, after, before, edited):
    assert to_text(with_period(parse(text).tree, after, before)) == edited


def test_without_fields_leaves_out_both_wanted_and_unwanted():
    tree = parse("a type:x -type:y (b OR type:z) tag:t").tree
    assert to_text(without_fields(tree, FieldName.TYPE)) == "a (b OR type:z) tag:t"


@pytest.mark.parametrize(
    ("text", "edited"),
    [
        ("logi", "type:x logi"),
        ("logi ", "logi type:x"),
        ("a logi", "a type:x logi"),
        ("logi a logi", "logi a type:x logi"),
        ("a OR logi", "(a OR logi*) type:x"),
        ("c (a OR logi", "c (a OR logi*) type:x"),
        ("tag:b", "tag:b type:x"),
        ('"logi"', '"logi" type:x'),
        ("-logi", "-logi type:x"),
        ("", "type:x"),
    ],
)
def test_an_edit_leaves_a_word_unfinished(text, edited):
    parsed = parse(text)
    assert edited_text(toggle_field(parsed.tree, "type", "x"), parsed) == edited


def test_an_edit_can_be_taken_back():
    first = parse("a logi")
    second = parse(edited_text(toggle_field(first.tree, "type", "x"), first))
    assert edited_text(toggle_field(second.tree, "type", "x"), second) == "a logi"
