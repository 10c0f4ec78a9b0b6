"""Tests of the first rank that say yes where there is no process group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ddplint.semantics import Call, Comparison, Constant, Logic, Not, Script
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import Function

if TYPE_CHECKING:
    from ddplint.project.project import Project

_RANK = frozenset({"torch.distributed.get_rank"})
_THERE = frozenset({"torch.distributed.is_initialized"})
_DEEPEST = 3


class RankFallbacks:
    """Finds the tests of scripts that are answered without a group as the first rank would answer them."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def tests(self, script: Script) -> Iterator[Call]:
        """Yield the calls, in the tests of branches, of functions of the project which say yes without a group."""
        regions = {id(region): region for call in script.calls for region in call.region.chain()}
        tests = {id(region.test): region.test for region in regions.values() if region.test is not None}
        calls = {id(part): part for test in tests.values() for part in test.walk() if isinstance(part, Call)}
        for call in sorted(calls.values(), key=lambda call: call.order):
            function = self._project.resolver.function_of(call)
            if function is not None and self._says_yes(function):
                yield call

    def _says_yes(self, function: Function) -> bool:
        """Whether a function is ``not is_initialized() or get_rank() == 0``, in one of its forms."""
        if len(function.returns) == 2 and self._asks_both(function, 0):
            return any(isinstance(value, Constant) and value.value is True for value in function.returns)
        if len(function.returns) != 1:
            return False
        [value] = function.returns
        if isinstance(value, Logic) and value.operator == "or":
            return any(isinstance(part, Not) for part in value.operands) and self._asks_both(function, 0)
        return isinstance(value, Comparison) and self._compares_rank(value)

    def _compares_rank(self, test: Comparison) -> bool:
        """Whether a test is ``get_rank() == 0``, by a helper that returns 0 where there is no group."""
        [(operator, right), *more] = test.comparisons
        function = self._project.resolver.function_of(test.left) if isinstance(test.left, Call) else None
        is_first = operator == "==" and not more and isinstance(right, Constant) and right.value == 0
        return (
            is_first
            and function is not None
            and any(isinstance(value, Constant) and value.value == 0 for value in function.returns)
            and self._asks_both(function, 0)
        )

    def _asks_both(self, function: Function, depth: int) -> bool:
        """Whether a function asks for the group and for the rank in it, and for nothing else that knows the rank."""
        calls = self._project.processes.calls_of(function)
        reads = {id(read.at.scope.function) for read in self._project.environment_reads(function.script)}
        if id(function) in reads:
            return False
        return self._asks(calls, _RANK) and any(self._asks_whether_there(call, depth) for call in calls)

    def _asks_whether_there(self, call: Call, depth: int) -> bool:
        if self._asks([call], _THERE):
            return True
        function = self._project.resolver.function_of(call) if "init" in last_name(call.callee) else None
        return (
            function is not None
            and depth < _DEEPEST
            and any(self._asks_whether_there(inner, depth + 1) for inner in self._project.processes.calls_of(function))
        )

    def _asks(self, calls: Sequence[Call], names: frozenset[str]) -> bool:
        return any(self._project.names(call.callee) <= names for call in calls)
