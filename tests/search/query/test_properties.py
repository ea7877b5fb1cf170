"""What holds for every text and every tree."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from search.query import (
    And,
    Node,
    Not,
    Or,
    Phrase,
    Prefix,
    Word,
    exclude_field,
    explain,
    fields,
    has_field,
    is_excluded,
    normalize,
    open_last_word,
    parse,
    positive_words,
    remove_exclusion,
    remove_field,
    remove_node,
    to_text,
    toggle_exclusion,
    toggle_field,
)
from search.query.fields import TIME_FIELDS, accepted_value
from tests.search.query.strategies import fields as any_field
from tests.search.query.strategies import query_texts, trees

thorough = settings(max_examples=200, deadline=None)


def letters(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


@thorough
@given(query_texts | st.text())
@example("a OR")
@example('project:"')
@example("--" * 30 + "(" * 30)
def test_every_text_survives_the_round_trip(text):
    tree = parse(text).tree
    assert parse(to_text(tree)).tree == tree


@thorough
@given(trees)
def test_every_tree_survives_the_round_trip(tree):
    assert parse(to_text(tree)).tree == normalize(tree)


@thorough
@given(trees)
def test_normalized_tree_is_already_normal(tree):
    assert normalize(normalize(tree)) == normalize(tree)


@thorough
@given(query_texts | st.text())
def test_parsed_tree_is_already_normal(text):
    assert normalize(parse(text).tree) == parse(text).tree


@thorough
@given(query_texts)
def test_canonical_text_is_stable(text):
    canonical = to_text(parse(text).tree)
    assert to_text(parse(canonical).tree) == canonical


@thorough
@given(query_texts | st.text())
def test_quoted_text_is_never_an_operator(text):
    quoted = '"' + text.replace('"', '""') + '"'
    assert parse(quoted).tree == (Phrase(text.strip()) if text.strip() else And(()))
    assert parse(f"a {quoted} b").tree == normalize(And((Word("a"), Phrase(text), Word("b"))))
    assert parse(f"-{quoted}").tree == normalize(Not(Phrase(text)))
    assert parse(f"{quoted}*").tree == normalize(Prefix(text))


@thorough
@given(st.text(alphabet=st.characters(exclude_characters='"“”„')).filter(str.strip))
def test_curly_quoted_text_is_never_an_operator(text):
    assert parse(f"a “{text}” b").tree == And((Word("a"), Phrase(text.strip()), Word("b")))


@thorough
@given(query_texts)
@example('""""OR""')
@example('""""AND""""')
@example("() OR ()")
def test_every_letter_is_in_the_tree_or_in_the_notes(text):
    parsed = parse(text)
    kept = letters(to_text(parsed.tree)) + letters("".join(note.message for note in parsed.notes))
    # A written AND is what stands between two members anyway, so the text of the tree leaves it out.
    written = letters("AND") if "AND" in text else letters("")
    assert set(letters(text)) <= set(kept + written)


@thorough
@given(st.lists(st.text(alphabet="abcXYZ019_./'#@+=", min_size=1), min_size=1, max_size=20))
def test_plain_words_are_kept_as_they_are(words):
    parsed = parse(" ".join(words))
    kept = parsed.tree.nodes if isinstance(parsed.tree, And) else (parsed.tree,)
    assert kept == tuple(map(Word, words))
    assert parsed.notes == ()


@thorough
@given(query_texts)
def test_open_end_is_a_word_that_becomes_a_prefix(text):
    parsed = parse(text)
    opened = open_last_word(parsed.tree)
    if parsed.ends_open:
        last = parsed.tree
        while isinstance(last, And | Or):
            last = last.nodes[-1]
        assert isinstance(last, Word)
        assert text.endswith(last.text)
        assert opened != parsed.tree
    assert normalize(opened) == opened


@thorough
@given(trees)
def test_explanation_is_one_fragment(tree):
    explanation = explain(tree)
    assert explanation == "all memories" or explanation.startswith("memories ")
    assert (explanation == "all memories") == (normalize(tree) == And(()))


def members(tree: Node) -> tuple[Node, ...]:
    return tree.nodes if isinstance(tree, And) else (tree,)


@thorough
@given(trees)
def test_removed_member_is_gone_and_the_others_stay(tree):
    normal = normalize(tree)
    for member in members(normal):
        rest = tuple(other for other in members(normal) if other != member)
        assert remove_node(normal, member) == normalize(And(rest))


@thorough
@given(trees)
def test_negated_tree_has_nothing_to_highlight(tree):
    assert positive_words(Not(Or((tree, Word("a"))))) == []


@thorough
@given(trees, any_field)
def test_toggling_twice_gives_the_same_tree(tree, field):
    """For values that are neither wanted nor excluded; and the text parses to every tree on the way."""
    for value in field.values:
        if accepted_value(field.name, value) is None or field.name in TIME_FIELDS:
            continue
        if has_field(tree, field.name, value) or is_excluded(tree, field.name, value):
            continue
        for toggle in (toggle_field, toggle_exclusion):
            once = toggle(tree, field.name, value)
            assert parse(to_text(once)).tree == once
            assert toggle(once, field.name, value) == normalize(tree)


@thorough
@given(trees, any_field)
def test_a_value_is_wanted_or_excluded_or_neither(tree, field):
    for value in field.values:
        if accepted_value(field.name, value) is None:
            continue
        excluded = exclude_field(tree, field.name, value)
        assert (has_field(excluded, field.name, value), is_excluded(excluded, field.name, value)) == (False, True)
        wanted = toggle_field(excluded, field.name, value)
        assert (has_field(wanted, field.name, value), is_excluded(wanted, field.name, value)) == (True, False)
        neither = remove_exclusion(remove_field(tree, field.name, value), field.name, value)
        assert (has_field(neither, field.name, value), is_excluded(neither, field.name, value)) == (False, False)
        others = [one for one in fields(neither) if one[0].name is not field.name]
        assert others == [one for one in fields(normalize(tree)) if one[0].name is not field.name]
