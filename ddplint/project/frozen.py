"""Whether all parameters of a module are frozen where an expression names it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Constant, Expression, Name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Binding, BindingKind, Loop, RegionKind

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

    def freeze_of(self, module: Expression, depth: int = 0) -> Expression | None:
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
            return self._freeze_of_callers(names, depth)
        last, freeze = max(freezes, key=lambda found: found[0])
        return freeze if self._is_left_alone(names, last) else None

    def _freeze_of_callers(self, names: list[tuple[Name, Binding]], depth: int) -> Expression | None:
        """Return what froze a module that every caller of a function has frozen before it hands it in."""
        parameter = names[-1][1].parameter if names else None
        if parameter is None or depth > _DEEPEST or not self._is_left_alone(names, -1):
            return None
        calls, complete = self._project.callers(parameter.function)
        given = [self._project.resolver.bound(call, parameter.function).get(parameter.name) for call in calls]
        freezes = [None if one is None else self.freeze_of(one, depth + 1) for one in given]
        return freezes[0] if complete and freezes and all(freezes) else None

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

    def _freezes(self, read: Name, depth: int = 0) -> Iterator[Expression]:
        """Yield what freezes all parameters of the module that a name reads: a call, or the parameters looped over."""
        for handing, inner in self._handed(read) if depth < _DEEPEST else ():
            if any(self._freezes(inner, depth + 1)):
                yield handing
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
        reads = [read for read in self._reads(parameter) if read.region.loop is loop]
        handed = [inner for read in reads for _, inner in self._handed(read)]
        return any(map(self._is_set_false, (*reads, *handed)))

    def _is_set_false(self, read: Name) -> bool:
        """Whether the parameter that a name reads gets no gradient from then on."""
        stores = read.scope.script.attribute_stores.get("requires_grad", ())
        call = self._method(read)
        return any(store.base is read and _is_false(store.value) for store in stores) or (
            call is not None and _sets_false(call)
        )

    def _handed(self, read: Name) -> Iterator[tuple[Call, Name]]:
        """Yield the call to which a value is handed, with each place that reads it in every run of its function."""
        call = self._project.uses(read.scope.script).parent(read)
        function = self._project.resolver.function_of(call) if isinstance(call, Call) else None
        if function is None or not isinstance(call, Call):
            return
        for name, given in self._project.resolver.bound(call, function).items():
            for binding in function.scope.bindings.get(name, ()) if given is read else ():
                reads = self._reads(binding) if binding.kind is BindingKind.PARAMETER else []
                yield from ((call, inner) for inner in reads if inner.region.kind is RegionKind.FUNCTION)

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
