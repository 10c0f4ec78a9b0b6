"""Ports that every process of a job draws for itself, so that they do not meet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.port_fallbacks import is_guarded
from ddplint.semantics import Call, Expression, FormattedText, Name, Operation, Script
from ddplint.semantics.environment import EnvironmentWrite, WriteForm
from ddplint.semantics.expressions import last_name
from ddplint.semantics.launchers import launched
from ddplint.semantics.reaching import reaching
from ddplint.semantics.structure import Binding, Function, Parameter

if TYPE_CHECKING:
    from ddplint.project.project import Project

_PORT = "MASTER_PORT"
_INIT = "torch.distributed.init_process_group"
_RANDOM = re.compile(r"^(?:random|numpy\.random|secrets)\.|^torch\.rand|^time\.time|^os\.getpid$")
_PICKERS = re.compile(r"(?:^|\.)(?:find|get|pick|reserve)_?(?:free|open|unused|available)\w*_?port$", re.IGNORECASE)
_SEEDS = frozenset({"random.seed", "numpy.random.seed", "torch.manual_seed"})
_COPIED = ("random.", "numpy.random.", "torch.rand")
# How ports become texts.
_CONVERSIONS = frozenset({"builtins.str", "builtins.int"})
# Calls by which one process tells the others.
_SHARES = re.compile(r"bcast|broadcast|scatter|recv|gather|rank|store|wait|barrier", re.IGNORECASE)
_DEEPEST = 6


@dataclass(frozen=True, slots=True)
class DrawnPort:
    """The call in the process by which a port is drawn, and the expression in which it is given as meeting place."""

    draw: Call
    given: Expression


class DrawnPorts:
    """Finds ports that are drawn where all processes come to."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[DrawnPort]:
        """Yield the ports that processes draw for themselves, each draw once."""
        seen: set[int] = set()
        for given in self._given(script):
            draw = self._draw(given, 0)
            if draw is not None and id(draw) not in seen and self._is_of_all(given) and self._is_own(draw):
                seen.add(id(draw))
                yield DrawnPort(draw, given)

    def _given(self, script: Script) -> Iterator[Expression]:
        """Yield what a script gives as the port of the meeting place."""
        for write in self._project.environment_writes(script, _PORT):
            if write.form is not WriteForm.CHILD and not self._is_way_out(write):
                yield write.value
        for call in self._project.calls(script, _INIT):
            method = self._project.argument(call, "init_method")
            if isinstance(method, Expression):
                yield method

    def _is_way_out(self, write: EnvironmentWrite) -> bool:
        """Whether a write is only for the case that there is no port, and a launcher or the parent may have set one."""
        region = write.at.region
        if write.form is not WriteForm.DEFAULT and not is_guarded(region):
            return False
        function = region.scope.function
        if function is None or not self._project.spawners(function):
            return True
        writes = self._project.environment_writes(region.scope.script, _PORT)
        return any(other.at.region.scope.function is not function for other in writes)

    def _draw(self, value: Expression, depth: int) -> Call | None:
        """Return the call by which a value is drawn in the function around it, or outside functions."""
        if depth > _DEEPEST:
            return None
        if isinstance(value, Call):
            return self._of_call(value, depth)
        if isinstance(value, Name):
            draws = [self._of_binding(binding, depth) for binding in reaching(value.id, value) or ()]
            return draws[0] if draws and None not in draws else None
        if isinstance(value, FormattedText | Operation):
            found = (self._draw(part, depth + 1) for part in value.children)
            return next((draw for draw in found if draw is not None), None)
        return None

    def _of_binding(self, binding: Binding, depth: int) -> Call | None:
        if binding.parameter is not None:
            return self._of_parameter(binding.parameter, depth)
        return None if binding.value is None or binding.path else self._draw(binding.value, depth + 1)

    def _of_parameter(self, parameter: Parameter, depth: int) -> Call | None:
        """Return the draw of what a function is given; where the process starts, that comes from its parent."""
        function = parameter.function
        calls, _ = self._project.callers(function)
        if not calls or any(launched(self._project.resolver, call) is not None for call in calls):
            return None
        values = [self._project.resolver.bound(call, function).get(parameter.name) for call in calls]
        draws = [None if value is None else self._draw(value, depth + 1) for value in values]
        return draws[0] if None not in draws else None

    def _of_call(self, call: Call, depth: int) -> Call | None:
        names = self._project.names(call.callee)
        if names <= _CONVERSIONS or last_name(call.callee) == "format":
            found = (self._draw(given.value, depth + 1) for given in call.arguments)
            return next((draw for draw in found if draw is not None), None)
        function = self._project.resolver.function_of(call)
        if function is not None:
            return call if self._picks(function) else None
        is_random = all(map(_RANDOM.match, names)) and not self._is_seeded(call)
        return call if is_random or any(map(_PICKERS.search, names)) else None

    def _picks(self, function: Function) -> bool:
        """Whether a function asks the system for a port, or draws one, and tells nobody."""
        calls = self._project.processes.calls_of(function)
        if any(_SHARES.search(last_name(call.callee)) for call in calls):
            return False
        asks = any(last_name(call.callee) == "getsockname" for call in calls)
        return asks or any(self._draw(value, _DEEPEST - 2) is not None for value in function.returns)

    def _is_seeded(self, draw: Call) -> bool:
        """Whether the same numbers may be drawn everywhere, since something sets the seed before."""
        before = [call for call in draw.scope.script.calls if call.order < draw.order]
        near = [call for call in before if call.scope.function in (draw.scope.function, None)]
        return any(self._project.names(call.callee) & _SEEDS for call in self._project.reach.onward(near))

    def _is_own(self, draw: Call) -> bool:
        """Whether each process draws for itself; forked ones go on with the random numbers of their parent."""
        function = draw.scope.function
        spawners = [] if function is None else self._project.spawners(function)
        is_random = all(name.startswith(_COPIED) for name in self._project.names(draw.callee))
        is_anew = not (is_random and spawners) or any(map(self._project.fresh_starts.runs_anew, spawners))
        return is_anew and (function is None or self._is_of_all(draw))

    def _is_of_all(self, given: Expression) -> bool:
        """Whether each process comes to an expression, and more than one of them."""
        if self._project.guard(given) is not None or self._project.selective.is_for_one(given):
            return False
        function = given.scope.function
        if function is not None and self._project.spawners(function):
            return True
        launches = self._project.launches(given.scope.script)
        return not launches and self._project.processes.all_come_to(given, early=True)
