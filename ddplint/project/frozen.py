"""Whether all parameters of a module are frozen where an expression names it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Constant, Expression, Name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Binding, BindingKind, Loop

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Methods that return the module and leave its parameters as they are.
_KEEP = frozenset({"to", "cuda", "cpu", "train", "eval", "half", "float", "double", "bfloat16"})
_CONVERSION = "torch.nn.SyncBatchNorm.convert_sync_batchnorm"
_PARAMETERS = frozenset({"parameters", "named_parameters"})
_DEEPEST = 8


class Frozen:
    """Answers for the modules of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def freeze_of(self, module: Expression) -> Expression | None:
        """Return what certainly froze every parameter of a module before an expression names it, None: not so.

        Whatever is done with the module after that, and may add or wake a parameter, makes it uncertain.
        """
        names: list[tuple[Name, Binding]] = []
        for step in self._steps(module):
            if isinstance(step, Call):
                return step if self._is_left_alone(names, step.order) else None
            names.append(step)
        freezes = [
            (read.order, freeze)
            for _, binding in names
            for read in self._reads(binding)
            if read.order < module.order and module.region.within(read.region)
            for freeze in self._freezes(read)
        ]
        if not freezes:
            return None
        last, freeze = max(freezes, key=lambda found: found[0])
        return freeze if self._is_left_alone(names, last) else None

    def _steps(self, module: Expression) -> Iterator[tuple[Name, Binding] | Call]:
        """Yield the names of a module on the way back to where it is made; a call: it freezes the module there."""
        for _ in range(_DEEPEST):
            if isinstance(module, Name):
                bindings = reaching(module.id, module) or []
                if len(bindings) != 1 or bindings[0].path:
                    return
                yield module, bindings[0]
                value = bindings[0].value if bindings[0].kind is BindingKind.ASSIGNMENT else None
                if value is None or value.scope is not module.scope:
                    return
                module = value
            elif isinstance(module, Call) and self._project.names(module.callee) == {_CONVERSION}:
                module = module.arguments[0].value
            elif isinstance(module, Call) and isinstance(module.callee, Attribute):
                if _sets_false(module):
                    yield module
                    return
                if module.callee.name not in _KEEP:
                    return
                module = module.callee.base
            else:
                return

    def _reads(self, binding: Binding) -> list[Name]:
        return self._project.uses(binding.region.scope.script).reads(binding)

    def _freezes(self, read: Name) -> Iterator[Expression]:
        """Yield what freezes all parameters of the module that a name reads: a call, or the parameters looped over."""
        call = self._method(read)
        if call is None or not isinstance(call.callee, Attribute):
            return
        if _sets_false(call):
            yield call
        elif call.callee.name in _PARAMETERS and not call.arguments:
            uses = self._project.uses(read.scope.script)
            if any(self._is_frozen_in(loop, binding) for loop in uses.loops(call) for binding in uses.bindings(call)):
                yield call

    def _is_frozen_in(self, loop: Loop, parameter: Binding) -> bool:
        """Whether a loop over parameters certainly freezes each of them."""
        script = parameter.region.scope.script
        reads = {id(read) for read in self._reads(parameter)}
        stores = script.attribute_stores.get("requires_grad", ())
        set_to = [store for store in stores if id(store.base) in reads]
        calls = [call for read in self._reads(parameter) if (call := self._method(read)) is not None]
        return any(_is_false(store.value) and store.region.loop is loop for store in set_to) or any(
            _sets_false(call) and call.region.loop is loop for call in calls
        )

    def _is_left_alone(self, names: list[tuple[Name, Binding]], after: int) -> bool:
        """Whether nothing is done with a module under its names any more but to move it."""
        on_the_way = {id(name) for name, _ in names}
        end = max((name.order for name, _ in names), default=after)
        return all(
            self._keeps(read)
            for _, binding in names
            for read in self._reads(binding)
            if after < read.order < end and id(read) not in on_the_way
        )

    def _keeps(self, read: Name) -> bool:
        call = self._method(read)
        return call is not None and isinstance(call.callee, Attribute) and call.callee.name in _KEEP

    def _method(self, read: Name) -> Call | None:
        """Return the call of a method of what a name reads."""
        uses = self._project.uses(read.scope.script)
        attribute = uses.parent(read)
        call = uses.parent(attribute) if isinstance(attribute, Attribute) else None
        return call if isinstance(call, Call) and call.callee is attribute else None


def _sets_false(call: Call) -> bool:
    """Whether a call is ``requires_grad_(False)``."""
    if not isinstance(call.callee, Attribute) or call.callee.name != "requires_grad_":
        return False
    return len(call.arguments) == 1 and _is_false(call.arguments[0].value)


def _is_false(value: Expression | None) -> bool:
    return isinstance(value, Constant) and value.value is False
