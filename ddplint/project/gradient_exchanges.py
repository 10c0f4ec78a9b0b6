"""Gradients that a script sums over the ranks by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.models import Wrapper
from ddplint.semantics import Attribute, Call, Constant, Expression, Name, Operation, Script
from ddplint.semantics.arguments import Missing
from ddplint.semantics.expressions import last_name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Binding, BindingKind, Function, Parameter, Store

if TYPE_CHECKING:
    from ddplint.project.project import Project

_ALL_REDUCE = "torch.distributed.all_reduce"
_SUMS = frozenset({"torch.distributed.ReduceOp.SUM", "torch.distributed.reduce_op.SUM"})
_PARAMETERS = frozenset({"parameters", "named_parameters"})
# Methods that multiply or divide.
_SCALE = frozenset({"div", "div_", "mul", "mul_", "divide", "true_divide", "copy_"})
# Functions through which a parameter is handed down.
_DEEPEST = 3


@dataclass(frozen=True, slots=True)
class GradientExchange:
    """A call that sums the gradient of one parameter after the other over all ranks.

    ``divided``: something in sight may make the sum a mean. ``by_ddp``: the model is wrapped in DDP, which has averaged
    these gradients already.
    """

    call: Call
    gradient: Expression
    divided: bool
    by_ddp: bool


class GradientExchanges:
    """Finds them."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[GradientExchange]:
        """Yield the exchanges of a script: ``all_reduce(parameter.grad)`` over the ranks of the whole job."""
        for call in self._project.calls(script, _ALL_REDUCE):
            gradient = self._project.argument(call, "tensor")
            if not isinstance(gradient, Expression) or not self._sums(call):
                continue
            parameter = _owner(gradient)
            models = None if parameter is None else list(self._models(parameter))
            if models:
                wrapped = all(self._project.models.is_certainly(model, Wrapper.DDP) for model in models)
                held_back = wrapped and self._project.accumulations.holds_back(script)
                yield GradientExchange(call, gradient, self._may_be_mean(call), wrapped and not held_back)

    def _sums(self, call: Call) -> bool:
        operation = self._project.argument(call, "op")
        if self._project.argument(call, "group") is not Missing.ABSENT:
            return False
        plain = isinstance(operation, Expression) and self._project.certainly(operation, *_SUMS)
        return operation is Missing.ABSENT or plain

    def _models(self, parameter: Name, depth: int = 0) -> Iterator[Expression]:
        """Yield the models over whose parameters the loops run that hand a parameter out."""
        for binding in reaching(parameter.id, parameter) or ():
            runs_over = binding.value if binding.kind is BindingKind.LOOP else None
            callee = runs_over.callee if isinstance(runs_over, Call) else None
            if isinstance(callee, Attribute) and callee.name in _PARAMETERS:
                yield callee.base
            elif binding.parameter is not None and depth < _DEEPEST:
                for given in self._given(binding.parameter):
                    yield from self._models(given, depth + 1)

    def _given(self, parameter: Parameter) -> Iterator[Name]:
        """Yield the names that callers hand to a parameter."""
        for call in self._project.callers(parameter.function)[0]:
            given = self._project.resolver.bound(call, parameter.function).get(parameter.name)
            if isinstance(given, Name):
                yield given

    def _may_be_mean(self, call: Call) -> bool:
        """Whether gradients are scaled near the call, or the program divides anything by the number of processes."""
        function, script = call.scope.function, call.scope.script
        if _scales(script, function) or any(_scales_gradient(script, near) for near in self._near(function, script)):
            return True
        return any(map(self._divides_by_world, self._scripts(script)))

    def _near(self, function: Function | None, script: Script) -> list[Function | None]:
        """Return the functions that call one, and the helpers of all of them."""
        callers = [] if function is None else self._project.callers(function)[0]
        outer = [function, *(call.scope.function for call in callers if call.scope.script is script)]
        return [act.call.scope.function for one in outer for act in self._project.acts.of(one, script)]

    def _divides_by_world(self, script: Script) -> bool:
        """Whether a file divides by the number of processes, or asks for a loss that is a sum."""
        scaling = self._project.scaling
        divided = [operation.operands[-1] for operation in script.operations if "/" in operation.operator]
        divided += [given.value for call in script.calls if last_name(call) in _SCALE for given in call.arguments]
        if any(scaling.follows_world(value) for value in divided):
            return True
        return any(_asks_for_sum(call) for call in script.calls) or scaling.is_scaled_somewhere(script)

    def _scripts(self, script: Script) -> Iterator[Script]:
        yield script
        for path in self._project.program_of(script):
            other = self._project.script(path)
            if other is not None and other is not script:
                yield other


def _scales(script: Script, function: Function | None) -> bool:
    """Whether a function divides, or multiplies anything in place."""
    scope = script.scope if function is None else function.scope
    bound = [binding.value for bindings in scope.bindings.values() for binding in bindings if _is_augmented(binding)]
    stored = [store.value for store in _augmented(script, function)]
    return (
        any(operation.operator == "/" and operation.scope.function is function for operation in script.operations)
        or any(last_name(call) in _SCALE for call in script.calls_in(function))
        or any(isinstance(value, Operation) and value.operator == "*" for value in (*bound, *stored))
    )


def _scales_gradient(script: Script, function: Function | None) -> bool:
    """Whether a function divides or multiplies a gradient in place."""
    values = [store.value for store in _augmented(script, function)]
    scaled = [value.operands[0] for value in values if isinstance(value, Operation) and value.operator in ("*", "/")]
    scaled += [call.callee for call in script.calls_in(function) if last_name(call) in _SCALE]
    return any(map(_reads_gradient, scaled))


def _augmented(script: Script, function: Function | None) -> Iterator[Store]:
    return (store for store in script.stores if store.augmented and store.region.scope.function is function)


def _is_augmented(binding: Binding) -> bool:
    return binding.kind is BindingKind.AUGMENTED


def _reads_gradient(expression: Expression) -> bool:
    return any(isinstance(part, Attribute) and part.name == "grad" for part in expression.walk())


def _owner(gradient: Expression) -> Name | None:
    """Return the parameter of ``parameter.grad`` or ``parameter.grad.data``."""
    if isinstance(gradient, Attribute) and gradient.name == "data":
        gradient = gradient.base
    if isinstance(gradient, Attribute) and gradient.name == "grad" and isinstance(gradient.base, Name):
        return gradient.base
    return None


def _asks_for_sum(call: Call) -> bool:
    return any(
        given.keyword == "reduction" and isinstance(given.value, Constant) and given.value.value == "sum"
        for given in call.arguments
    )
