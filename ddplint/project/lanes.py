"""Values on several sample processes side by side, and arithmetic with them.

The samples stand for a job of two nodes with eight GPUs each: the first rank, its neighbour, and the last rank. A row
holds one value for each of them.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from typing import NamedTuple, TypeAlias


class Process(NamedTuple):
    """One process of the sample job."""

    rank: int
    local: int
    node: int


PROCESSES = (Process(0, 0, 0), Process(1, 1, 0), Process(15, 7, 1))
WORLD_SIZE, GPUS_PER_NODE = 16, 8
EVERYONE = frozenset(range(len(PROCESSES)))


class Vague:
    """A value of which little is known."""


class DeviceIndex(int):
    """The number of a process's GPU: compared with a number it tells ranks apart, as a switch it does not."""


UNSURE = Vague()  # the same on all ranks, nothing else is known
CHANGING = Vague()  # another one each time that it is looked at, such as what a loop hands out
Row: TypeAlias = tuple[object, ...]
Rows: TypeAlias = frozenset[Row]
_OPERATORS: dict[str, Callable[[object, object], object]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,  # type: ignore[dict-item]  # of unknown objects: what can't be compared is caught
    "<=": operator.le,  # type: ignore[dict-item]  # the same
    ">": operator.gt,  # type: ignore[dict-item]  # the same
    ">=": operator.ge,  # type: ignore[dict-item]  # the same
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}
_NUMBER = re.compile(r"-?\d+")
# Combinations beyond this many are not looked at.
_MOST = 24


def same(value: object) -> Row:
    """Return the row of a value that all processes share."""
    return (value,) * len(PROCESSES)


def combined(parts: Iterable[Rows]) -> Iterator[tuple[Row, ...]]:
    """Yield every choice of one row for each part; nothing when there are too many."""
    listed = [sorted(part, key=repr) for part in parts]
    choices = 1
    for part in listed:
        choices *= len(part)
    return iter(product(*listed)) if choices <= _MOST else iter(())


def calculate(sign: str, left: Row, right: Row) -> Row:
    """Return what an operator or a comparison gives on each process.

    One number that all processes share is the rank of one of them at most: of the first, as a rule.
    """
    if sign in ("==", "!=") and any(
        _tells_apart(one) and set(other) == {UNSURE} for one, other in ((left, right), (right, left))
    ):
        return tuple((number == 0) is (sign == "==") for number in EVERYONE)
    return tuple(_calculate(sign, one, other) for one, other in zip(left, right, strict=True))


def _calculate(sign: str, left: object, right: object) -> object:
    if sign in ("is", "is not"):
        return _is(left, right, sign == "is")
    if sign in ("in", "not in"):
        return _holds(right, left, sign == "in")
    if CHANGING in (left, right):
        return CHANGING
    if isinstance(left, Vague) or isinstance(right, Vague) or sign not in _OPERATORS:
        return UNSURE
    left, right = _alike(left, right)
    try:
        return _OPERATORS[sign](left, right)
    except (TypeError, ValueError, ZeroDivisionError, OverflowError, MemoryError):
        return UNSURE


def _tells_apart(row: Row) -> bool:
    """Whether each process has a number of its own."""
    return len(set(row)) == len(row) and all(type(value) is int for value in row)


def _alike(left: object, right: object) -> tuple[object, object]:
    """Two values as numbers where one is a number and the other one its text: the environment holds texts."""
    if isinstance(left, int) and isinstance(right, str) and _NUMBER.fullmatch(right):
        return left, int(right)
    if isinstance(left, str) and isinstance(right, int) and _NUMBER.fullmatch(left):
        return int(left), right
    return left, right


def _is(left: object, right: object, wanted: bool) -> object:
    if left is UNSURE or right is UNSURE:
        return UNSURE
    if left is None or right is None:
        return (left is right) is wanted
    return ((left == right) is wanted) if isinstance(left, int) and isinstance(right, int) else UNSURE


def _holds(container: object, item: object, wanted: bool) -> object:
    if isinstance(item, Vague) or not isinstance(container, tuple):
        return UNSURE
    if any(not isinstance(held, Vague) and operator.eq(*_alike(held, item)) for held in container):
        return wanted
    return UNSURE if any(isinstance(held, Vague) for held in container) else not wanted


def truths(rows: Rows) -> Iterator[tuple[bool, ...]]:
    """Yield on which processes a test holds, for every way in which what is unsure can turn out."""
    for row in rows:
        for guess in (True, False) if any(map(is_open, row)) else (True,):
            yield tuple(guess if is_open(value) else bool(value) for value in row)


def is_open(value: object) -> bool:
    """Whether a value can be true or false, as far as is known."""
    return isinstance(value, Vague | DeviceIndex)


def parting(rows: Rows, holds: bool = True) -> frozenset[int] | None:
    """Return the processes on which a test holds, or does not hold.

    None where that can be all or none of them, or where the test can part them in ways that don't agree.
    """
    outcomes = _outcomes(rows, holds)
    partings = sorted((part for part in outcomes if part and part != EVERYONE), key=len)
    if partings:
        return partings[0] if all(partings[0] <= part for part in partings) else None
    return frozenset() if outcomes == {frozenset()} else None


def lets_all_in(rows: Rows, holds: bool = True) -> bool:
    """Whether a test certainly comes out the same, and as wanted, on all processes."""
    return _outcomes(rows, holds) == {EVERYONE}


def keeps_some_out(rows: Rows, holds: bool = True) -> bool:
    """Whether a test can come out as wanted on some processes, but never on all of them."""
    outcomes = _outcomes(rows, holds)
    return EVERYONE not in outcomes and outcomes != {frozenset()}


def _outcomes(rows: Rows, holds: bool) -> set[frozenset[int]]:
    return {frozenset(number for number, held in enumerate(row) if held is holds) for row in truths(rows)}


def unless_switch(rows: Iterable[Row]) -> Rows:
    """Return what a value is that is seen to be these; one that is only on or off is a switch for others to turn."""
    found = frozenset(rows)
    return frozenset([same(UNSURE)]) if found and all(row in (same(True), same(False)) for row in found) else found
