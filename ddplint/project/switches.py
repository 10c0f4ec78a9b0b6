"""Places that a program comes to only when somebody asked for it: under a test, in a way out, in what these call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddplint.semantics import Call, Comparison, Constant, Expression, Logic, Name, Not
from ddplint.semantics.structure import Function, Region, RegionKind, Store

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Tests that say on what kind of machine a program runs, and nothing of what its user wants.
_ASKS_MACHINE = frozenset(
    {
        "torch.cuda.is_available",
        "torch.cuda.device_count",
        "torch.distributed.is_available",
        "torch.distributed.is_initialized",
        "torch.distributed.is_nccl_available",
        "torch.distributed.get_world_size",
    }
)
_DEEPEST = 4


class Switches:
    """Answers whether a place depends on a switch."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._entered: dict[int, bool] = {}

    def decide(self, at: Expression | Store) -> bool:
        """Whether a place is run only if a test lets it, in its function or wherever this one is called.

        What a program asks of every run does not count: whether it is the main file, its rank, whether there is a GPU.
        """
        return any(map(self.is_one, at.region.chain())) or self._guard_calls_of(at.region.scope.function)

    def is_one(self, region: Region) -> bool:
        """Whether a region is entered after an error, or under a test that not every run of a program passes."""
        if region.kind is RegionKind.HANDLER:
            return True
        return region.kind is RegionKind.BRANCH and (region.test is None or not self._is_for_every_run(region.test))

    def _guard_calls_of(self, function: Function | None, depth: int = 0) -> bool:
        """Whether every call of a function that can be seen is switched."""
        if function is None or depth == _DEEPEST:
            return False
        if id(function) not in self._entered:
            self._entered[id(function)] = False  # what a function that calls itself gets
            calls, _ = self._project.callers(function)
            self._entered[id(function)] = bool(calls) and all(self._is_optional(call, depth) for call in calls)
        return self._entered[id(function)]

    def _is_optional(self, call: Call, depth: int) -> bool:
        return any(map(self.is_one, call.region.chain())) or self._guard_calls_of(call.scope.function, depth + 1)

    def _is_for_every_run(self, test: Expression) -> bool:
        if isinstance(test, Not):
            return self._is_for_every_run(test.operand)
        if isinstance(test, Logic):
            return all(map(self._is_for_every_run, test.operands))
        return isinstance(test, Constant) or self._asks_situation(test) or self._project.rank_tests.asks_rank(test)

    def _asks_situation(self, test: Expression) -> bool:
        """Whether a test asks if the file is the main one, or for the machine that it runs on."""
        if isinstance(test, Comparison):
            sides = [side for side in test.children if not isinstance(side, Constant)]
            return len(sides) == 1 and (_is_own_name(sides[0]) or self._asks_situation(sides[0]))
        return isinstance(test, Call) and self._project.certainly(test.callee, *_ASKS_MACHINE)


def _is_own_name(side: Expression) -> bool:
    return isinstance(side, Name) and side.id == "__name__"
