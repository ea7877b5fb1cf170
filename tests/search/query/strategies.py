"""Hypothesis strategies: nasty query texts, and trees of any shape within the parser's limits."""

from hypothesis import strategies as st

from search.query import KINDS, STATES, And, Field, FieldName, Not, Or, Phrase, Prefix, Word

PIECES = [
    '"', '""', "“", "”", "„", "(", ")", "-", "--", "->", "OR", "AND", "or", "|", "||", "*", "**", " ", "  ", "\t", "\n",
    "\u00a0", "\u3000", "\x1f", "\x00", "\ud800", "\udfff", "\u200b", "e\u0301", "用户身份", "🔥", ":", "::", ",", ",,",
    "'", "\u2019", "/", "\\", ".", "#", "@", "+", "=", "a", "b", "foo", "Bar9", "don't", "src/a.ts", "C++", "NOT",
    "f(x)", "http://x", "12:30", "type:", "type:bugfix", "TYPE:x", "project:", 'project:"my app"', 'project:""',
    "kind:o",
    "kind:foo", "is:pinned", "is:", "is:blue,noise", "before:2026-01-20", "after:x,y", "after:7d", "id:#12,S45",
    "id:x",
]  # fmt: skip

query_texts = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=40).map("".join)

_texts = st.lists(st.sampled_from(PIECES) | st.characters(), max_size=3).map("".join)
_closed_values = {
    FieldName.KIND: st.sampled_from([*KINDS, "o", "Prompts"]),
    FieldName.IS: st.sampled_from([*STATES, "Archived"]),
    FieldName.BEFORE: st.sampled_from(["2026-01-20", "2026", "today", "2026-01-20 10:00:00,5Z"]),
    FieldName.AFTER: st.sampled_from(["2026-01", "7d", "1768900000", "2026-01-20T10:00+01:00"]),
    FieldName.ID: st.sampled_from(["o12", "#12", "12", "S45"]),
}


def _values(name: FieldName) -> st.SearchStrategy[tuple[str, ...]]:
    most = 1 if name in (FieldName.BEFORE, FieldName.AFTER) else 3
    return st.lists(_closed_values.get(name, _texts), max_size=most).map(tuple)


fields = st.sampled_from(FieldName).flatmap(lambda name: st.builds(Field, st.just(name), _values(name)))
leaves = st.builds(Word, _texts) | st.builds(Phrase, _texts) | st.builds(Prefix, _texts) | fields


def _branches(nodes: st.SearchStrategy) -> st.SearchStrategy:
    groups = st.lists(nodes, max_size=3).map(tuple)
    return st.builds(Not, nodes) | st.builds(And, groups) | st.builds(Or, groups)


trees = st.recursive(leaves, _branches, max_leaves=10)
