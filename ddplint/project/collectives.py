"""Which calls make the ranks meet: every rank of the group has to make them, in the same order."""

from __future__ import annotations

from collections.abc import Iterator

from ddplint.project.frames import Frame
from ddplint.project.models import Models, Wrapper
from ddplint.semantics import Attribute, Call, Constant, Expression, Name, Script
from ddplint.semantics.arguments import Missing, argument
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.resolve import Imported, Resolver
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
_HOMES = (
    "torch.distributed.",
    "torch.distributed.nn.functional.",
    "torch.distributed.nn.",
    "deepspeed.comm.",
    "ignite.distributed.",
)
_ELSEWHERE = {
    "torch.distributed.checkpoint.save": "save of a distributed checkpoint",
    "torch.distributed.checkpoint.load": "load of a distributed checkpoint",
    "torch.distributed.checkpoint.save_state_dict": "save of a distributed checkpoint",
    "torch.distributed.checkpoint.load_state_dict": "load of a distributed checkpoint",
    "horovod.torch.allreduce": "allreduce",
    "horovod.torch.allgather": "allgather",
    "horovod.torch.broadcast": "broadcast",
    "horovod.torch.broadcast_object": "broadcast_object",
    "horovod.torch.broadcast_parameters": "broadcast_parameters",
    "horovod.torch.broadcast_optimizer_state": "broadcast_optimizer_state",
}
FORWARD = "forward of DistributedDataParallel"
BACKWARD = "backward of DistributedDataParallel"
WRAP = "construction of DistributedDataParallel"
SHARDED_FORWARD = "forward of FullyShardedDataParallel"
SHARDED_STATE = "state_dict of FullyShardedDataParallel"
_DDP = "torch.nn.parallel.DistributedDataParallel"
_MEET = frozenset({Wrapper.DDP, Wrapper.FSDP})
_DEEPEST = 8


class Collectives:
    """Answers which collectives calls, functions and regions come to."""

    def __init__(self, resolver: Resolver, models: Models) -> None:
        self._resolver = resolver
        self._models = models
        self._functions: dict[int, tuple[str, ...]] = {}
        self._meeting: dict[int, bool] = {}
        self._named: dict[int, tuple[str | None, bool]] = {}

    def own(self, call: Call, frame: Frame | None = None) -> str | None:
        """Return the kind of collective that a call itself is, None when it is none.

        A call of a model counts when the model is wrapped on the runs with several processes. ``frame``: how the
        function around the call is run.
        """
        if id(call) not in self._named:
            self._named[id(call)] = self._by_name(call)
        kind, known = self._named[id(call)]
        return kind if known else self._of_model(call, frame)

    def _by_name(self, call: Call) -> tuple[str | None, bool]:
        """Return the kind of collective that a call is by the name of what it calls, and whether that settles it."""
        names = self._resolver.names(call.callee)
        for name in names:
            home, _, last = name.rpartition(".")
            if last in COLLECTIVES and f"{home}." in _HOMES:
                return (last, True)
            if name in _ELSEWHERE:
                return (_ELSEWHERE[name], True)
        if _DDP in self._resolver.kinds(call.callee):
            return (WRAP, True)
        return (None, UNKNOWN_NAME not in names)

    def _of_model(self, call: Call, frame: Frame | None) -> str | None:
        callee = call.callee
        if isinstance(callee, Attribute) and callee.name == "state_dict":
            return SHARDED_STATE if self._models.wrapped_once(callee.base, Wrapper.FSDP, frame) else None
        if self._models.wrapped_once(callee, Wrapper.DDP, frame):
            return FORWARD
        return SHARDED_FORWARD if self._models.wrapped_once(callee, Wrapper.FSDP, frame) else None

    def is_of_some(self, call: Call) -> bool:
        """Whether a collective is among some of the ranks only: it is given a group, or makes one by its members."""
        if isinstance(argument(self._resolver, call, "use_local_synchronization"), Expression):
            return True
        for name in ("group", "process_group"):
            given = argument(self._resolver, call, name)
            if isinstance(given, Expression):
                return not all(_is_world(origin) for origin in self._resolver.origins(given))
            if given is Missing.UNKNOWN and any(part.star for part in call.arguments):
                return True
        return False

    def of_call(self, call: Call, depth: int = 0) -> tuple[str, ...]:
        """Return the kinds of collectives that a call comes to, in order: its own or those of the function it runs."""
        own = self.own(call)
        if own is not None:
            return (own,)
        function = self.runs(call)
        return () if function is None else self.of_function(function, depth + 1)

    def runs(self, call: Call) -> Function | None:
        """Return the project's function that a call runs, the ``forward`` where a module of the project is called."""
        function = self._resolver.function_of(call)
        if function is not None or (isinstance(call.callee, Attribute) and call.callee.name == "forward"):
            return function
        cls = self._resolver.class_of(call.callee)
        if cls is None:
            return None
        return self._resolver.method(cls, "forward" if self._models.is_module(cls) else "__call__")

    def of_function(self, function: Function, depth: int = 0) -> tuple[str, ...]:
        """Return the kinds of collectives in a function's body and in what it calls, in source order."""
        if id(function) not in self._functions:
            if depth > _DEEPEST:
                return ()
            self._functions[id(function)] = ()  # what a function that calls itself gets
            calls = self.in_region(function.region, function.script)
            self._functions[id(function)] = tuple(kind for call in calls for kind in self.of_call(call, depth))
        return self._functions[id(function)]

    def may_meet(self, call: Call, depth: int = 0) -> bool:
        """Whether a call can come to a collective: one certainly does, or may if a model is wrapped when it comes."""
        if self.own(call) is not None or is_backward(call) or self._may_be_wrapped(call.callee):
            return True
        function = self.runs(call)
        if function is None or depth > _DEEPEST:
            return False
        if id(function) not in self._meeting:
            self._meeting[id(function)] = False  # what a function that calls itself gets
            calls = self.in_region(function.region, function.script)
            self._meeting[id(function)] = any(self.may_meet(inner, depth + 1) for inner in calls)
        return self._meeting[id(function)]

    def _may_be_wrapped(self, model: Expression) -> bool:
        occurring = [wrapper for wrapper in _MEET if self._models.occurs(wrapper, model)]
        return bool(occurring) and not self._models.wrappers(model).isdisjoint(occurring)

    def in_region(self, region: Region, script: Script) -> Iterator[Call]:
        """Yield the calls that stand in a region of the same function, in source order."""
        return (call for call in script.calls_in(region.scope.function) if call.region.within(region))


def _is_world(origin: object) -> bool:
    if isinstance(origin, Constant):
        return origin.value is None
    return isinstance(origin, Imported) and origin.name in (
        "torch.distributed.group.WORLD",
        "torch.distributed.GroupMember.WORLD",
    )


def is_backward(call: Call) -> bool:
    """Whether a call is a backward pass: ``loss.backward()``."""
    callee = call.callee
    return isinstance(callee, Attribute) and callee.name == "backward" and _last_name(callee.base) != "super"


def _last_name(expression: Expression) -> str:
    if isinstance(expression, Call):
        return _last_name(expression.callee)
    return expression.id if isinstance(expression, Name) else ""
