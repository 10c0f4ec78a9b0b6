"""The loops of training steps, and what is done in each of their rounds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import TYPE_CHECKING

from ddplint.project.roles import Role
from ddplint.semantics import Attribute, Call, Expression, Script
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import Function, Loop, LoopKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

_BACKWARD = frozenset({"backward", "manual_backward"})
# Functions through which a backward pass is looked for, and those outward in which a loop is.
_DEEPEST = 3


class TrainingSteps:
    """Answers which loops make a training step in each round, and what happens as often."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._steps: dict[int, tuple[Call, ...]] = {}
        self._trains: dict[int, tuple[Call, ...]] = {}

    def loop_of(self, at: Expression) -> Loop | None:
        """Return the loop of training steps that comes to an expression in every round, None when there is none.

        A test on the way, such as ``step % 100 == 0``, keeps it from being every round, unless the step itself is
        under the same test. The function around may be called from the loop, but not by a test alone.
        """
        return self._loop_of(at, self.backward_in, 0)

    def repeats(self, at: Expression) -> Loop | None:
        """Return the loop that trains and comes to an expression in every round, be it of steps, epochs or phases."""
        return self._loop_of(at, self.training_in, 0)

    def training_in(self, loop: Loop) -> tuple[Call, ...]:
        """Return the calls in a loop, and in the loops inside, that run a backward pass or can lead to one."""
        if id(loop) not in self._trains:
            calls = [call for call in loop.statement.region.scope.script.calls if loop in call.region.loops]
            onward = self._project.reach.onward
            self._trains[id(loop)] = tuple(call for call in calls if any(map(_is_backward, onward([call]))))
        return self._trains[id(loop)]

    def _loop_of(self, at: Expression, backward_in: Callable[[Loop], tuple[Call, ...]], depth: int) -> Loop | None:
        for loop in _loops_around(at):
            backward = backward_in(loop)
            if backward:
                return None if self._is_switched(at, loop, backward) else loop
        function = at.scope.function
        if function is None or depth == _DEEPEST or self._is_switched(at, None, self._alone(function)):
            return None
        calls = (call for call in self._project.callers(function)[0] if not self._is_test(call))
        return next(filter(None, (self._loop_of(call, backward_in, depth + 1) for call in calls)), None)

    def _is_test(self, call: Call) -> bool:
        return self._project.role(call.scope.script) is Role.TEST

    def backward_in(self, loop: Loop) -> tuple[Call, ...]:
        """Return the calls in a loop that run one backward pass each, or lead to one, and stand in no loop inside."""
        if id(loop) not in self._steps:
            calls = self._calls_of(loop.statement.region.scope.script, loop)
            self._steps[id(loop)] = tuple(call for call in calls if self._leads_to_backward(call, 0))
        return self._steps[id(loop)]

    def _is_switched(self, at: Expression, loop: Loop | None, backward: tuple[Call, ...]) -> bool:
        """Whether a test that lets the step happen does not let an expression, between the loop and there."""
        inside = takewhile(lambda region: loop is None or region.loop is not loop, at.region.chain())
        own = (region for region in inside if not any(call.region.within(region) for call in backward))
        return any(map(self._project.switches.is_one, own))

    def _alone(self, function: Function) -> tuple[Call, ...]:
        """Return the backward passes of a function that stand in no loop of it."""
        calls = self._calls_of(function.script, None)
        return tuple(call for call in calls if call.scope.function is function and _is_backward(call))

    def _leads_to_backward(self, call: Call, depth: int) -> bool:
        if _is_backward(call):
            return True
        function = self._project.resolver.function_of(call)
        if function is None or depth == _DEEPEST:
            return False
        own = (inner for inner in function.script.calls_in(function) if not _loops_around(inner))
        return any(self._leads_to_backward(inner, depth + 1) for inner in own)

    def _calls_of(self, script: Script, loop: Loop | None) -> Iterator[Call]:
        """Yield the calls whose innermost loop is the given one."""
        return (call for call in script.calls if next(iter(_loops_around(call)), None) is loop)


def _loops_around(at: Expression) -> list[Loop]:
    return [loop for loop in at.region.loops if loop.kind is not LoopKind.COMPREHENSION]


def _is_backward(call: Call) -> bool:
    """Whether a call runs a backward pass of a loss; ``super().backward()`` and a step of an optimizer do not."""
    if not isinstance(call.callee, Attribute) or call.callee.name not in _BACKWARD:
        return False
    return not (isinstance(call.callee.base, Call) and last_name(call.callee.base.callee) == "super")
