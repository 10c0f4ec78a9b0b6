"""Losses that are gathered over training steps with the graph of each step still on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Constant, Expression, Mapping, Name, Operation, Script, Sequence
from ddplint.semantics.expressions import last_name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import Origin
from ddplint.semantics.structure import Binding, BindingKind, Loop, LoopKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

_KEEPS_GRAPH = frozenset({"+", "-", "*", "/"})
# Arguments of a backward pass after which the graph can be gone through again.
_RETAINS = frozenset({"retain_graph", "create_graph"})
_DETACHES = frozenset({"detach_", "clear"})
_STEPS = frozenset({"step", "zero_grad"})
_LIST = frozenset({"builtins.list"})


@dataclass(frozen=True, slots=True)
class KeptGraph:
    """The loss as it is gathered, the name that gathers it, and the backward pass that is done with it by then."""

    loss: Name
    gatherer: Name
    backward: Call


class KeptGraphs:
    """Finds what is gathered in the loops of training steps."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[KeptGraph]:
        """Yield each loss that a script adds to a sum or a list outside the loop, and that is not needed there.

        The same loss has its own backward pass in the same round, which frees what a second one would need. A sum
        that takes part in a backward pass, and one that is begun anew in the loop, are left out.
        """
        for gatherer, added in _gathered(script):
            for loss in _carriers(added):
                loop, backward = self._step_of(loss)
                if loop is not None and backward is not None and self._is_kept(gatherer, loop):
                    yield KeptGraph(loss, gatherer, backward)

    def _step_of(self, loss: Name) -> tuple[Loop | None, Call | None]:
        """Return the innermost loop of training steps around a loss, and the backward pass that begins with it."""
        for loop in loss.region.loops:
            for call in self._project.training_steps.backward_in(loop) if _steps(loop) else ():
                if loss.region.within(call.region) and (_begins_with(call, loss) or self._hands_over(call, loss)):
                    return loop, call
        return None, None

    def _hands_over(self, call: Call, loss: Name) -> bool:
        """Whether a call runs a function of the project that begins a backward pass with the loss it is given."""
        function = self._project.resolver.function_of(call)
        given = {} if function is None else self._project.resolver.bound(call, function)
        taken = {name for name, value in given.items() if isinstance(value, Name) and _is_same(value, loss)}
        return function is not None and any(
            inner.region is function.region and _is_of(inner, taken) for inner in function.script.calls_in(function)
        )

    def _is_kept(self, gatherer: Name, loop: Loop) -> bool:
        """Whether a name outlives the rounds of a loop, and no gradient is asked of what it gathers."""
        bindings = reaching(gatherer.id, gatherer) or []
        begun = [binding for binding in bindings if not _adds(binding)]
        if not begun or any(_is_in(loop, binding) for binding in gatherer.scope.bindings.get(gatherer.id, ())):
            return False
        if any(binding.kind is not BindingKind.ASSIGNMENT or self._is_of_one_batch(binding) for binding in begun):
            return False
        beside = gatherer.scope.script.calls_in(gatherer.scope.function)
        return all(map(self._grows, begun)) and not any(_asks(call, gatherer.id) for call in beside)

    def _is_of_one_batch(self, begun: Binding) -> bool:
        """Whether a name is begun anew for each thing that a loop runs over, which is more than counting epochs."""
        return any(loop.kind is LoopKind.FOR and not self._project.epochs.counts(loop) for loop in begun.region.loops)

    def _grows(self, binding: Binding) -> bool:
        """Whether a value is a number, a list, a dict or a tensor that is made there: no queue that forgets."""
        value = binding.value
        for index in binding.path:
            value = (
                value.items[index]
                if isinstance(value, Sequence) and index is not None and index < len(value.items)
                else None
            )
        origins = () if value is None else self._project.origins(value)
        return bool(origins) and all(map(self._is_made_here, origins))

    def _is_made_here(self, origin: Origin) -> bool:
        if isinstance(origin, Call):
            names = self._project.names(origin.callee)
            return names <= _LIST or all(name.startswith("torch.") for name in names)
        return isinstance(origin, Constant | Sequence | Mapping | Operation)


def _gathered(script: Script) -> Iterator[tuple[Name, Expression]]:
    """Yield what is added or appended to a name, or added to an item of it, with the name."""
    for operation in script.operations:
        if operation.operator == "+" and len(operation.operands) == 2:
            yield from _added(operation)
    for store in script.item_stores:
        if store.augmented and isinstance(store.base, Name) and isinstance(store.value, Operation):
            yield store.base, store.value.operands[1]
    for call in script.calls:
        callee = call.callee
        if isinstance(callee, Attribute) and callee.name == "append" and isinstance(callee.base, Name):
            yield from ((callee.base, given.value) for given in call.arguments)


def _added(operation: Operation) -> Iterator[tuple[Name, Expression]]:
    """Yield the operand that is added to a name, where the sum is put into the name again."""
    for old, added in (operation.operands, operation.operands[::-1]):
        if isinstance(old, Name):
            bindings = old.scope.bindings.get(old.id, ())
            if any(binding.value is operation and not binding.path for binding in bindings):
                yield old, added


def _carriers(added: Expression) -> Iterator[Name]:
    """Yield the names whose graph a value carries on."""
    if isinstance(added, Name):
        yield added
    elif isinstance(added, Operation) and added.operator in _KEEPS_GRAPH:
        for operand in added.operands:
            yield from _carriers(operand)


def _steps(loop: Loop) -> bool:
    """Whether an optimizer steps in a loop; one over the parts of a batch is over before the memory grows."""
    calls = loop.statement.region.scope.script.calls
    return any(last_name(call.callee) in _STEPS and loop in call.region.loops for call in calls)


def _begins_with(call: Call, loss: Name) -> bool:
    """Whether a call is the backward pass of a loss: ``loss.backward()``, ``scaler.scale(loss / 2).backward()``."""
    return _is_of(call, {loss.id}) and any(isinstance(part, Name) and _is_same(part, loss) for part in call.walk())


def _is_of(call: Call, names: set[str]) -> bool:
    """Whether a call is a backward pass of one of these names that frees the graph."""
    if not isinstance(call.callee, Attribute) or "backward" not in call.callee.name or _retains(call):
        return False
    return any(isinstance(part, Name) and part.id in names for part in call.walk())


def _is_same(one: Name, other: Name) -> bool:
    """Whether two reads of a name are of one value."""
    bound = [{id(binding) for binding in reaching(name.id, name) or ()} for name in (one, other)]
    return one.id == other.id and bool(bound[0]) and bound[0] == bound[1]


def _retains(backward: Call) -> bool:
    return any(
        given.star or (given.keyword in _RETAINS and not (isinstance(given.value, Constant) and not given.value.value))
        for given in backward.arguments
    )


def _adds(binding: Binding) -> bool:
    """Whether a binding only adds to what a name held."""
    if binding.kind is BindingKind.AUGMENTED:
        return True
    value = binding.value
    operands = value.operands if isinstance(value, Operation) and value.operator == "+" else ()
    return any(isinstance(operand, Name) and operand.id == binding.name for operand in operands)


def _is_in(loop: Loop, binding: Binding) -> bool:
    """Whether a name is begun anew in a loop."""
    return loop in binding.region.loops and not _adds(binding)


def _asks(call: Call, gatherer: str) -> bool:
    """Whether a call runs a gradient of what a name gathers, or lets go of it."""
    callee = call.callee
    if not isinstance(callee, Attribute):
        return False
    if callee.name in _DETACHES:
        return isinstance(callee.base, Name) and callee.base.id == gatherer
    asks = "backward" in callee.name or callee.name == "grad"
    return asks and any(isinstance(part, Name) and part.id == gatherer for part in call.walk())
