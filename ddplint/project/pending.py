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
            if not self._is_asynchronous(call):
                continue
            if is_whole_statement(call) or self._is_forgotten(call):
                yield Pending(call, None, self._may_be_covered(call))
            else:
                read = self._read_too_early(call)
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

    def _read_too_early(self, call: Call) -> Name | None:
        """Return where the result is read in the same block between an exchange and the first wait for it."""
        waits = [one for one in self._project.trail(call).attributes if one.name in _WAITS]
        if not waits or any(one.region is not call.region for one in waits):
            return None
        first = min(one.order for one in waits)
        written = self._written(call)
        if written is None:
            return None
        between = (name for name in call.scope.script.names if call.order < name.order < first)
        return next((name for name in between if self._reads(name, written) and name.region is call.region), None)

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
