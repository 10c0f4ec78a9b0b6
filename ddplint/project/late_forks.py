"""Processes that are forked when CUDA has been started, and use it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Constant, Expression, Script
from ddplint.semantics.expressions import last_name

if TYPE_CHECKING:
    from ddplint.project.project import Project

_STARTERS = frozenset({"Process", "Pool", "start_processes"})
_PROCESSES = frozenset(
    f"{module}.{name}" for module in ("multiprocessing", "torch.multiprocessing") for name in ("Process", "Pool")
)
_START_PROCESSES = frozenset({"torch.multiprocessing.start_processes"})
_CONTEXT = frozenset({"multiprocessing.get_context", "torch.multiprocessing.get_context"})
_SET_METHOD = ("multiprocessing.set_start_method", "torch.multiprocessing.set_start_method")


@dataclass(frozen=True, slots=True)
class LateFork:
    """A call that makes forked processes, what has started CUDA before, and what uses it in the child.

    ``method``: the constant that says "fork", None where it is the default.
    """

    start: Call
    parent: Call
    child: Call
    method: Constant | None


class LateForks:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[LateFork]:
        """Yield the processes of a script that can't use CUDA, since their parent has done so, but do."""
        for call in script.calls:
            if last_name(call.callee) not in _STARTERS:
                continue
            forks, method = self._method(call)
            parent = self._project.cuda_starts.started_before(call) if forks else None
            child = self._use(call) if parent is not None else None
            if parent is not None and child is not None:
                yield LateFork(call, parent, child, method)

    def _method(self, call: Call) -> tuple[bool, Constant | None]:
        """Return whether a call certainly forks, and the constant that says so."""
        names = self._project.names(call.callee)
        if names and names <= _START_PROCESSES:
            return self._is_fork(self._project.argument(call, "start_method"))
        if isinstance(call.callee, Attribute) and not names <= _PROCESSES:
            contexts = self._project.origins(call.callee.base)
            made = [one for one in contexts if isinstance(one, Call) and self._project.names(one.callee) <= _CONTEXT]
            if len(contexts) != 1 or len(made) != 1:
                return False, None
            if made[0].arguments:
                return self._is_fork(made[0].arguments[0].value)
            return self._of_program(call)
        return self._of_program(call) if names and names <= _PROCESSES else (False, None)

    def _of_program(self, call: Call) -> tuple[bool, Constant | None]:
        """Return whether the start method of the whole program is "fork": that is the default where nobody sets it."""
        script = call.scope.script
        if not self._project.mentions(script, [b"set_start_method"]):
            return True, None
        settings = self._project.calls(script, *_SET_METHOD)
        return self._is_fork(settings[0].arguments[0].value) if settings and settings[0].arguments else (False, None)

    def _is_fork(self, method: object) -> tuple[bool, Constant | None]:
        if not isinstance(method, Expression) or self._project.constants(method) != frozenset({"fork"}):
            return False, None
        return True, method if isinstance(method, Constant) else None

    def _use(self, start: Call) -> Call | None:
        """Return what uses CUDA in the functions that the processes run, those given to methods of a pool included."""
        given = [start]
        if last_name(start.callee) == "Pool":
            methods = set(map(id, self._project.trail(start).attributes))
            given += [call for call in start.scope.script.calls if id(call.callee) in methods]
        onward = self._project.reach.onward(given)
        return next((call for call in onward if call not in given and self._project.cuda_starts.starts(call)), None)
