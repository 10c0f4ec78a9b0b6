"""What is known to hold in a region: the parts of the tests around it, and whether two places contradict each other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeAlias

from ddplint.semantics.expressions import Attribute, Call, Comparison, Constant, Expression, Logic, Name, Not
from ddplint.semantics.structure import Region, RegionKind

# A test in one way of writing it, and whether it holds.
Fact: TypeAlias = tuple[str, bool]
_OPPOSITE = {"!=": "==", "is not": "is", "not in": "in"}


def facts(regions: Iterable[Region]) -> frozenset[Fact]:
    """Return what holds where all of these regions are run, as far as it can be written down."""
    tests = ((region.test, region.holds) for region in regions if region.kind is RegionKind.BRANCH)
    return frozenset(fact for test, holds in tests if test is not None for fact in _facts(test, holds))


def are_contradictory(one: frozenset[Fact], other: frozenset[Fact]) -> bool:
    """Whether two sets of facts can't hold together."""
    return any((text, not held) in other for text, held in one)


def is_settled(region: Region, known: frozenset[Fact]) -> bool:
    """Whether the test of a region comes out as it has to for one of its parts, whatever the other parts say.

    ``quiet and rank == 0`` does not hold where ``quiet`` does not.
    """
    test = region.test
    if not isinstance(test, Logic) or (test.operator == "and") is region.holds:
        return False
    return any(fact in known for operand in test.operands for fact in _facts(operand, region.holds))


def _facts(test: Expression, holds: bool) -> Iterator[Fact]:
    """Yield what is known when a test comes out one way: each part of ``a and b`` holds when the whole holds."""
    if isinstance(test, Not):
        yield from _facts(test.operand, not holds)
    elif isinstance(test, Logic):
        for operand in test.operands if (test.operator == "and") is holds else ():
            yield from _facts(operand, holds)
    else:
        opposite = isinstance(test, Comparison) and test.comparisons[0][0] in _OPPOSITE
        text = _text(test)
        if text is not None:
            yield text, holds is not opposite


def _text(expression: Expression) -> str | None:
    """Return an expression in one way of writing it, None for what is too much to compare."""
    if isinstance(expression, Name):
        return expression.id
    if isinstance(expression, Constant):
        return repr(expression.value)
    if isinstance(expression, Comparison) and len(expression.comparisons) == 1:
        operator, right = expression.comparisons[0]
        return _joined(_OPPOSITE.get(operator, operator), (expression.left, right))
    if isinstance(expression, Attribute):
        base = _text(expression.base)
        return None if base is None else f"{base}.{expression.name}"
    if isinstance(expression, Call) and not any(given.star or given.keyword for given in expression.arguments):
        return _joined("()", (expression.callee, *(given.value for given in expression.arguments)))
    return None


def _joined(sign: str, parts: tuple[Expression, ...]) -> str | None:
    texts = [_text(part) for part in parts]
    return None if None in texts else f"{sign}({', '.join(map(str, texts))})"
