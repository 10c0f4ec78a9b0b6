"""Schedules of learning rates that are planned for more steps than a process takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.samplers import SamplerKind
from ddplint.semantics import Attribute, Call, Expression, Operation, Script
from ddplint.semantics.expressions import last_name
from ddplint.semantics.reaching import reaching
from ddplint.semantics.resolve import UNKNOWN
from ddplint.semantics.structure import Binding

if TYPE_CHECKING:
    from ddplint.project.loaders import Loader
    from ddplint.project.project import Project

_SCHEDULES = ("torch.optim.lr_scheduler.", "transformers.get_", "transformers.optimization.get_")
# How the divisor is called that makes steps of samples.
_BATCH = re.compile(r"batch|(?:^|_)bs(?:$|_)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Horizon:
    """The length of a whole dataset from which the number of steps of a schedule is computed.

    ``loader`` gives each process a share of that dataset, ``schedule`` makes the schedule, ``step`` moves it on in
    every step of the training. ``per_epoch``: the quotient of that length and a batch size.
    ``known_as``: the loader's name at that place, None where it has none yet.
    """

    length: Call
    schedule: Call
    step: Call
    loader: Call
    per_epoch: Expression
    known_as: str | None


class Horizons:
    """Finds them."""

    def __init__(self, project: Project) -> None:
        self._project = project

    def of(self, script: Script) -> Iterator[Horizon]:
        """Yield the schedules that a script steps in every training step, planned from the whole dataset.

        Left out are those in whose plan the number of processes has any part, and loaders whose batch is not the same
        on any number of processes.
        """
        told: set[int] = set()
        for step in script.calls:
            if not isinstance(step.callee, Attribute) or step.callee.name != "step" or step.arguments:
                continue
            for schedule in self._schedules(step.callee.base):
                loader = self._loader_of(step)
                if loader is None or self._is_shared_out(loader) is False:
                    continue
                for found in self._planned(schedule, step, loader):
                    if id(found.length) not in told:
                        told.add(id(found.length))
                        yield found

    def _schedules(self, stepped: Expression) -> Iterator[Call]:
        """Yield the calls that can make a schedule: of torch, of transformers, or of a function that returns one."""
        made = any(
            isinstance(origin, Call) and self._makes_schedule(origin) for origin in self._project.origins(stepped)
        )
        for piece, _ in self._project.dependence.pieces(stepped) if made else ():
            if isinstance(piece, Call) and self._makes_schedule(piece, through=True):
                yield piece

    def _makes_schedule(self, call: Call, *, through: bool = False) -> bool:
        names = self._project.names(call.callee)
        if names and all(name.startswith(_SCHEDULES) for name in names):
            return True
        function = self._project.resolver.function_of(call) if through else None
        if function is None:
            return False
        made = [origin for value in function.returns for origin in self._project.origins(value)]
        return bool(made) and all(isinstance(origin, Call) and self._makes_schedule(origin) for origin in made)

    def _loader_of(self, step: Call) -> Loader | None:
        """Return the loader over which the training steps run that come to a call in every round."""
        loop = self._project.training_steps.loop_of(step)
        if loop is None:
            return None
        scripts = {id(each): each for each in (step.scope.script, loop.statement.region.scope.script)}
        loaders = (loader for script in scripts.values() for loader in self._project.loaders(script))
        return next((loader for loader in loaders if loop in loader.trail.consumers), None)

    def _is_shared_out(self, loader: Loader) -> bool:
        """Whether a loader has a distributed sampler in any case, and batches of constant size."""
        size = loader.argument("batch_size")
        if not isinstance(size, Expression) or self._project.scaling.follows_world(size):
            return False
        if any(sampler.kind is not SamplerKind.DISTRIBUTED for sampler in loader.samplers):
            return False
        stores = loader.call.scope.script.attribute_stores.get(last_name(size), ())
        return not any(store.value is not None and self._project.scaling.follows_world(store.value) for store in stores)

    def _planned(self, schedule: Call, step: Call, loader: Loader) -> Iterator[Horizon]:
        for given in schedule.arguments:
            pieces = [piece for piece, _ in self._project.dependence.pieces(given.value)]
            lengths = [piece for piece in pieces if isinstance(piece, Call) and self._is_length(piece, loader)]
            if not lengths or any(self._knows_better(piece) for piece in pieces):
                continue
            quotients = (piece for piece in pieces if isinstance(piece, Operation) and "/" in piece.operator)
            quotient = next((each for each in quotients if lengths[0] in each.operands[:1]), None)
            if quotient is not None and _BATCH.search(last_name(quotient.operands[-1])):
                whole = next((piece for piece in pieces if _rounds(piece, quotient)), quotient)
                yield Horizon(lengths[0], schedule, step, loader.call, whole, _known_as(loader.call, whole))

    def _is_length(self, call: Call, loader: Loader) -> bool:
        """Whether a call is ``len`` of the dataset that a loader reads."""
        if not self._project.certainly(call.callee, "builtins.len") or len(call.arguments) != 1:
            return False
        measured, dataset = call.arguments[0].value, loader.argument("dataset")
        if isinstance(measured, Attribute) and measured.name == "dataset":
            return loader.call in self._project.origins(measured.base)
        origins = set(self._project.origins(dataset)) if isinstance(dataset, Expression) else set()
        found = set(self._project.origins(measured))
        return bool(found) and found <= origins and UNKNOWN not in found

    def _knows_better(self, piece: Expression) -> bool:
        """Whether the number of processes has a part in a plan."""
        if self._project.scaling.follows_world(piece):
            return True
        return isinstance(piece, Call) and self._project.exchanges.gives(piece)


def _rounds(piece: Expression, quotient: Expression) -> bool:
    """Whether a call rounds a quotient: ``math.ceil(len(data) / batch_size)``."""
    if not isinstance(piece, Call) or last_name(piece) not in ("ceil", "int", "floor"):
        return False
    return len(piece.arguments) == 1 and piece.arguments[0].value is quotient


def _known_as(loader: Call, at: Expression) -> str | None:
    """Return the name that certainly holds a loader at a place of the same function."""
    if loader.scope.function is not at.scope.function:
        return None
    for name, bindings in at.scope.bindings.items():
        if len(bindings) == 1 and _holds(bindings[0], loader) and reaching(name, at) == bindings:
            return name if at.region.within(bindings[0].region) and bindings[0].order < at.order else None
    return None


def _holds(binding: Binding, loader: Call) -> bool:
    return binding.value is loader and not binding.path
