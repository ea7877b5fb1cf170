"""What holds for every text: nothing raises, and what was written can be found again."""

import re
import string

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from search.analysis import (
    Alternative,
    QueryWord,
    Terms,
    clean,
    index_terms,
    normalize,
    phrase_atoms,
    query_words,
    spans,
)

# The time of one example says nothing on a busy machine.
usually = settings(deadline=None)
often = settings(max_examples=300, deadline=None)

LATIN = string.ascii_letters + "éÉßøŁłıİñÑàÇčž"
SCRIPTS = "用户身份验证数据库しりとりカタカナ끝말잇기데이เข้าสู่ระบบภาษาខ្មែរမြန်မာລາວالعربيةהתחברות"
ANYTHING = st.text(
    st.one_of(
        st.characters(),
        st.characters(categories=["Cs"]),
        st.sampled_from(LATIN + SCRIPTS + "0123456789 \t\n\x00\x1b[]();:'’.,-_/\\+#=|%\"\u0301\u200b\ufe0f\u202e"),
    ),
    max_size=60,
)
# An escape sequence swallows what stands behind it, so a word of it is another text than the word alone.
UNESCAPED = ANYTHING.map(lambda text: re.sub(r"[\x1b\x9b]", "", text))
IDENTIFIERS = st.text(
    st.sampled_from(string.ascii_letters * 2 + "0123456789" + "-_./:'#+" + "vV.A" * 3 + "sSt'"), min_size=1, max_size=40
)
LATIN_WORDS = st.text(st.sampled_from(LATIN), min_size=1, max_size=20)
RUNS = st.text(st.sampled_from(SCRIPTS.replace("\u0e49", "")), min_size=2, max_size=20)


def has(columns: list[list[str]], alternative: Alternative) -> bool:
    """Return whether a phrase stands in one of the columns, by the rules of FTS5."""
    *before, last = alternative.atoms
    length = len(alternative.atoms)
    return any(
        column[start : start + length - 1] == before
        and (column[start + length - 1].startswith(last) if alternative.prefix else column[start + length - 1] == last)
        for column in columns
        for start in range(len(column) - length + 1)
    )


def matches(terms: Terms, words: list[QueryWord]) -> bool:
    columns = [terms.title.split(" "), terms.body.split(" "), terms.variants.split(" ")]
    return all(any(has(columns, alternative) for alternative in word.alternatives) for word in words)


@given(ANYTHING)
@often
def test_nothing_raises_and_nothing_changes_the_second_time(text: str) -> None:
    def everything() -> tuple[object, ...]:
        return (
            index_terms(text, [text, text]),
            query_words(text),
            query_words(text, prefix_last=True),
            phrase_atoms(text),
            list(spans(text)),
            clean(text),
            normalize(text),
        )

    assert everything() == everything()


@given(ANYTHING)
@often
def test_tokens_are_folded_and_hold_no_blank_and_no_sign_of_ours(text: str) -> None:
    terms = index_terms("", [text])
    for token in [*terms.body.split(" "), *terms.variants.split(" ")]:
        assert token == token.casefold().replace("=", "").encode().decode()
        assert len(token.split()) == (1 if token else 0)
        assert len(token) <= 64


@given(ANYTHING)
@usually
def test_variants_are_unique_and_no_atoms(text: str) -> None:
    terms = index_terms(text, [text])
    variants = terms.variants.split()
    assert len(variants) == len(set(variants))
    assert set(variants).isdisjoint(terms.body.split())


@given(UNESCAPED)
@often
def test_every_word_of_a_text_finds_it(text: str) -> None:
    terms = index_terms("", ["first field", text])
    assert [word for word in text.split() if not matches(terms, query_words(word))] == []


@given(UNESCAPED)
@usually
def test_whole_text_finds_itself(text: str) -> None:
    assert matches(index_terms(text, []), query_words(text, prefix_last=True))


@given(LATIN_WORDS)
@often
@example("HTTPSConnections")
@example("URLsome")
@example("iOSApp")
def test_every_prefix_of_a_word_finds_it(word: str) -> None:
    terms = index_terms("", [f"some {word}, here"])
    prefixes = [word[:end] for end in range(1, len(word) + 1)]
    assert [prefix for prefix in prefixes if not matches(terms, query_words(prefix, prefix_last=True))] == []


@given(IDENTIFIERS)
@often
@example("claude-v3.5.1-HTTPSConnection")
@example("src/UserSettings.tsx")
@example("O'Sullivan's-v1.2")
@example("x-don't")
def test_every_prefix_of_an_identifier_finds_it(identifier: str) -> None:
    terms = index_terms("", [identifier])
    prefixes = [identifier[:end] for end in range(1, len(identifier) + 1)]
    assert [prefix for prefix in prefixes if not matches(terms, query_words(prefix, prefix_last=True))] == []


@given(IDENTIFIERS)
@often
@example("0Aa'D")
@example("iT'd")
def test_letter_case_of_a_query_does_not_matter(identifier: str) -> None:
    terms = index_terms("", [identifier])
    assert matches(terms, query_words(identifier.lower()))


@given(RUNS, st.data())
@often
def test_every_part_of_a_run_finds_it(run: str, data: st.DataObject) -> None:
    text = normalize(run)
    start = data.draw(st.integers(0, len(text) - 1))
    part = text[start : data.draw(st.integers(start + 1, len(text)))]
    assert matches(index_terms("", [f"gen{run}次 x"]), query_words(part))


@given(RUNS, st.data())
@usually
def test_every_part_of_a_run_is_a_phrase(run: str, data: st.DataObject) -> None:
    text = normalize(run)
    start = data.draw(st.integers(0, len(text) - 2)) if len(text) > 1 else 0
    atoms = phrase_atoms(text[start : start + 2])
    assert not atoms or len(text) < 2 or has([index_terms("", [run]).body.split(" ")], Alternative(atoms))


@given(ANYTHING)
@often
def test_spans_are_the_atoms_in_order(text: str) -> None:
    atoms = index_terms("", [text]).body.split()
    found = list(spans(text))
    assert len(found) == len(atoms)
    assert [atom for atom, span in zip(atoms, found, strict=True) if atom not in span.tokens] == []
    assert all(0 <= span.start < span.end <= len(text) for span in found)
    assert [span.start for span in found] == sorted(span.start for span in found)


@given(ANYTHING)
@usually
def test_spans_carry_all_tokens_of_the_text(text: str) -> None:
    terms = index_terms("", [text])
    tokens = frozenset[str]().union(*(span.tokens for span in spans(text)))
    assert tokens == {*terms.body.split(), *terms.variants.split()}


@given(st.text(st.sampled_from(LATIN + "0123456789 -_./"), max_size=40))
@usually
def test_spanned_text_is_the_atom(text: str) -> None:
    written = [normalize(text[span.start : span.end]) for span in spans(text)]
    assert written == index_terms("", [text]).body.split()


@given(ANYTHING)
@often
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert (
        re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069\u200b\ufeff]", cleaned) is None
    )


@given(ANYTHING)
@usually
def test_cleaning_changes_no_terms(text: str) -> None:
    assert index_terms("", [clean(text)]) == index_terms("", [text])


@given(ANYTHING)
@usually
def test_normalizing_twice_is_normalizing_once(text: str) -> None:
    assert normalize(normalize(text)) == normalize(text)


@pytest.mark.parametrize(
    "text", ["x" * 100_000, "aB" * 50_000, "用" * 100_000, "a." * 50_000, "\x1b]8;;" * 20_000, "A" * 65]
)
def test_one_giant_word_is_found(text: str) -> None:
    assert matches(index_terms("", [text]), query_words(text))
