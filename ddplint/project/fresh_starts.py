"""Processes that run the file of their parent anew, started outside functions or from what is called there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Constant, Expression, Name, Script
from ddplint.semantics.arguments import Missing
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import Function, Region, RegionKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

_SPAWN = frozenset({"torch.multiprocessing.spawn", "torch.multiprocessing.start_processes"})
_PROCESS = frozenset({"multiprocessing.Process", "torch.multiprocessing.Process"})
_SET_METHOD = ("multiprocessing.set_start_method", "torch.multiprocessing.set_start_method")
_CONTEXT = frozenset({"multiprocessing.get_context", "torch.multiprocessing.get_context"})
_ELASTIC = frozenset(
    {
        "torch.distributed.launcher.elastic_launch",
        "torch.distributed.launcher.api.elastic_launch",
        "torch.distributed.run.elastic_launch",
    }
)
_STARTERS = frozenset({"spawn", "start_processes", "Process", "elastic_launch"})
_ANEW = frozenset[object]({"spawn", "forkserver"})
# What a child can tell itself from its parent by.
_TELLING = ("os.environ", "os.getenv", "multiprocessing.", "torch.multiprocessing.")
_DEEPEST = 4


@dataclass(frozen=True, slots=True)
class FreshStart:
    """A call that starts processes, and the call outside all functions which leads to it (it may be the same)."""

    call: Call
    outside: Call


class FreshStarts:
    """Finds starts that a new process, which imports the file once more, comes to again."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def repeated(self, script: Script) -> Iterator[FreshStart]:
        """Yield the starts that every new process repeats, since nothing on the way asks which process this is."""
        for call in script.calls:
            if last_name(call.callee) in _STARTERS and self.runs_anew(call):
                for outside in self._outside(call, 0):
                    yield FreshStart(call, outside)

    def is_run_again(self, at: Expression) -> bool:
        """Whether every process that a file starts comes to a place outside its functions, as its parent does."""
        if at.scope.function is not None or any(map(self._tells_processes_apart, at.region.chain())):
            return False
        return any(
            last_name(call.callee) in _STARTERS and self.runs_anew(call) and self._is_main(call)
            for call in at.scope.script.calls
        )

    def _is_main(self, start: Call) -> bool:
        """Whether the file around a start is the one that is run: it asks so, or nothing keeps it from the start."""
        return any(name.id == "__name__" for name in start.scope.script.names) or any(self._outside(start, 0))

    def runs_anew(self, call: Call) -> bool:
        """Whether a call starts processes that run the file anew, and go on from nothing else."""
        names = self._project.names(call.callee)
        if names and names <= _SPAWN:
            method = self._project.argument(call, "start_method")
            return method is Missing.ABSENT or (isinstance(method, Expression) and self._is_anew(method))
        if names and names <= _PROCESS:
            methods = self._project.calls(call.scope.script, *_SET_METHOD)
            return any(one.arguments and self._is_anew(one.arguments[0].value) for one in methods)
        if isinstance(call.callee, Call):
            return self._project.names(call.callee.callee) <= _ELASTIC
        return isinstance(call.callee, Attribute) and call.callee.name == "Process" and self._is_context(call.callee)

    def _is_context(self, callee: Attribute) -> bool:
        """Whether a class of processes belongs to a context that starts them anew."""
        origins = self._project.origins(callee.base)
        return all(
            isinstance(origin, Call)
            and self._project.names(origin.callee) <= _CONTEXT
            and bool(origin.arguments)
            and self._is_anew(origin.arguments[0].value)
            for origin in origins
        )

    def _is_anew(self, method: Expression) -> bool:
        methods = self._project.constants(method)
        return methods is not None and bool(methods) and methods <= _ANEW

    def _outside(self, call: Call, depth: int) -> Iterator[Call]:
        """Yield the calls outside all functions of the same file that lead to a call in a new process, too."""
        if any(map(self._tells_processes_apart, call.region.chain())):
            return
        function = call.scope.function
        if function is None:
            yield call
        elif depth < _DEEPEST:
            yield from self._of_callers(function, depth)

    def _of_callers(self, function: Function, depth: int) -> Iterator[Call]:
        calls, _ = self._project.callers(function)
        for caller in calls:
            if caller.scope.script is function.script and caller.scope.function is not function:
                yield from self._outside(caller, depth + 1)

    def _tells_processes_apart(self, region: Region) -> bool:
        """Whether a region may be one that only the parent comes to."""
        test = region.test
        if region.kind is not RegionKind.BRANCH or test is None:
            return False
        origins = [origin for part in test.walk() if isinstance(part, Name) for origin in self._project.origins(part)]
        made_of = [part for made in (test, *origins) if isinstance(made, Expression) for part in made.walk()]
        return self._project.rank_tests.asks_rank(test) or any(map(self._tells, made_of))

    def _tells(self, part: Expression) -> bool:
        if isinstance(part, Name) and part.id == "__name__":
            return True
        if isinstance(part, Constant) or not isinstance(part, Name | Attribute):
            return False
        return any(name.startswith(_TELLING) for name in self._project.names(part))
