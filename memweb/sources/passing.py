"""Values that are passed between the processes of an import by the ten thousand."""

from collections.abc import Iterable
from dataclasses import fields
from typing import Any, TypeVar

Value = TypeVar("Value")


def passed_quickly(cls: type[Value]) -> type[Value]:
    """Teach a frozen dataclass with slots to be pickled in a fraction of the time: its fields are looked up once.

    Python's own way asks for the fields of the class again for every single value.
    """
    names = tuple(field.name for field in fields(cls))  # type: ignore[arg-type]

    def get_state(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def set_state(self: Any, state: Iterable[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    cls.__getstate__ = get_state  # type: ignore[method-assign]
    cls.__setstate__ = set_state  # type: ignore[attr-defined]
    return cls
