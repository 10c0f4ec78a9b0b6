"""What the batches of a loader are for when several processes train together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ddplint.project.frames import Frame
from ddplint.project.models import Wrapper
from ddplint.project.passes import Purpose
from ddplint.project.roles import Role
from ddplint.semantics import Attribute, Call, Name
from ddplint.semantics.expressions import last_name
from ddplint.semantics.names import UNKNOWN_NAME
from ddplint.semantics.structure import Function

if TYPE_CHECKING:
    from ddplint.project.loaders import Loader
    from ddplint.project.project import Project

# Words without which processes hardly train one model together.
_TEAMWORK = (b"DistributedDataParallel", b"all_reduce", b"fully_shard", b"FullyShardedDataParallel")
_SUMS = frozenset({"all_reduce", "all_reduce_coalesced", "reduce_scatter_tensor", "_reduce_scatter_base"})
_SHARED = frozenset({Wrapper.DDP, Wrapper.FSDP})
# Methods of tensors, optimizers, loggers and containers, which are no models.
_METHODS = frozenset(
    {"to", "cuda", "type", "view", "reshape", "permute", "sum", "mean", "max", "argmax", "backward", "step", "scale"}
    | {
        "append",
        "extend",
        "update",
        "format",
        "join",
        "get",
        "items",
        "info",
        "log",
        "write",
        "set_epoch",
        "add_scalar",
    }
    | {"set_description", "set_postfix", "clip_grad_norm_", "zero_grad", "train", "size", "split", "unscale_"}
)
# Calls that are looked at between a loader and the models that get its batches.
SEARCHED = 400


class Feeding:
    """Answers whether a loader feeds a model that several processes train together."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known: dict[int, bool | None] = {}

    def trains_together(self, loader: Loader) -> bool | None:
        """Whether every process trains one model with what a loader hands out; None where that is not certain.

        Loaders of one rank, of a run with a single process, of an evaluation, in tests and in code that was taken
        over from elsewhere don't.
        """
        if id(loader.call) not in self._known:
            self._known[id(loader.call)] = self._find(loader)
        return self._known[id(loader.call)]

    def _find(self, loader: Loader) -> bool | None:
        project, call = self._project, loader.call
        script = call.scope.script
        if project.role(script) in (Role.TEST, Role.VENDORED) or not project.mentions(script, _TEAMWORK):
            return False
        if project.guard(call) is not None or project.selective.is_for_one(call):
            return False
        if loader.purpose is not Purpose.TRAINING:
            return False
        fed = list(self._fed(loader))
        models = {wrapper for inner, frame in fed for wrapper in self._around(inner, frame)}
        if not models.isdisjoint(_SHARED):
            return True if self._is_direct(loader) and not project.selective.may_miss(call) else None
        together = Wrapper.UNKNOWN in models or any(self._exchanges_gradients(inner) for inner, _ in fed)
        if not together or not project.processes.all_come_to(call):
            return False
        return True if self._is_direct(loader) else None

    def _is_direct(self, loader: Loader) -> bool:
        """Whether the loader itself is run over, not something unknown around it that may share it out."""
        return any(begun.is_direct for begun in loader.trail.passes)

    def _around(self, call: Call, frame: Frame | None) -> frozenset[Wrapper]:
        """Return what can stand around the model that a call runs, nothing when it runs none."""
        if not _may_be_model(call) or UNKNOWN_NAME not in self._project.names(call.callee):
            return frozenset()
        return self._project.models.wrappers(call.callee, frame)

    def _exchanges_gradients(self, call: Call) -> bool:
        """Whether a call is a collective that is given a gradient: the script averages them itself."""
        if self._project.collectives.own(call) not in _SUMS:
            return False
        return any(last_name(part).startswith("grad") for given in call.arguments for part in given.value.walk())

    def _fed(self, loader: Loader) -> Iterator[tuple[Call, Frame | None]]:
        """Yield the calls to which the loops over a loader come, each with how the function around it is run."""
        trail = loader.trail
        ways: dict[int, set[Frame | None]] = {}
        for reached in trail.reached:
            ways.setdefault(id(reached.at.scope.function), set()).add(self._frame(reached.context))
        seen: set[tuple[int, Frame | None]] = set()
        for taken in trail.consumers:
            calls = self._project.passes.calls_of(taken)
            for way in ways.get(id(calls[0].scope.function), {None}) if calls else ():
                yield from self._called(calls, way, seen)

    def _frame(self, context: Sequence[Call]) -> Frame | None:
        """Return how a function is run into which a value came through calls, the outermost first."""
        frame: Frame | None = None
        for call in context:
            frame = self._project.frames.enter(call, frame)
        return frame

    def _called(
        self, calls: Sequence[Call], way: Frame | None, seen: set[tuple[int, Frame | None]]
    ) -> Iterator[tuple[Call, Frame | None]]:
        pending: list[tuple[Call, Frame | None]] = [(call, way) for call in calls]
        while pending and len(seen) < SEARCHED:
            call, frame = pending.pop()
            if (id(call), frame) in seen:
                continue
            seen.add((id(call), frame))
            yield call, frame
            inside = self._project.frames.enter(call, frame)
            function = self._project.collectives.runs(call) if inside is None else inside.function
            if function is not None:
                pending += [(inner, inside) for inner in self._calls_in(function)]

    def _calls_in(self, function: Function) -> Iterator[Call]:
        return self._project.collectives.in_region(function.region, function.script)


def _may_be_model(call: Call) -> bool:
    """Whether a call gives something to an object that has a name, and does not only ask one of its usual methods."""
    callee = call.callee
    if not call.arguments or last_name(callee) in _METHODS:
        return False
    while isinstance(callee, Attribute):
        callee = callee.base
    return isinstance(callee, Name)
