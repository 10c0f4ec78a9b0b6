"""What following a value forward gives: the places that it reaches, and how it is reached there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from ddplint.semantics import Attribute, Call, Expression
from ddplint.semantics.structure import Loop, Store


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
    """A place that begins to run over the followed value, or over what leads to it by ``steps``."""

    at: Expression
    steps: Steps
    context: tuple[Call, ...]

    @property
    def is_direct(self) -> bool:
        """Whether it runs over the value itself, or over what is known to keep it, not over something around it."""
        return INSIDE not in self.steps


@dataclass(frozen=True, slots=True)
class Trail:
    """Where a value goes, in every file that it is followed into.

    ``attributes`` are those read of the value or of what holds it, ``stores`` set one of them. ``passes`` begin to
    run over it, and ``consumers``, loops and ``next`` calls, take what they hand out. ``words`` are the names, keys
    and attributes under which the value is known on its way. ``complete``: it was not handed to anything that can't
    be read.
    """

    start: Expression
    reached: Sequence[Reached]
    attributes: Sequence[Attribute]
    stores: Sequence[Store]
    passes: Sequence[Pass]
    consumers: Sequence[Loop | Call]
    words: frozenset[str]
    complete: bool

    def reads(self, name: str) -> Iterator[Attribute]:
        """Yield where an attribute is read of the value, or of what holds it."""
        return (attribute for attribute in self.attributes if attribute.name == name)

    def sets(self, name: str) -> bool:
        """Whether an attribute is set on the value, or on what holds it."""
        return any(store.name == name for store in self.stores)


def unpacked(steps: Steps, path: Sequence[int | None]) -> Steps | None:
    """Return the steps that are left after ``a, (b, c) = value`` took a part; None: the part does not hold it."""
    for index in path:
        if not steps or steps[0].way is Way.FIELD:
            return None
        if steps[0].way is not Way.ITEM or index is None:
            return steps
        if not _same_item(steps[0].key, index):
            return None
        steps = steps[1:]
    return steps


def picked(steps: Steps, key: object) -> Steps | None:
    """Return the steps that are left after ``value[key]``, where None is an unknown key; None: it is elsewhere."""
    while steps and steps[0].way is Way.ITERATOR:
        steps = steps[1:]
    if not steps or steps[0].way is not Way.ITEM or not _same_item(steps[0].key, key):
        return None
    return steps[1:]


def _same_item(held: object, asked: object) -> bool:
    """Whether two indices or keys can name the same item; one that counts from the end can be any."""
    if held is None or asked is None or held == asked:
        return True
    return isinstance(held, int) and isinstance(asked, int) and (held < 0) != (asked < 0)
