"""What stands in the way of moving a script from DataParallel to DistributedDataParallel."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ddplint.project.data_parallel import DataParallelUse, DataParallelUses, Form
from ddplint.project.reach import body_of
from ddplint.project.training import Training, is_backward
from ddplint.semantics import Attribute, Call, Constant, Expression, Name
from ddplint.semantics.arguments import Missing
from ddplint.semantics.expressions import last_name
from ddplint.semantics.structure import ExitKind, Function, LoopKind, RegionKind

if TYPE_CHECKING:
    from ddplint.project.project import Project

_LOSS = re.compile(r"(?:\w+_)?(?:loss|losses|criterion)(?:_fn|_func|_function|_module)?", re.IGNORECASE)
_WHOLE_BATCH_LOSS = re.compile(
    r"\w*(?:triplet|contrast|supcon|ntxent|infonce|npair|multisimilarity|center)\w*(?:loss|criterion)|smoothap",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One thing that has to be decided or rewritten by hand, and where it stands."""

    text: str
    at: Expression


class Obstacles:
    """Answers what stands in the way of one use of DataParallel."""

    def __init__(self, project: Project, uses: DataParallelUses, training: Training) -> None:
        self._project = project
        self._uses = uses
        self._training = training

    def of(self, use: DataParallelUse) -> tuple[Obstacle, ...]:
        """Return the obstacles: first those of the wrap, then those of the training that it is part of."""
        return (*self._in_wrap(use), *self._around(use), *self._in_step(use))

    def _in_wrap(self, use: DataParallelUse) -> Iterator[Obstacle]:
        if use.form is Form.OWN_CLASS:
            yield Obstacle(
                f"{use.name} is not torch's class, and what it adds is not in DistributedDataParallel", use.call
            )
        if use.form is Form.FUNCTION:
            yield Obstacle("data_parallel wraps nothing: the call has to go and the model to be wrapped", use.call)
        dim = self._project.argument(use.call, "dim")
        if not isinstance(dim, Missing) and not (isinstance(dim, Constant) and dim.value == 0):
            yield Obstacle("DistributedDataParallel has no dim: each process brings a batch of its own", dim)
        if use.module is not None and use.form is not Form.FUNCTION:
            yield from self._in_module(use.module)

    def _in_module(self, module: Expression) -> Iterator[Obstacle]:
        if _LOSS.fullmatch(last_name(module)) and "with" not in last_name(module):
            yield Obstacle("a loss without parameters needs no wrapper, one with parameters needs its own", module)
        elif isinstance(module, Attribute) and self._is_part_of_model(module):
            yield Obstacle(
                f"only the part {module.name} is wrapped; DistributedDataParallel has to hold all that is trained",
                module,
            )

    def _is_part_of_model(self, module: Attribute) -> bool:
        """Whether what is wrapped is a piece of a model: ``model.encoder``, not ``self.model`` of a trainer."""
        body = body_of(module)
        owner = body.parameters[0].name if isinstance(body, Function) and body.cls and body.parameters else ""
        return isinstance(module.base, Name) and module.base.id != owner

    def _around(self, use: DataParallelUse) -> Iterator[Obstacle]:
        body = body_of(use.call)
        if isinstance(body, Function) and self._project.models.is_module(body.cls) and use.form is not Form.FUNCTION:
            yield Obstacle("the wrap is inside a model: DistributedDataParallel goes around the whole of it", use.call)
        if any(loop.kind is not LoopKind.COMPREHENSION for loop in use.call.region.loops):
            yield Obstacle("a wrapper is made anew in each pass of a loop", use.call)
        others = [other for other in self._uses.of(use.call.scope.script) if self._is_other_net(use, other)]
        if others:
            listed = ", ".join(dict.fromkeys(filter(None, map(_shown, (use, *others)))))
            yield Obstacle(
                f"several modules are wrapped ({listed}), and each that is trained needs a wrapper of its own",
                others[0].call,
            )

    @staticmethod
    def _is_other_net(use: DataParallelUse, other: DataParallelUse) -> bool:
        together = body_of(use.call) is body_of(other.call) and not use.call.region.excludes(other.call.region)
        return together and other.form is not Form.FUNCTION and _shown(use) != _shown(other)

    def _in_step(self, use: DataParallelUse) -> Iterator[Obstacle]:
        calls = [*self._training.scene(use.call), *use.call.scope.script.calls]
        yield from self._skipped_steps(calls)
        for call in calls:
            names = self._project.names(call.callee)
            word = last_name(call.callee)
            if any(name.startswith("torch.distributed.") for name in names):
                yield Obstacle("the script already makes calls of torch.distributed", call)
                return
            if _WHOLE_BATCH_LOSS.fullmatch(word.replace("_", "")):
                yield Obstacle(
                    f"{word} compares the samples of the whole batch, and a process sees only its share", call
                )
                return

    def _skipped_steps(self, calls: Sequence[Call]) -> Iterator[Obstacle]:
        for call in calls:
            if not is_backward(call) or not call.region.loops:
                continue
            for leave in call.scope.script.exits:
                in_handler = any(region.kind is RegionKind.HANDLER for region in leave.region.chain())
                if leave.kind is ExitKind.CONTINUE and in_handler and leave.region.loops[:1] == call.region.loops[:1]:
                    yield Obstacle("a step that fails is skipped, and the other processes would wait for it", call)
                    return


def _shown(use: DataParallelUse) -> str:
    if use.module is None:
        return ""
    return last_name(use.module.callee if isinstance(use.module, Call) else use.module)
