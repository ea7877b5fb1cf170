"""Whatever people do in whatever order: index equals rows, history leads to the present, and undoing all leads back."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memweb.memories.curation import (
    VERBS,
    can_undo,
    carry_out,
    edit_memory,
    merge,
    purge,
    rename_label,
    split,
    supersede,
    undo,
    unsupersede,
    values_of,
)
from memweb.memories.curation.values import Values
from memweb.memories.kinds import Kind, Ref
from memweb.memories.models import Change, ChangeSet, Observation
from memweb.memories.queries import TERM_COLUMNS
from search.keyword.maintenance import check_index
from tests.factories import make_observation, make_project

pytestmark = pytest.mark.django_db

TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00\r"), max_size=12)
NAMES = st.sampled_from(["a", "b", "Ünï", "東京"])
ACTS = st.one_of(
    st.tuples(st.just("verb"), st.sampled_from(sorted(VERBS)), st.integers(0, 3), NAMES),
    st.tuples(st.just("edit"), st.sampled_from(["title", "narrative", "note", "subtitle"]), st.integers(0, 3), TEXT),
    st.tuples(st.just("labels"), st.sampled_from(["tags", "concepts"]), st.integers(0, 3), st.lists(NAMES, max_size=3)),
    st.tuples(st.just("merge"), st.integers(0, 3), st.integers(0, 3), st.none()),
    st.tuples(st.just("supersede"), st.integers(0, 3), st.integers(0, 3), st.none()),
    st.tuples(st.just("unsupersede"), st.none(), st.integers(0, 3), st.none()),
    st.tuples(st.just("split"), st.none(), st.integers(0, 3), st.none()),
    st.tuples(st.just("rename"), st.sampled_from(["tag", "concept"]), NAMES, NAMES),
    st.tuples(st.just("purge"), st.none(), st.integers(0, 3), st.none()),
    st.tuples(st.just("undo"), st.none(), st.integers(0, 5), st.none()),
)


def do(user: User, refs: list[Ref], act: tuple[Any, ...]) -> None:
    """Do one act; what makes no sense is refused, and that is right."""
    name, what, which, value = act
    match name:
        case "verb":
            argument = "other" if what == "move" else value
            carry_out(user, what, [refs[which]], argument)
        case "edit":
            edit_memory(user, refs[which], {what: value})
        case "labels":
            edit_memory(user, refs[which], {what: value})
        case "merge":
            merge(user, refs[what], [refs[which]])
        case "supersede":
            supersede(user, [refs[what]], refs[which])
        case "unsupersede":
            unsupersede(user, refs[which])
        case "split":
            split(user, refs[which], ["one part", "another part"])
        case "rename":
            rename_label(user, what, which, value)
        case "purge":
            purge(user, [refs[which]])
        case "undo":
            sets = [one for one in ChangeSet.objects.order_by("-pk")[: which + 1] if can_undo(one)]
            if sets:
                undo(user, sets[-1])


def history_of(ref: Ref) -> Values:
    """Return the values that the history of a memory ends in."""
    values: Values = {}
    for change in Change.objects.filter(kind=ref.kind, memory_id=ref.id).order_by("pk"):
        for name, old in (change.before or {}).items():
            assert values.get(name, old) == old, f"the history of {ref} has a gap at {name}"
        values |= change.after or {}
    return values


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(acts=st.lists(ACTS, max_size=14))
def test_any_sequence_leaves_index_history_and_rows_in_step(user: User, acts: list[tuple[Any, ...]]) -> None:
    with transaction.atomic():
        make_project("other")
        rows = [make_observation(f"needle {n}", f"text {n}", concepts=["a"], tags=["b"]) for n in range(4)]
        refs = [row.ref for row in rows]
        first = {row.ref: values_of(row) for row in rows}
        start = ChangeSet.objects.count()
        for act in acts:
            before = ChangeSet.objects.count()
            try:
                with transaction.atomic():
                    do(user, refs, act)
            except ValidationError as refused:
                assert refused.messages
                assert ChangeSet.objects.count() == before
        assert check_index() == dict.fromkeys(Kind)
        there = {row.ref: row for row in Observation.objects.for_indexing()}
        for ref, row in there.items():
            assert history_of(ref).items() <= values_of(row).items()
            terms = [getattr(row, name) for name in TERM_COLUMNS]
            row.compute_terms()
            assert [getattr(row, name) for name in TERM_COLUMNS] == terms
        if len(there) == 4 and not any(act[0] == "undo" for act in acts):
            for change_set in ChangeSet.objects.order_by("-pk")[: ChangeSet.objects.count() - start]:
                if change_set.changes.exists():
                    undo(user, change_set)
            assert {row.ref: values_of(row) for row in Observation.objects.all()} == first
        transaction.set_rollback(True)
