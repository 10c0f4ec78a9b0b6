"""Calls that start CUDA in a process: what comes first has counted the GPUs, and ties the process to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ddplint.semantics import Attribute, Call, Expression, FormattedText
from ddplint.semantics.structure import Region

if TYPE_CHECKING:
    from ddplint.project.project import Project

# Functions of torch.cuda that start it: tried with torch 2.11, on a GPU.
_STARTS = frozenset(
    f"torch.cuda.{name}"
    for name in (
        "current_device",
        "current_stream",
        "get_device_capability",
        "get_device_name",
        "get_device_properties",
        "init",
        "mem_get_info",
        "set_device",
        "synchronize",
    )
)
# These only ask the driver, which has counted the GPUs from then on.
_COUNTS = frozenset({"torch.cuda.is_available", "torch.cuda.is_bf16_supported"})
_DEEPEST = 3


class CudaStarts:
    """Answers for the calls of a project."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def starts(self, call: Call) -> bool:
        """Whether a call certainly starts CUDA where there is a GPU: it moves something there, or asks for it."""
        names = self._project.names(call.callee)
        if names and names <= _STARTS:
            return True
        if not isinstance(call.callee, Attribute) or self._project.resolver.function_of(call) is not None:
            return False
        if call.callee.name == "cuda":
            return not any(name.startswith("torch.cuda") for name in names)
        return call.callee.name == "to" and any(self._is_gpu(given.value) for given in call.arguments[:1])

    def counts(self, call: Call) -> bool:
        """Whether the GPUs are counted by a call, so that CUDA_VISIBLE_DEVICES is no longer read afterwards."""
        names = self._project.names(call.callee)
        return bool(names and names <= _COUNTS) or self.starts(call)

    def counted_before(self, region: Region, order: int) -> Call | None:
        """Return a call of the same function that surely has counted the GPUs by then."""
        calls = region.scope.script.calls_in(region.scope.function)
        return next((call for call in calls if _precedes(call, region, order) and self.counts(call)), None)

    def started_before(self, at: Expression, depth: int = 0) -> Call | None:
        """Return a call that surely has started CUDA by then, in the same function or where it is called."""
        calls = at.scope.script.calls_in(at.scope.function)
        found = next((call for call in calls if _precedes(call, at.region, at.order) and self.starts(call)), None)
        if found is not None or at.scope.function is None or depth == _DEEPEST:
            return found
        callers, _ = self._project.callers(at.scope.function)
        return next(filter(None, (self.started_before(call, depth + 1) for call in callers)), None)

    def _is_gpu(self, device: Expression) -> bool:
        if isinstance(device, FormattedText):
            return bool(device.pieces) and str(device.pieces[0]).startswith("cuda")
        devices = self._project.constants(device)
        return bool(devices) and all(str(one).startswith("cuda") for one in devices or ())


def _precedes(call: Call, region: Region, order: int) -> bool:
    return call.order < order and region.within(call.region)
