"""Whether two places of a function can be part of the same pass, by the tests around them."""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.semantics.expressions import Comparison, Expression, Logic, Not
from ddplint.semantics.shown import written
from ddplint.semantics.structure import Region

# Comparisons whose opposite is written with another operator.
_OPPOSITE = {"is not": "is", "!=": "==", "not in": "in"}


def contradict(one: Region, other: Region) -> bool:
    """Whether no pass goes through both regions: arms of one fork, or the same test with opposite answers.

    Tests count as the same when they are written the same; what they ask of is taken to stay as it is.
    """
    if one.excludes(other):
        return True
    known = dict(_answers(one))
    return any(known.get(test, holds) is not holds for test, holds in _answers(other))


def _answers(region: Region) -> Iterator[tuple[str, bool]]:
    """Yield the tests that are known to be true or false in a region."""
    for outer in region.chain():
        if outer.test is not None:
            yield from _of_test(outer.test, outer.holds)


def _of_test(test: Expression, holds: bool) -> Iterator[tuple[str, bool]]:
    if isinstance(test, Not):
        yield from _of_test(test.operand, not holds)
    elif isinstance(test, Logic) and holds is (test.operator == "and"):
        for operand in test.operands:
            yield from _of_test(operand, holds)
    elif isinstance(test, Comparison) and len(test.comparisons) == 1:
        ((operator, right),) = test.comparisons
        plain = _OPPOSITE.get(operator, operator)
        yield f"{written(test.left)} {plain} {written(right)}", holds is (plain == operator)
    else:
        yield written(test), holds
