"""Times that are taken of work which the GPU has not done yet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.collectives import FORWARD, is_backward
from ddplint.semantics import Attribute, Call, Expression, Name, Script
from ddplint.semantics.expressions import last_name
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import BindingKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

CLOCKS = frozenset(
    {"time.time", "time.perf_counter", "time.monotonic", "time.time_ns", "time.perf_counter_ns", "timeit.default_timer"}
)
# Methods and functions after which the work is done: they hand a number to Python, or wait.
_WAITS = frozenset(
    {"barrier", "cpu", "elapsed_time", "item", "nonzero", "numpy", "print", "record", "synchronize", "tolist", "unique"}
    | {"float", "int", "bool", "wait", "all_gather_object", "str", "repr", "format"}
)
# Methods of tensors, models and optimizers that only hand work to the GPU.
_LAUNCHES = frozenset(
    {"backward", "detach", "flatten", "float", "half", "log", "mean", "permute", "reshape", "softmax", "sqrt", "square"}
    | {"squeeze", "step", "sum", "t", "transpose", "unsqueeze", "view", "zero_grad", "train", "eval", "abs", "pow"}
)


@dataclass(frozen=True, slots=True)
class EarlyTime:
    """Two looks at the clock, and a call between them that hands work to the GPU; nothing waits for it."""

    start: Call
    end: Call
    work: Call


class Timings:
    """Finds them."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def early(self, script: Script) -> Iterator[EarlyTime]:
        """Yield the differences of two clock times of one block between which a model runs, and nothing waits for it.

        Left out are times around a loop, most of which the GPU works off meanwhile, and those during which anything
        is called of which it is not known whether it waits.
        """
        seen: set[int] = set()
        for operation in script.operations:
            if operation.operator != "-" or len(operation.operands) != 2:
                continue
            end, start = map(self._clock, operation.operands)
            if start is None or end is None or start.region is not end.region or id(end) in seen:
                continue
            work = self._work_between(start, end) if start.order < end.order else None
            if work is not None:
                seen.add(id(end))
                yield EarlyTime(start, end, work)

    def _clock(self, value: Expression) -> Call | None:
        """Return the look at the clock that a value certainly is."""
        if isinstance(value, Name):
            bindings = reaching(value.id, value) or []
            if len(bindings) != 1 or bindings[0].kind is not BindingKind.ASSIGNMENT or bindings[0].path:
                return None
            bound = bindings[0].value
            return bound if isinstance(bound, Call) and self._is_clock(bound) else None
        return value if isinstance(value, Call) and self._is_clock(value) else None

    def _is_clock(self, call: Call) -> bool:
        names = self._project.names(call.callee)
        return bool(names) and names <= CLOCKS

    def _work_between(self, start: Call, end: Call) -> Call | None:
        """Return the last call that runs a model between two looks, None when anything may wait for it."""
        calls = start.scope.script.calls_in(start.scope.function)
        between = [call for call in calls if start.order < call.order < end.order]
        if any(call.region.loops != start.region.loops for call in between):
            return None
        work = None
        for call in between:
            if self._runs_model(call):
                work = call
            elif not self._only_launches(call):
                return None
        return work

    def _runs_model(self, call: Call) -> bool:
        """Whether a call is a backward pass, or a forward of a wrapped model, of torch or of the project."""
        if is_backward(call) or self._project.collectives.own(call) == FORWARD:
            return True
        origins = self._project.origins(call.callee)
        made = [origin for origin in origins if isinstance(origin, Call) and self._makes_module(origin)]
        return bool(made) and len(made) == len(origins) and not self._waits_inside(call)

    def _makes_module(self, made: Call) -> bool:
        while isinstance(made.callee, Attribute) and made.callee.name in ("to", "cuda", "eval", "train"):
            if not isinstance(made.callee.base, Call):
                return any(self._makes_module(one) for one in self._calls_behind(made.callee.base))
            made = made.callee.base
        return self._project.models.is_made_module(made)

    def _calls_behind(self, model: Expression) -> list[Call]:
        return [origin for origin in self._project.origins(model) if isinstance(origin, Call)]

    def _waits_inside(self, call: Call) -> bool:
        """Whether the forward of a module of the project reads a number, which waits for the GPU."""
        function = self._project.collectives.runs(call)
        inside = () if function is None else function.script.calls_in(function)
        return any(last_name(inner.callee) in _WAITS for inner in inside)

    def _only_launches(self, call: Call) -> bool:
        names = self._project.names(call.callee)
        if last_name(call.callee) in _WAITS and not isinstance(call.callee, Attribute):
            return False
        if UNKNOWN_NAME not in names and all(name.startswith("torch.") for name in names):
            return last_name(call.callee) not in _WAITS and not any(".cuda." in name for name in names)
        return isinstance(call.callee, Attribute) and call.callee.name in _LAUNCHES
