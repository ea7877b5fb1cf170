"""What one kind's table is asked: an index expression and conditions on its columns."""

from dataclasses import dataclass
from typing import Any

from search.keyword.expression import AllOf, AnyToken, Expression


@dataclass(frozen=True, slots=True)
class SqlCondition:
    """A condition on the columns of a memory table, whose alias is `m`; values are bound.

    `indexed` holds what the condition asks the index, as INDEXED with the text of each expression among its values.
    """

    sql: str
    params: tuple[Any, ...] = ()
    indexed: tuple[tuple[str, Expression], ...] = ()


INDEXED = "m.id IN (SELECT rowid FROM {table} WHERE {table} MATCH %s)"


NOTHING = AnyToken(())


@dataclass(frozen=True, slots=True)
class Plan:
    """Rows of one kind that match: `expression` (None: all) and every condition."""

    expression: Expression | None
    conditions: tuple[SqlCondition, ...]

    @property
    def is_empty(self) -> bool:
        """Whether it is known beforehand that nothing matches."""
        return _is_nothing(self.expression) or any(condition.sql == "0" for condition in self.conditions)

    def narrowed(self, words: Expression) -> "Plan":
        """Return the plan for those of the rows that also match `words`."""
        members = (words, *((self.expression,) if self.expression else ()))
        return Plan(AllOf(members), self.conditions)

    def where(self) -> tuple[str, list[Any]]:
        """Return the conditions as SQL (with a leading AND each) and their values."""
        return (
            "".join(f" AND ({condition.sql})" for condition in self.conditions),
            [value for condition in self.conditions for value in condition.params],
        )


def _is_nothing(expression: Expression | None) -> bool:
    match expression:
        case AnyToken(tokens):
            return not tokens
        case AllOf(members):
            return any(_is_nothing(member) for member in members)
        case _:
            return False
