"""What a script tests: the smallest parts that are asked for their truth, the comparisons, and what joins them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

from ddplint.semantics.expressions import (
    Comprehension,
    Conditional,
    Expression,
    Logic,
    Not,
)
from ddplint.semantics.script import Script
from ddplint.semantics.structure import Region

Kind = TypeVar("Kind", bound=Expression)


def asked_for_truth(script: Script) -> list[Expression]:
    """Return the parts of tests that are asked for their truth, in source order; of ``a and not b`` these are a and b.

    Comparisons are given whole. What ``and`` and ``or`` hand on at last is no test where they stand outside of one.
    """
    found = [part for whole, asked in _wholes(script) for part in _asked(whole, asked)]
    return sorted({id(part): part for part in found}.values(), key=lambda part: part.order)


def parts_of(script: Script, kind: type[Kind]) -> list[Kind]:
    """Return all expressions of a kind that stand in a script's statements, in source order."""
    parts = (part for whole, _ in _wholes(script) for part in whole.walk())
    found = {id(part): part for part in parts if isinstance(part, kind)}
    return sorted(found.values(), key=lambda part: part.order)


def _asked(part: Expression, is_tested: bool) -> Iterator[Expression]:
    """Yield what is asked for its truth in an expression, which is a test itself or not."""
    if isinstance(part, Not):
        yield from _asked(part.operand, True)
    elif isinstance(part, Logic):
        for operand in part.operands:
            yield from _asked(operand, is_tested or operand is not part.operands[-1])
    elif isinstance(part, Conditional):
        yield from _asked(part.test, True)
        yield from _asked(part.then, is_tested)
        yield from _asked(part.otherwise, is_tested)
    else:
        if is_tested:
            yield part
        tests = part.tests if isinstance(part, Comprehension) else ()
        for child in part.children:
            yield from _asked(child, child in tests)


def _wholes(script: Script) -> Iterator[tuple[Expression, bool]]:
    """Yield the expressions that stand in statements, and whether each is a test; some stand in others."""
    for region in _regions(script).values():
        if region.test is not None:
            yield region.test, True
    yield from ((test, True) for test in script.asserted)
    yield from ((loop.test, True) for loop in script.loops if loop.test is not None)
    for call in script.calls:
        yield from ((given.value, False) for given in call.arguments)
    bound = (binding.value for scope in script.scopes for bindings in scope.bindings.values() for binding in bindings)
    values = (*bound, *(store.value for store in script.stores), *(leave.value for leave in script.exits))
    yield from ((value, False) for value in values if value is not None)


def _regions(script: Script) -> dict[int, Region]:
    """Return the regions in which a script does anything."""
    inner = [*(name.region for name in script.names), *(leave.region for leave in script.exits)]
    inner += [store.region for store in script.stores]
    inner += [one.region for scope in script.scopes for bindings in scope.bindings.values() for one in bindings]
    return {id(region): region for start in {id(one): one for one in inner}.values() for region in start.around()}
