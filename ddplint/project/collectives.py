"""Which calls make the ranks meet: every rank of the group has to make them, in the same order."""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.project.models import Models, Wrapper
from ddplint.semantics import Call, Script
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.resolve import Resolver
from ddplint.semantics.structure import Function, Region

# Functions of torch.distributed in which the ranks of a group wait for each other, by their last name.
COLLECTIVES = frozenset(
    {
        "all_gather",
        "all_gather_coalesced",
        "all_gather_into_tensor",
        "all_gather_object",
        "all_reduce",
        "all_reduce_coalesced",
        "all_to_all",
        "all_to_all_single",
        "barrier",
        "broadcast",
        "broadcast_object_list",
        "gather",
        "gather_object",
        "monitored_barrier",
        "new_group",
        "new_subgroups",
        "reduce",
        "reduce_scatter",
        "reduce_scatter_tensor",
        "scatter",
        "scatter_object_list",
        "init_process_group",
        "destroy_process_group",
        "_all_gather_base",
        "_reduce_scatter_base",
    }
)
_HOMES = ("torch.distributed.", "torch.distributed.nn.functional.", "torch.distributed.nn.")
FORWARD = "forward of DistributedDataParallel"
BACKWARD = "backward of DistributedDataParallel"
_DEEPEST = 8


class Collectives:
    """Answers which collectives calls, functions and regions come to."""

    def __init__(self, resolver: Resolver, models: Models) -> None:
        self._resolver = resolver
        self._models = models
        self._functions: dict[int, tuple[str, ...]] = {}

    def own(self, call: Call) -> str | None:
        """Return the kind of collective that a call itself is, None when it is none."""
        names = self._resolver.names(call.callee)
        for name in names:
            home, _, last = name.rpartition(".")
            if last in COLLECTIVES and f"{home}." in _HOMES:
                return last
        if names == frozenset([UNKNOWN_NAME]) and self._models.is_certainly(call.callee, Wrapper.DDP):
            return FORWARD
        return None

    def of_call(self, call: Call, depth: int = 0) -> tuple[str, ...]:
        """Return the kinds of collectives that a call comes to, in order: its own or those of the function it runs."""
        own = self.own(call)
        if own is not None:
            return (own,)
        function = self._resolver.function_of(call)
        return () if function is None else self.of_function(function, depth + 1)

    def of_function(self, function: Function, depth: int = 0) -> tuple[str, ...]:
        """Return the kinds of collectives in a function's body and in what it calls, in source order."""
        if id(function) not in self._functions:
            if depth > _DEEPEST:
                return ()
            self._functions[id(function)] = ()  # what a function that calls itself gets
            calls = self.in_region(function.region, function.script)
            self._functions[id(function)] = tuple(kind for call in calls for kind in self.of_call(call, depth))
        return self._functions[id(function)]

    def in_region(self, region: Region, script: Script) -> Iterator[Call]:
        """Yield the calls that stand in a region of the same function, in source order."""
        return (call for call in script.calls if _runs_in(call, region))

    def of_region(self, region: Region, script: Script) -> tuple[tuple[Call, str], ...]:
        """Return the calls in a region that come to collectives, with the kind of each."""
        return tuple((call, kind) for call in self.in_region(region, script) for kind in self.of_call(call))


def _runs_in(call: Call, region: Region) -> bool:
    """Whether a call runs when the region runs: in it, not in a function that is only defined there."""
    function = region.scope.function
    return call.region.scope.function is function and call.region.within(region)
