"""Steps of optimizers and of their learning rate schedules."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.acts import Act
from ddplint.semantics import Attribute, Call, Expression, Script
from ddplint.semantics.expressions import last_name

if TYPE_CHECKING:
    from ddplint.project.project import Project

_SCHEDULES = "torch.optim.lr_scheduler."
_OPTIMIZERS = "torch.optim."
_STEPS = re.compile(r"opt|scaler", re.IGNORECASE)
_NO_OPTIMIZER = re.compile(r"sched|warm|decay", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EarlyStep:
    """A schedule that is stepped in a round of a loop before its optimizer is.

    ``step``: the step of the optimizer, or the call that comes to it. ``beside``: both are calls of one block.
    """

    schedule: Call
    step: Call
    beside: bool


class OptimizerSteps:
    """Finds the calls that step optimizers."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def is_step(self, call: Call) -> bool:
        """Whether a call steps an optimizer, itself or through a scaler."""
        callee = call.callee
        if not isinstance(callee, Attribute) or callee.name != "step":
            return False
        names = self._made_by(callee.base)
        if any(name.startswith(_SCHEDULES) for name in names):
            return False
        if any(name.startswith(_OPTIMIZERS) or name.endswith(".GradScaler") for name in names):
            return True
        word = last_name(callee.base)
        return bool(_STEPS.search(word)) and not _NO_OPTIMIZER.search(word)

    def optimizer(self, step: Call) -> Expression:
        """Return the optimizer that a step is one of: what the scaler is given, else what is stepped itself."""
        assert isinstance(step.callee, Attribute)
        scaler = step.callee.base
        made_scaler = any(name.endswith(".GradScaler") for name in self._made_by(scaler))
        if len(step.arguments) == 1 and (made_scaler or "scaler" in last_name(scaler).lower()):
            return step.arguments[0].value
        return scaler

    def early(self, script: Script) -> Iterator[EarlyStep]:
        """Yield the schedules of a script that are stepped before their optimizers, in each loop."""
        for function in (None, *script.functions):
            acts = self._project.acts.of(function, script)
            for schedule in acts:
                optimizer = self._scheduled(schedule.call)
                if optimizer is not None and schedule.place.region.loops:
                    yield from self._before(schedule, optimizer, acts)

    def _before(self, schedule: Act, optimizer: Expression, acts: tuple[Act, ...]) -> Iterator[EarlyStep]:
        loop = schedule.loops[0]
        round_ = [act for act in acts if loop in act.loops and not act.excludes(schedule)]
        steps = [act for act in round_ if self._comes_to_step(act.call, optimizer)]
        if not steps or any(act.order < schedule.order for act in steps):
            return
        first = steps[0]
        if first.place is not schedule.place and schedule.runs_whenever(first):
            direct = len(first.path) == len(schedule.path) == 1 and self.is_step(first.call)
            yield EarlyStep(schedule.place, first.call, direct and first.call.region is schedule.call.region)

    def _scheduled(self, call: Call) -> Expression | None:
        """Return the optimizer of a schedule that a call moves on by one, None for other calls."""
        callee = call.callee
        if not isinstance(callee, Attribute) or callee.name != "step" or call.arguments:
            return None
        for origin in self._project.origins(callee.base):
            names = self._project.names(origin.callee) if isinstance(origin, Call) else frozenset()
            if isinstance(origin, Call) and origin.arguments and names and all(map(_is_schedule, names)):
                given = next((given for given in origin.arguments if given.keyword == "optimizer"), origin.arguments[0])
                return given.value if given.keyword in (None, "optimizer") and not given.star else None
        return None

    def _comes_to_step(self, call: Call, optimizer: Expression) -> bool:
        """Whether a call steps an optimizer, or runs a function of the project that does."""
        if self.is_step(call):
            return self._project.acts.same(self.optimizer(call), optimizer)
        function = self._project.resolver.function_of(call)
        if function is None:
            return False
        inner = self._project.reach.onward(self._project.reach.calls_in(function.outermost))
        steps = (step for step in inner if self.is_step(step))
        return any(self._project.acts.same(self.optimizer(step), optimizer) for step in steps)

    def _made_by(self, expression: Expression) -> set[str]:
        makers = [origin for origin in self._project.origins(expression) if isinstance(origin, Call)]
        return {name for maker in makers for name in self._project.names(maker.callee)}


def _is_schedule(name: str) -> bool:
    return name.startswith(_SCHEDULES) and not name.endswith("ReduceLROnPlateau")
