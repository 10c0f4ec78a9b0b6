"""Whether two expressions are written alike and mean the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ddplint.semantics.expressions import (
    Attribute,
    Call,
    Comparison,
    Constant,
    Expression,
    FormattedText,
    Logic,
    Name,
    Not,
    Operation,
    Sequence,
    Subscript,
)
from ddplint.semantics.reaching import reaching

Given: TypeAlias = Callable[[Expression], Expression]

_KNOWN = (Attribute, Call, Comparison, Constant, FormattedText, Logic, Name, Not, Operation, Sequence, Subscript)


def _as_written(expression: Expression) -> Expression:
    return expression


def alike(one: Expression, other: Expression, mine: Given = _as_written, its: Given = _as_written) -> bool:
    """Whether two expressions are written alike, and their names can have got their values at the same place.

    ``mine`` and ``its`` say what stands for an expression of the one and of the other: what a caller gives.
    """
    one, other = mine(one), its(other)
    if type(one) is not type(other) or not isinstance(one, _KNOWN) or _mark(one) != _mark(other):
        return False
    if isinstance(one, Name) and isinstance(other, Name):
        return _meet(one, other)
    parts, others = one.children, other.children
    return len(parts) == len(others) and all(
        alike(part, counterpart, mine, its) for part, counterpart in zip(parts, others, strict=True)
    )


def _mark(one: Expression) -> object:
    """Return what an expression says by itself, whatever it is made of."""
    if isinstance(one, Name):
        return one.id
    if isinstance(one, Attribute):
        return one.name
    if isinstance(one, Constant):
        return type(one.value), one.value
    if isinstance(one, Logic | Operation):
        return one.operator
    if isinstance(one, Comparison):
        return tuple(operator for operator, _ in one.comparisons)
    if isinstance(one, Sequence):
        return one.kind
    if isinstance(one, FormattedText):
        return tuple(piece if isinstance(piece, str) else None for piece in one.pieces)
    return tuple((given.keyword, given.star) for given in one.arguments) if isinstance(one, Call) else None


def _meet(one: Name, other: Name) -> bool:
    """Whether two names can have one value: that of a binding that reaches both, or of none at all."""
    mine, its = reaching(one.id, one) or (), reaching(other.id, other) or ()
    return (not mine and not its) or any(first is second for first in mine for second in its)
