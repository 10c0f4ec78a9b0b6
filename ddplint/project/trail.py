"""What following a value forward gives: the places that it reaches, and how it is reached there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from ddplint.semantics import Attribute, Call, Expression
from ddplint.semantics.structure import Region


class Way(Enum):
    """How one gets from an object to what it holds."""

    ITEM = "item"
    FIELD = "field"
    INSIDE = "inside, nobody knows where"
    ITERATOR = "iterator over it"


@dataclass(frozen=True, slots=True)
class Step:
    """One step from an object to what it holds; ``key`` is the index, key or attribute, None for any."""

    way: Way
    key: object = None


Steps: TypeAlias = tuple[Step, ...]
ANY_ITEM = Step(Way.ITEM)
INSIDE = Step(Way.INSIDE)
ITERATOR = Step(Way.ITERATOR)


@dataclass(frozen=True, slots=True)
class Reached:
    """An expression whose value is the followed one, or leads to it by ``steps``.

    ``context`` holds the calls through which the value came into the function around the expression, the outermost
    first; it is empty where the value came another way.
    """

    at: Expression
    steps: Steps
    context: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Pass:
    """A place that begins to run over the followed value, or over what holds it."""

    at: Expression
    context: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Trail:
    """Where a value goes, in every file that it is followed into.

    ``complete``: it was not handed to anything that can't be read. ``words``: the names, keys and attributes under
    which it is known on its way. ``consumers``: the loops and ``next`` calls that take what its passes hand out.
    """

    start: Expression
    reached: Sequence[Reached]
    attributes: Sequence[Attribute]
    passes: Sequence[Pass]
    consumers: Sequence[Region]
    words: frozenset[str]
    complete: bool

    def reads(self, name: str) -> Iterator[Attribute]:
        """Yield where an attribute is read of the value, or of what holds it."""
        return (attribute for attribute in self.attributes if attribute.name == name)
