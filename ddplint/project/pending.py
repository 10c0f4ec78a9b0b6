"""Asynchronous collectives whose end nobody waits for, or too late."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Expression, Name, Script
from ddplint.semantics.expressions import last_name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.speech import is_whole_statement

if TYPE_CHECKING:
    from ddplint.project.project import Project

_PACKAGE = "torch.distributed."
# Exchanges of two processes that never wait by themselves.
_POINT_TO_POINT = frozenset({"torch.distributed.isend", "torch.distributed.irecv"})
# Where the tensor that is written stands: first in nearly all of them.
_WRITES_SECOND = frozenset({"torch.distributed.gather"})
_WRITES_NOTHING = frozenset({"torch.distributed.isend", "torch.distributed.barrier"})
# Asking any of these of the handle is waiting for it, or looking whether it is done.
_WAITS = frozenset({"wait", "get_future", "is_completed", "is_success", "result", "synchronize"})
_COLLECTS = frozenset({"append"})
# What says something of a tensor, whatever its numbers are.
_ABOUT = frozenset({"shape", "size", "device", "dtype", "numel", "dim", "ndim", "is_cuda", "requires_grad"})
# What waits for everything that the device does.
_SYNCHRONISES = frozenset({"torch.cuda.synchronize", "torch.accelerator.synchronize"})


@dataclass(frozen=True, slots=True)
class Pending:
    """An asynchronous exchange; ``read``: the place where its result is read too early, None: nobody ever waits.

    ``doubtful``: something else may wait for it, on the GPU at least.
    """

    call: Call
    read: Name | None
    doubtful: bool


class PendingWorks:
    """Finds them in scripts."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[Pending]:
        """Yield the asynchronous exchanges of a script that nobody waits for, or whose result is read before."""
        for call in script.calls:
            asynchronous = self._is_asynchronous(call)
            if asynchronous and (is_whole_statement(call) or self._is_forgotten(call)):
                yield Pending(call, None, self._may_be_covered(call))
            elif asynchronous or self._project.resolver.function_of(call) is not None:
                written = self._written(call) if asynchronous else self._written_by_helper(call)
                read = None if written is None else self._read_too_early(call, written)
                if read is not None:
                    yield Pending(call, read, False)

    def _is_asynchronous(self, call: Call) -> bool:
        names = self._project.names(call.callee)
        if not all(name.startswith(_PACKAGE) for name in names):
            return False
        if names <= _POINT_TO_POINT:
            return True
        asked = self._project.argument(call, "async_op")
        return isinstance(asked, Expression) and self._project.constants(asked) == frozenset({True})

    def _is_forgotten(self, call: Call) -> bool:
        """Whether the handle of an exchange goes into a variable, or a list, that nobody looks at afterwards."""
        trail = self._project.trail(call)
        if not trail.complete or trail.stores or trail.passes or self._project.uses(call.scope.script).stores(call):
            return False
        collectors = {id(attribute.base) for attribute in trail.attributes if attribute.name in _COLLECTS}
        looked_at = [one.at for one in trail.reached if one.at is not call and id(one.at) not in collectors]
        return not looked_at and all(attribute.name in _COLLECTS for attribute in trail.attributes)

    def _may_be_covered(self, call: Call) -> bool:
        """Whether the file synchronises the GPU, or another exchange is waited for behind this one in its function."""
        script = call.scope.script
        if self._project.references(script, *_SYNCHRONISES):
            return True
        later = [one for one in script.calls_in(call.scope.function) if one.order > call.order or call.region.loops]
        return any(last_name(one.callee) in _WAITS or self._waits(one) for one in later)

    def _waits(self, call: Call) -> bool:
        """Whether a call is an exchange that waits by itself."""
        return self._project.collectives.own(call) is not None and not self._is_asynchronous(call)

    def _read_too_early(self, call: Call, written: Name) -> Name | None:
        """Return where the result is read between an exchange and the next use of its handle in the same block."""
        trail = self._project.trail(call)
        uses = [one.at for one in trail.reached if one.at is not call and one.at.region is call.region]
        if not uses or not any(attribute.name in _WAITS for attribute in trail.attributes):
            return None
        first = min(use.order for use in uses)
        between = (name for name in call.scope.script.names if call.order < name.order < first)
        return next((name for name in between if self._reads(name, written) and name.region is call.region), None)

    def _written_by_helper(self, call: Call) -> Name | None:
        """Return the variable into which the exchange writes whose handle a helper of the project hands out."""
        function = self._project.resolver.function_of(call)
        made = [one for one in self._project.origins(call) if isinstance(one, Call) and self._is_asynchronous(one)]
        inner = self._written(made[0]) if function is not None and len(made) == 1 else None
        bindings = reaching(inner.id, inner) if inner is not None else None
        parameter = bindings[0].parameter if bindings and len(bindings) == 1 else None
        if parameter is None or function is None or parameter.function is not function:
            return None
        given = self._project.resolver.bound(call, function).get(parameter.name)
        return given if isinstance(given, Name) else None

    def _written(self, call: Call) -> Name | None:
        """Return the variable into which an exchange writes its result."""
        names = self._project.names(call.callee)
        if names & _WRITES_NOTHING or any(given.star for given in call.arguments):
            return None
        place = 1 if names <= _WRITES_SECOND else 0
        value = call.arguments[place].value if len(call.arguments) > place else None
        return value if isinstance(value, Name) else None

    def _reads(self, name: Name, written: Name) -> bool:
        """Whether a name is read for the numbers of a variable; other exchanges of it come in order."""
        if name.id != written.id or reaching(name.id, name) != reaching(written.id, written):
            return False
        parent = self._project.uses(name.scope.script).parent(name)
        if isinstance(parent, Attribute) and parent.name in _ABOUT:
            return False
        return not (isinstance(parent, Call) and self._project.collectives.own(parent) is not None)
