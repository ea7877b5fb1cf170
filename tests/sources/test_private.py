"""What people marked as private is gone, however it was marked."""

import pytest

from memweb.sources.private import strip_private, strip_private_texts


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("a <private>x</private> b", "a  b"),
        ("a <private>x to the end", "a "),
        ("<PRIVATE>x</PRIVATE> b", " b"),
        ("<Private>x</pRIVATE> b", " b"),
        ('<private reason="pw">x</private> b', " b"),
        ('<private reason="a > b">x</private> b', " b"),
        ('<private reason="never closed>x</private> b', " b"),
        ("<private\nreason='pw'>x</private\n> b", " b"),
        ("<private>o <private>x</private> y</private> b", " b"),
        ("<private>o <private>x</private> y", ""),
        ("a </private> b", "a  b"),
        ("< private >x</ private > b", " b"),
        ("<private/> b", " b"),
        ("a <private", "a "),
        ("&lt;private&gt;x&lt;/private&gt; b", " b"),
        ("&LT;Private reason&GT;x&lt; / private &gt; b", " b"),
        ("the tag `<private>` in docs", "the tag `<private>` in docs"),
        ("`<private>x</private>` b", "`` b"),
        ("```\n<private>x</private>\n``` b", "```\n\n``` b"),
        ("<privateer>x</privateer>", "<privateer>x</privateer>"),
        ("private matters & <b>more</b>", "private matters & <b>more</b>"),
        ("<private>x</private><private>y</private>z", "z"),
        ("&lt;private&gt;o &lt;private&gt;x&lt;/private&gt; y&lt;/private&gt; b", " b"),
        ("a &lt;private&gt;x&lt;/private&gt; b &lt;private&gt;y&lt;/private&gt; c", "a  b  c"),
        ("a &lt;private&gt; b &lt;private&gt;x&lt;/private&gt; c", "a  c"),
        ("the escaped &lt;private&gt; alone", "the escaped &lt;private&gt; alone"),
    ],
)
def test_private_passages_vanish(text: str, visible: str) -> None:
    assert strip_private(text) == visible


@pytest.mark.parametrize(
    ("texts", "visible"),
    [
        (["a <private>x", "b"], ["a ", "b"]),
        (["a <private>x", "y</private> b"], ["a ", " b"]),
        (["a <private>x", "y", "z</private>", "b"], ["a ", "", "", "b"]),
        (["a", "b"], ["a", "b"]),
        (["</private>a"], ["a"]),
    ],
)
def test_passages_over_several_texts_vanish(texts: list[str], visible: list[str]) -> None:
    assert strip_private_texts(texts) == visible


@pytest.mark.parametrize(
    "text",
    ['<private a="' * 4000, "<private " * 20_000, "&lt;private" * 20_000, "&lt;private&gt;" * 20_000, "< " * 100_000],
)
def test_hostile_text_comes_to_an_end(text: str) -> None:
    """The text is long enough that a pattern which runs away would not end within the patience of any test run."""
    assert len(strip_private(f"private {text}")) <= len(text) + 8
